"""Scoring in pieces, without any cluster: the same records as a run that reads whole tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.humob import pieces as pieces_module
from pytest_agentbench.benchmarks.humob.tables import read_table
from pytest_agentbench.runs import cluster
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings.resolve import Layer, resolve

COLUMNS = ("uid", "d", "t", "x", "y")


def settings_for(dataset, submission, **more):
    values = {"dataset": str(dataset), "submission": str(submission), **more}
    layer = Layer(lambda key: f"--{key}", values)
    return resolve("humob", None, [layer], [Path.cwd()])


def frame(rows):
    return pl.DataFrame(list(rows), schema=dict.fromkeys(COLUMNS, pl.Int64), orient="row")


@pytest.fixture
def tables(person):
    """The truth of nine people, and predictions with every kind of mistake in them."""
    truth = frame(row for uid in range(100, 109) for row in person(uid))
    given = truth.filter(pl.col("d") >= 60).with_columns(x=pl.col("x") % 199 + 1)
    hidden = (pl.col("uid") == 103) & (pl.col("t") == given["t"][0])
    given = given.with_columns(
        x=pl.when(hidden).then(999).otherwise("x"), y=pl.when(hidden).then(999).otherwise("y")
    )
    dropped = (pl.col("uid") == 105) & (pl.col("d") == 61)
    extra = given.filter(pl.col("uid") == 108).with_columns(uid=pl.lit(7, pl.Int64))
    return truth, pl.concat([extra, given.filter((pl.col("uid") != 101) & ~dropped)])


@pytest.fixture
def spread(tmp_path):
    """Writes a table as partitions: by user, by a hash of the user, by time, or anywhere."""

    def write(name, table, layout, count=3):
        rng = np.random.default_rng(3)
        rows = np.arange(table.height)
        uid = table["uid"].to_numpy()
        place = {
            "sorted": rows * count // table.height,  # a user may lie on both sides of a cut
            "hashed": uid % count,
            "timed": table["t"].to_numpy() % count,
            "uneven": np.minimum(rows // 5, count - 1),  # five rows, five rows, all others
            "scattered": rng.integers(0, count, table.height),
        }[layout]
        folder = tmp_path / f"{name}-{layout}"
        folder.mkdir()
        for number in range(count):
            own = rows[place == number]
            if layout == "scattered":
                rng.shuffle(own)
            table[own.tolist()].write_parquet(folder / f"part-{number}.parquet")
        return folder

    return write


def in_pieces(settings, each=map, limit=None):
    pieces = settings.benchmark.partitioned(settings)
    pieces.count(each, 2)
    indices = range(len(pieces.dataset.keys))[:limit]
    batches = cluster.records(settings.benchmark, pieces, indices, each, cores=2)
    records = []
    try:
        while True:
            records += next(batches)
    except StopIteration as end:
        return pieces, sorted(records, key=lambda record: record.sample), end.value


def whole(settings):
    run = Plan(settings)
    samples = [run.dataset.sample(index) for index in run.indices]
    records, _ = evaluate(run.benchmark, samples, [run.ask(sample, 1) for sample in samples])
    return run, [replace(record, answer=None) for record in records]


@pytest.mark.parametrize("data", ["sorted", "hashed", "timed", "uneven", "scattered"])
@pytest.mark.parametrize("answers", ["sorted", "scattered"])
@pytest.mark.parametrize("rows", [1, 100, 10**6])
def test_pieces_give_the_records_problems_and_digests_of_the_whole(
    tables, spread, monkeypatch, data, answers, rows
):
    monkeypatch.setattr(pieces_module, "LEAST_ROWS", rows)
    truth, given = tables
    settings = settings_for(spread("data", truth, data), spread("given", given, answers))
    pieces, records, problems = in_pieces(settings)
    run, expected = whole(settings)
    assert records == expected
    assert {record.status for record in records} == {"ok", "invalid", "error"}
    assert problems == run.submission.problems
    assert len(problems) == 2
    assert pieces.digest == run.loaded_agent.digest
    assert pieces.dataset.digest == run.dataset.digest
    assert pieces.dataset.description == run.dataset.description
    assert pieces.dataset.keys == run.dataset.keys


def test_one_file_is_scored_like_its_partitions(tables, spread, tmp_path):
    truth, given = tables
    truth.write_parquet(tmp_path / "truth.parquet")
    given.write_parquet(tmp_path / "given.parquet")
    settings = settings_for(tmp_path / "truth.parquet", tmp_path / "given.parquet")
    pieces, records, _ = in_pieces(settings)
    run, expected = whole(settings)
    assert records == expected
    assert pieces.dataset.digest == run.dataset.digest
    parts = settings_for(spread("data", truth, "scattered"), spread("given", given, "hashed"))
    assert in_pieces(parts)[1] == records


def test_only_the_users_asked_about_are_read(tables, spread):
    truth, given = tables
    folders = spread("data", truth, "hashed"), spread("given", given, "hashed")
    settings = settings_for(*folders, users="102-104")
    _, records, problems = in_pieces(settings)
    run, expected = whole(settings)
    assert records == expected
    assert [record.sample for record in records] == ["uid[102]", "uid[103]", "uid[104]"]
    assert problems == run.submission.problems
    assert len(in_pieces(settings, limit=1)[1]) == 1


def test_no_task_is_given_more_than_a_group_of_rows_and_the_files_they_lie_in(
    tables, spread, monkeypatch
):
    monkeypatch.setattr(pieces_module, "LEAST_ROWS", 1)
    monkeypatch.setattr(pieces_module, "MOST_ROWS", 150)
    truth, given = tables
    settings = settings_for(spread("data", truth, "hashed"), spread("given", given, "hashed"))
    groups = []

    def each(function, arguments):
        arguments = list(arguments)
        groups.extend(a for a in arguments if isinstance(a, pieces_module.Group))
        return map(function, arguments)

    in_pieces(settings, each)
    largest = int(truth.group_by("uid").len()["len"].max())
    assert len(groups) > 3
    for group in groups:
        rows = group.data.rows + (0 if group.answers is None else group.answers.rows)
        assert rows <= 150 + 2 * largest
        # Hashed by user: those of a group of neighbours lie in one file or, at its edge, in two.
        assert len(group.data.parts) <= 2


def test_where_both_tables_are_divided_alike_each_file_is_read_once_a_round(
    tables, spread, monkeypatch
):
    monkeypatch.setattr(pieces_module, "LEAST_ROWS", 1)
    monkeypatch.setattr(pieces_module, "TASKS_A_CORE", 3)
    truth, given = tables
    truth = truth.filter(pl.col("uid") != 101)  # who has no answer
    given = given.filter(pl.col("uid") != 7)
    folders = [
        spread(name, table, "hashed", count=9) for name, table in (("d", truth), ("a", given))
    ]
    rounds = []

    def each(function, arguments):
        rounds.append(list(arguments))
        return map(function, rounds[-1])

    settings = settings_for(*folders)
    assert in_pieces(settings, each)[1] == whole(settings)[1]
    *counted, groups = rounds
    for folder, bundles in zip(folders, counted, strict=True):
        files = [part.path for bundle in bundles for part in bundle]
        assert sorted(files) == sorted(folder.iterdir())
        assert len(bundles) == 6  # for two cores
    pieces = [piece for group in groups for piece in (group.data, group.answers)]
    assert all(piece.whole for piece in pieces)
    read = [part.path for piece in pieces for part, _ in piece.parts]
    filled = [
        path for folder in folders for path in folder.iterdir() if pl.read_parquet(path).height
    ]
    assert sorted(read) == sorted(filled)
    assert len(groups) > 2


def test_groups_begin_where_files_do_and_within_files_that_are_too_large(monkeypatch):
    monkeypatch.setattr(pieces_module, "LEAST_ROWS", 1)
    monkeypatch.setattr(pieces_module, "MOST_ROWS", 40)  # so a group is begun after 20 rows
    rng = np.random.default_rng(1)
    files = np.repeat(np.arange(8), [3, 2, 30, 1, 1, 50, 4, 9])
    rows = rng.integers(1, 4, len(files))
    rows[0] = 60  # a user larger than any group
    cuts = pieces_module._cuts(rows, [files, files * 0], cores=1)
    inside = 0
    for group in np.split(np.arange(len(files)), cuts):
        assert rows[group].sum() <= 40 or len(group) == 1
        there = set(files[group].tolist())
        assert len(there) == 1 or all(set(np.flatnonzero(files == f)) <= set(group) for f in there)
        inside += any(rows[files == f].sum() > 20 for f in there)
    assert inside > 4  # files 2 and 5 are cut, and the large user's


def test_the_counts_of_many_files_are_added_up_in_any_order(monkeypatch):
    monkeypatch.setattr(pieces_module, "ADDED_AT_ONCE", 3)
    rng = np.random.default_rng(0)

    def counted(number):
        uids = np.unique(rng.integers(0, 10, 6))
        counts = np.stack([uids, *rng.integers(1, 9, (3, len(uids)))])
        part = pieces_module.Part(Path(f"{number}"), number, alone=False)
        return pieces_module.Counted(part, 0, f"{number}", counts, 0, None)

    files = [counted(number) for number in range(20)]
    users = pieces_module.added(files[number] for number in rng.permutation(20))
    every = np.concatenate([np.insert(f.counts, 4, f.part.number, axis=0) for f in files], axis=1)
    assert users.uids.tolist() == sorted(set(every[0].tolist()))
    for at, uid in enumerate(users.uids):
        own = every[:, every[0] == uid]
        assert users.rows[at] == own[1].sum()
        assert users.hidden[at] == own[3].sum()
        assert (users.first[at], users.last[at]) == (own[4].min(), own[4].max())
    assert [file.part.number for file in users.files] == list(range(20))


def write_parts(folder, *tables):
    folder.mkdir()
    for number, table in enumerate(tables):
        table.write_parquet(folder / f"part-{number}.parquet")
    return folder


def both_refuse(settings):
    """The message of a run that reads whole tables; the one of pieces begins like it."""
    said = []
    for way in (whole, in_pieces):
        with pytest.raises(BenchmarkError) as caught:
            way(settings)
        said.append(str(caught.value))
    return said


def test_a_row_that_two_partitions_have_is_refused(tables, tmp_path):
    truth, given = tables
    data = write_parts(tmp_path / "data", truth, truth[5:6])
    answers = write_parts(tmp_path / "given", given)
    run, pieces = both_refuse(settings_for(data, answers))
    assert "part-1.parquet, row 0: uid 100 has a second row for d=" in run
    assert "part-1.parquet: uid 100 has a second row for d=" in pieces


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [("x", 0, "row 3: x must be a cell 1-200, got 0"), ("d", 75, "d=75 (uid 100), expected days 0-74"),
     ("x", None, "row 3: x is missing"), ("uid", -1, "row 3: uid must be 0-")],
)  # fmt: skip
def test_mistakes_in_a_partition_are_refused_alike(tables, tmp_path, column, value, said):
    truth, given = tables
    numbered = truth.with_row_index()
    changed = pl.when(pl.col("index") == 3).then(value).otherwise(column).alias(column)
    broken = numbered.with_columns(changed).drop("index")
    data = write_parts(tmp_path / "data", broken)
    answers = write_parts(tmp_path / "given", given)
    run, pieces = both_refuse(settings_for(data, answers))
    assert said in run
    assert pieces == run


def test_a_masked_truth_is_refused_alike(tables, tmp_path):
    truth, given = tables
    late = (pl.col("uid") == 104) & (pl.col("d") >= 60)
    hidden = [pl.when(late).then(999).otherwise(c).alias(c) for c in "xy"]
    data = write_parts(tmp_path / "data", truth.with_columns(hidden))
    run, pieces = both_refuse(settings_for(data, write_parts(tmp_path / "given", given)))
    assert "the truth of 1 users (uid 104 to 104) is masked" in run
    assert pieces == run


def test_one_file_keeps_the_order_of_time_where_partitions_need_not(tables, tmp_path):
    truth, given = tables
    for name, table in (("data", truth), ("given", given)):
        table.reverse().write_parquet(tmp_path / f"{name}.parquet")
    settings = settings_for(tmp_path / "data.parquet", tmp_path / "given.parquet")
    run, pieces = both_refuse(settings)
    assert "goes back in time" in run
    assert pieces == run
    folder = write_parts(tmp_path / "parts", truth.reverse())
    truth.write_parquet(tmp_path / "straight.parquet")
    turned, straight = read_table(folder), read_table(tmp_path / "straight.parquet")
    assert np.array_equal(turned.rows, straight.rows)
    assert np.array_equal(turned.uids, straight.uids)


def test_empty_partitions_are_passed_over_and_a_table_of_them_is_refused(tables, tmp_path):
    truth, given = tables
    data = write_parts(tmp_path / "data", truth[:0], truth)
    answers = write_parts(tmp_path / "given", given, given[:0])
    settings = settings_for(data, answers)
    assert in_pieces(settings)[1] == whole(settings)[1]
    settings = settings_for(data, write_parts(tmp_path / "none", given[:0]))
    assert all("expected rows uid,d,t,x,y, got" in said for said in both_refuse(settings))


def test_a_file_that_changed_between_the_rounds_is_an_error(tables, tmp_path):
    truth, given = tables
    data = write_parts(tmp_path / "data", truth)
    settings = settings_for(data, write_parts(tmp_path / "given", given))
    pieces = settings.benchmark.partitioned(settings)
    pieces.count(map, 2)
    truth[:-40].write_parquet(data / "part-0.parquet")
    with pytest.raises(OSError, match="not as it was when it was counted"):
        list(cluster.records(settings.benchmark, pieces, [0, 1], map, 2))


@pytest.mark.parametrize(
    ("dataset", "more", "said"),
    [("demo", {}, "--dataset: expected Parquet files, got demo"),
     ("given.csv", {}, r"--dataset: expected Parquet .* polars.scan_csv\('given.csv'\)"),
     ("data", {"mode": "inference"}, "--mode: expected test"),
     ("data", {"epochs": 2}, "--epochs: expected 1")],
)  # fmt: skip
def test_what_cannot_be_scored_in_pieces_is_said_before_anything_is_read(
    tables, tmp_path, monkeypatch, dataset, more, said
):
    truth, given = tables
    monkeypatch.chdir(tmp_path)
    write_parts(tmp_path / "data", truth)
    given.write_csv("given.csv")
    with pytest.raises(BenchmarkError, match=said):
        settings_for(dataset, "data", **more).benchmark.partitioned(
            settings_for(dataset, "data", **more)
        )


def test_other_benchmarks_say_that_they_cannot():
    with pytest.raises(
        BenchmarkError,
        match=r"DailyMobility cannot be scored on a cluster, only here \(--engine local\)$",
    ):
        registry.get("DailyMobility").partitioned(None)
