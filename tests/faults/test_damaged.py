"""Files that were cut off, changed or made by another version: told or built anew, never believed."""

from __future__ import annotations

import gzip
import json
import random
import shutil

import numpy as np
import polars as pl
import pytest
from faults.sessions import logged, numbers, write_agent
from toy_runs import make_run

from pytest_agentbench.base import compressed
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.progress import Progress
from pytest_agentbench.benchmarks.behavior_modeling import answer_files, store, tasks
from pytest_agentbench.benchmarks.behavior_modeling.text_models.vector_cache import VectorCache
from pytest_agentbench.benchmarks.humob.table_cache import load_table
from pytest_agentbench.benchmarks.humob.tables import read_table
from pytest_agentbench.city import map_files
from pytest_agentbench.cli import main
from pytest_agentbench.runs import run_folder

pytestmark = pytest.mark.usefixtures("cache_folder")


def flip(path, place):
    """Changes one byte of a file; time stamps of files that lie idle are old."""
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


@pytest.fixture
def table():
    days = range(60, 75)
    return pl.DataFrame({
        "uid": [n for n in range(20) for _ in days], "d": [*days] * 20, "t": [10] * 300,
        "x": [(n + d) % 200 + 1 for n in range(20) for d in days], "y": [100] * 300,
    })  # fmt: skip


def test_a_cached_table_with_one_other_byte_is_built_anew(tmp_path, cache_folder, table):
    path = tmp_path / "city.csv"
    table.write_csv(path)
    expected = load_table(path).table.rows.tolist()
    (rows,) = cache_folder.glob("humob/*/rows.npy")
    for place in (-1, -1000, 3):
        flip(rows, place)
        assert load_table(path).table.rows.tolist() == expected
        assert np.load(rows).tolist() == expected


