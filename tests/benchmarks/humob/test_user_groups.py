"""A task of the second round: what it reads, measures at once and leaves to the check of each answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.humob import scoring, user_groups
from pytest_agentbench.benchmarks.humob.data import Split
from pytest_agentbench.benchmarks.protocol import Sample, SampleKey
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.submissions import look_up
from pytest_agentbench.settings.resolve import resolve

COLUMNS = ("uid", "d", "t", "x", "y")


@pytest.fixture
def split():
    return Split.from_settings(resolve("humob", None, [], [Path.cwd()]))


@pytest.fixture
def piece(tmp_path):
    """Writes rows into one file; gives the piece of these users, all of the file unless told."""

    def write(name, rows, uids=None):
        path = tmp_path / f"{name}.parquet"
        table = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.Int64), orient="row")
        table.write_parquet(path)
        chosen = sorted(set(table["uid"])) if uids is None else uids
        count = table.filter(pl.col("uid").is_in(chosen)).height
        part = user_groups.Part(path, 0, alone=False)
        size = path.stat().st_size
        return user_groups.Piece([(part, size)], np.array(chosen), count, count == table.height)

    return write


@pytest.fixture
def people(person):
    """Truth and prediction of six people, three of whom have mistakes in theirs."""
    truth = {uid: person(uid) for uid in range(100, 106)}
    given = {
        uid: [(u, d, t, x % 199 + 1, y) for u, d, t, x, y in rows if d >= 60]
        for uid, rows in truth.items()
    }
    u, d, t, *_ = given[101][2]
    given[101][2] = (u, d, t, 999, 999)  # left masked
    u, d, t, x, y = given[103][0]
    given[103][0] = (u, d, (t + 1) % 48, x, y) if given[103][1][2] != t + 1 else (u, d, 0, x, y)
    del given[104][-1]
    return truth, given


def joined(people):
    return [row for rows in people.values() for row in rows]


@pytest.mark.parametrize("at_once", [1, 2, 1000])  # users measured together
def test_complete_answers_are_measured_at_once_as_each_would_be_by_itself(
    people, piece, split, monkeypatch, at_once
):
    days = split.days.last - split.days.first + 1
    monkeypatch.setattr(scoring, "THREADED_DAYS", at_once * days + 2)
    truth, given = people
    portion = user_groups.read_group(
        user_groups.Group(piece("data", joined(truth)), piece("given", joined(given)), "data"),
        split,
    )
    assert list(portion.scored.samples) == ["uid[100]", "uid[102]", "uid[105]"]
    for number, uid in enumerate((100, 102, 105)):
        rows = np.array([row[1:] for row in truth[uid] if row[1] >= 60])
        sample = Sample(SampleKey("uid", str(uid)), None, rows)
        (expected,) = scoring.score_samples([sample], [[list(row[3:]) for row in given[uid]]])
        for reading, metrics in expected.items():
            found = {name: v[number] for name, v in portion.scored.metrics[reading].items()}
            assert found == metrics
    others = [sample for batch in portion.samples for sample in batch]
    assert [str(sample.key) for sample in others] == ["uid[101]", "uid[103]", "uid[104]"]
    answers = [look_up(portion.answers, sample) for sample in others]
    records, _ = evaluate(registry.get("humob"), others, answers)
    assert [record.status for record in records] == ["invalid"] * 3
    assert sorted(portion.wrong) == [103, 104]


def test_users_without_any_answer_are_left_to_be_missed(people, piece, split):
    truth, _ = people
    portion = user_groups.read_group(
        user_groups.Group(piece("data", joined(truth)), None, "data"), split
    )
    assert not portion.scored.samples
    assert sum(len(batch) for batch in portion.samples) == 6
    assert not portion.answers


def test_other_users_in_a_file_are_not_read(people, piece):
    truth, _ = people
    wanted = piece("data", joined(truth), [101, 104])
    assert not wanted.whole
    table = user_groups.read_piece(wanted)
    assert table.uids.tolist() == [101, 104]
    assert len(table.rows) == len(truth[101]) + len(truth[104])


@pytest.mark.parametrize("change", ["size", "rows", "users"])
def test_a_file_that_has_changed_since_it_was_counted_is_an_error(people, piece, change):
    truth, _ = people
    counted = piece("data", joined(truth))
    ((part, size),) = counted.parts
    changed = joined(truth)
    if change == "users":
        changed = [(uid + (uid == 105), *rest) for uid, *rest in changed]
    else:
        del changed[-3:]
    again = piece("data", changed)
    if change != "size":  # as if it were as long as before
        size = again.parts[0][1]
    with pytest.raises(OSError, match="not as it was when it was counted"):
        user_groups.read_piece(
            user_groups.Piece([(part, size)], counted.uids, counted.rows, counted.whole)
        )
