"""Whole runs fed with what nobody should give: each ends in order, says why, and loses nothing."""

from __future__ import annotations

import functools
import gzip
import io
import json
import re

import numpy as np
import polars as pl
import pytest
import yaml
from fuzz import humob_tables, scenario_file
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.humob.data import DEMO_FILE
from pytest_agentbench.benchmarks.humob.tables import read_table
from pytest_agentbench.settings.settings import OPTIONS

# One hostile value for each sample, in turn; two samples of three have it within a good answer.
AGENT = """
import sys
sys.path.insert(0, {tests!r})
import hostile

VALUES = [*hostile.scalars(), "x" * 2_000_000, list(range(50_000))]
asked = 0

def agent(context):
    global asked
    asked += 1
    value = VALUES[asked % len(VALUES)]
    if asked % 3 == 0:
        return value
    if asked % 50 == 1:
        raise ValueError("\\ud800" + "x" * 10_000)
    if "targets" in context:
        cells = [[1, 1] for _ in context["targets"]]
        cells[asked % len(cells)] = value if asked % 2 else [value, 1]
        return cells
    if "candidate_list" in context:
        return {{"item_list": [value, *context["candidate_list"]]}}
    if "item_id" in context:
        return {{"stars": value, "review": "x"}} if asked % 2 else {{"stars": 4, "review": value}}
    if "days" in context:
        return {{"total_travel_times": [3, value, 2], "hourly_travel_times": [[1] * 24] * 3}}
    return [{{"start": 0, "place": value if asked % 2 else [0, 0], "intention": value}}]
"""
OURS = re.compile(r"pytest_agentbench/[\w/]+\.py:\d+|File \".*pytest_agentbench|INTERNALERROR")


def ended_in_order(project, result, samples):
    """A failed run of so many samples, told without a frame of ours, with every file in place."""
    output = result.stdout.str() + result.stderr.str()
    assert not OURS.search(output), OURS.search(output)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    run = project.path / "out"
    records = project.records(run)
    assert len({(r["sample"], r["epoch"]) for r in records}) == samples
    for record in records:
        assert record["status"] != "ok" or record["error"] is None
        assert record["status"] == "ok" or record["error"]
    scores = project.scores(run)
    assert scores["samples"]["total"] == samples
    for metrics in scores["readings"].values():
        assert all(m["value"] is None or np.isfinite(m["value"]) for m in metrics.values())
    assert "</html>" in (run / "report.html").read_text(encoding="utf-8")
    return records


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "samples", "extra"),
    [
        ("humob", 100, ["--limit=100"]),
        ("BehaviorModeling", 120, ["--text-models=none", "-n2"]),
        ("DailyMobility", 100, ["--concurrency=3"]),
        ("HurricaneMobility", 100, ["--agent-isolation=process"]),
    ],
)
def test_a_run_of_hostile_answers_ends_in_order(project, pytestconfig, name, samples, extra):
    project.write(agent__py=AGENT.format(tests=str(pytestconfig.rootpath / "tests")))
    result = project.pytest(
        f"--benchmark={name}", "--agent=agent.py", "--run-dir=out", "--tb=short", *extra
    )
    records = ended_in_order(project, result, samples)
    statuses = {record["status"] for record in records}
    assert {"invalid", "error"} <= statuses


def table_forms(rows: np.ndarray) -> dict[str, bytes]:
    """One table of predictions as people write it."""
    names = ["uid", "d", "t", "x", "y"]
    text = "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows.tolist()), ""])
    turned = [4, 0, 2, 1, 3]
    other = [",".join(names[n] for n in turned)]
    other += [",".join(f'"{row[n]}"' for n in turned) for row in rows.tolist()]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    parquet = io.BytesIO()
    frame.write_parquet(parquet)
    return {
        "plain.csv": text.encode(),
        "windows.csv": ("\ufeff" + text.replace("\n", "\r\n")).encode(),
        "turned.csv": "\n".join(other).encode(),
        "zipped.csv.gz": gzip.compress(text.encode()),
        "columns.parquet": parquet.getvalue(),
    }