@pytest.fixture
def reviews(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("user", "item", "review"):
        rows = [{"user_id": f"u{n}", "item_id": f"i{n}", "text": "x" * 300} for n in range(99)]
        (folder / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.mark.parametrize("damage", ["byte", "cut", "unsealed"])
def test_a_damaged_review_store_is_built_anew(reviews, damage):
    opened, _ = store.open_store(reviews)
    opened.close()
    path = opened.path
    whole = path.read_bytes()
    if damage == "byte":
        flip(path, whole.index(b"xxxx"))  # inside a text: SQLite itself does not notice
    elif damage == "cut":
        path.write_bytes(whole[:-4096])
    else:
        path.with_suffix(".sha256").unlink()
    again, _ = store.open_store(reviews)
    assert again.get("user", "u0")["text"] == "x" * 300
    again.close()


def test_a_remembered_vector_with_one_other_byte_is_forgotten(tmp_path):
    kept = VectorCache("digest", tmp_path)
    kept.write({"a": np.arange(9, dtype=np.float32), "b": np.ones(9, np.float32)})
    (path,) = tmp_path.glob("*.sqlite")
    flip(path, path.read_bytes().index(np.arange(9, dtype="<f4").tobytes()) + 5)
    assert set(kept.read(["a", "b"])) == {"b"}


@pytest.mark.parametrize("cut", ["cut off", "changed", "not gzip"])
def test_a_damaged_gzip_file_is_named(reviews, cut):
    import gzip

    path = reviews / "review.json.gz"
    noise = random.Random(3).randbytes(20_000).hex()
    lines = json.dumps({"user_id": "u", "item_id": "i", "text": noise}) + "\n"
    whole = gzip.compress(lines.encode())
    (reviews / "review.json").unlink()
    path.write_bytes({"cut off": whole[:-500], "changed": whole, "not gzip": b"{}" * 99}[cut])
    if cut == "changed":
        flip(path, len(whole) // 2)
    with pytest.raises(BenchmarkError, match=r"review\.json\.gz"):
        store.open_store(reviews)
    with pytest.raises(BenchmarkError, match=r"review\.json\.gz: expected a JSON file, but"):
        tasks._read(path)


def test_damaged_parquet_is_refused_or_read_but_never_a_crash(tmp_path, table):
    whole, places = tmp_path / "city.parquet", tmp_path / "places.parquet"
    table.write_parquet(whole)
    pl.DataFrame({"id": [1, 2], "x": [1.0, 2.0], "y": [3.0, 4.0], "category": ["a", "b"]}).write_parquet(places)  # fmt: skip
    rng = random.Random(4)
    for path, read in ((whole, read_table), (places, map_files.read_places)):
        data, messages = path.read_bytes(), []
        for number in range(60):
            path.write_bytes(data[: rng.randrange(len(data))] if number % 2 else data)
            if number % 2 == 0:
                flip(path, rng.randrange(len(data)))
            try:
                read(path)
            except BenchmarkError as error:
                messages.append(str(error))
        assert len(messages) >= 30, "what is cut off is never whole"
        assert all(path.name in message for message in messages)


def test_a_damaged_line_of_the_log_is_named_and_the_others_are_kept(project):
    write_agent(project)
    common = ("--benchmark=toysum", "--agent=agent.py")
    project.pytest(*common, "--run-dir=out", "-k", "s1 or s2 or s3")
    numbers(project, "asked")
    log = project.path / "out" / "records.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:30] + b"\n"
    log.write_bytes(b"".join(lines))
    refused = project.pytest(*common, "--resume=out")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    assert "records.jsonl, line 2: expected a record" in refused.stderr.str()
    assert "remove this one, and --resume asks its sample again" in refused.stderr.str()
    assert log.read_bytes() == b"".join(lines)
    del lines[1]
    log.write_bytes(b"".join(lines))
    kept = logged(project.path / "out")
    assert project.pytest(*common, "--resume=out").ret == 0
    assert numbers(project, "asked") == [n for n in range(12) if n not in kept]


OTHERS = {
    "older": {"schema": 0, "versions": {"pytest-agentbench": "0.0.9"}},
    "newer": {"schema": 7, "versions": {"pytest-agentbench": "4.0"}},
    "oldest": {"schema": None},
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_run_of_another_schema_is_refused_and_left_alone(project, monkeypatch, capsys, kind):
    run = make_run(project.path / "old", "right")
    manifest = run_folder.read_json(run / "manifest.json", "a manifest") | OTHERS[kind]
    if kind == "oldest":
        del manifest["schema"]
    run_folder.write_json(run / "manifest.json", manifest)
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    said = f"expected the manifest of a run in schema 1, got schema {manifest.get('schema')}"
    monkeypatch.chdir(project.path)
    shutil.copytree(run, project.path / "copy")
    for command in (["report", "old"], ["compare", "old", "copy"], ["save", "kept", "old"]):
        assert main(command) == 2
        assert said in capsys.readouterr().err
    if kind == "older":  # whole sessions, once
        for option in ("--resume=old", "--submission=old"):
            refused = project.pytest("--benchmark=toysum", option)
            assert refused.ret == pytest.ExitCode.USAGE_ERROR
            assert said in refused.stderr.str()
            assert "(pytest-agentbench 0.0.9)" in refused.stderr.str()
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_files_that_would_fill_the_memory_are_refused_by_every_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(compressed, "HARMLESS", 1 << 20)
    table, lines = tmp_path / "table.csv.gz", tmp_path / "user.json.gz"
    table.write_bytes(gzip.compress(b"uid,d,t,x,y\n" + b"1,60,0,1,1\n" * 300_000))
    lines.write_bytes(gzip.compress(b'{"user_id": "u"}\n' * 300_000))
    parquet = tmp_path / "places.parquet"
    pl.select(pl.repeat(0, 3_000_000).alias("uid")).write_parquet(parquet, compression="zstd")
    for path, read in (
        (table, read_table),
        (parquet, read_table),
        (parquet, map_files.read_places),
        (lines, lambda path: list(store._rows("user", path, Progress("x", "lines")))),
        (table, lambda path: answer_files.read(path, bool)),
        (lines, tasks._read),
    ):
        with pytest.raises(BenchmarkError, match=rf"{path.name}: expected .* which would fill the"):
            read(path)