def test_one_table_in_any_form_has_the_same_scores_to_the_last_bit(project):
    frame = pl.read_csv(DEMO_FILE).filter(pl.col("d") >= 60)
    users = frame["uid"].unique().sort().to_list()[:8]
    frame = frame.filter(pl.col("uid").is_in(users)).with_columns(x=pl.col("x") % 200 + 1)
    forms = table_forms(frame.select("uid", "d", "t", "x", "y").to_numpy())
    project.write(s__yaml=f"benchmark: humob\nusers: {users[0]}-{users[-1]}\n")
    found = {}
    for name in ("turned.csv", "columns.parquet"):  # the others: see the test of tables below
        (project.path / name).write_bytes(forms[name])
        result = project.pytest("s.yaml", f"--submission={name}", f"--run-dir=run-{name}", "-q")
        assert result.ret == 0
        scores = project.scores(project.path / f"run-{name}")
        found[name] = json.dumps([scores["readings"], scores["samples"]])
    assert len(set(found.values())) == 1
    assert json.loads(found["turned.csv"])[1]["ok"] == 8


ROWS = st.lists(
    st.tuples(st.integers(0, 2**31 - 1), *[st.integers(0, 75), st.integers(0, 47)],
              *[st.integers(1, 200)] * 2),
    min_size=1, max_size=20, unique_by=lambda row: row[:3],
).map(lambda rows: np.array(sorted(rows)))  # fmt: skip


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(ROWS)
def test_any_table_is_the_same_in_every_form(tmp_path, rows):
    for name, content in table_forms(rows).items():
        (tmp_path / name).write_bytes(content)
        table = read_table(tmp_path / name)
        read = [[uid, *row] for uid in table.uids.tolist() for row in table.of(uid).tolist()]
        assert read == rows.tolist()


PARTS = st.sampled_from(
    [
        "uid",
        "d",
        "t",
        "x",
        "y",
        ",",
        "\n",
        "\r\n",
        '"',
        "7",
        "60",
        "999",
        "-1",
        " ",
        "\ufeff",
        "é",
        "\0",
        ";",
    ]
)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.binary(max_size=200) | st.lists(PARTS).map(lambda p: ("uid,d,t,x,y\n" + "".join(p)).encode())
)
def test_a_file_of_anything_is_refused_by_name_or_read_as_what_it_is(data):
    for kind in humob_tables.SUFFIXES:
        humob_tables.check(kind + data)


@pytest.fixture
def packages_seen_once(monkeypatch):
    """Else most of the time goes into a look through all that is installed, for every example."""
    monkeypatch.setattr(registry, "available", functools.cache(registry.available))


@pytest.mark.usefixtures("packages_seen_once")
@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(
        st.sampled_from(
            [
                *(option.key for option in OPTIONS),
                "users",
                "predict_days",
                "weekend",
                "task",
                "nonsense",
            ]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
            ),
        ),
        max_size=4,
    )
)
def test_any_scenario_is_refused_by_name_or_read_as_what_it_is(keys):
    data = yaml.safe_dump({"benchmark": "humob", **keys}, allow_unicode=True)
    scenario_file.check(data.encode("utf-8", "surrogatepass"))


def test_a_wrong_ini_value_is_named(project):
    result = project.pytest("--benchmark=toysum", "-o", "agentbench_progress=abc")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "agentbench_progress: expected a number of seconds, got" in result.stderr.str()


def test_an_error_with_a_lone_surrogate_keeps_its_line_in_the_summary(project):
    project.write(agent__py="def agent(c):\n    raise ValueError('bad \\ud800')\n")
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "-k", "s1]", "-rf")
    assert "FAILED toysum::sum[s1] - ValueError: bad \\ud800" in result.stdout.str()


def test_a_parquet_file_that_its_reader_dies_of_is_refused(tmp_path):
    """Polars panics, which is no Exception, at a column that lies beyond the end of its file."""
    good = bytearray(table_forms(np.array([[7, 60, 0, 1, 2]] * 1))["columns.parquet"])
    refused = 0
    for place in range(len(good) - 200, len(good) - 8):
        spoiled = bytearray(good)
        spoiled[place] ^= 0x7F
        path = tmp_path / "p.parquet"
        path.write_bytes(spoiled)
        try:
            read_table(path)
        except BenchmarkError as error:
            refused += str(path) in str(error)
    assert refused
