"""Users of a file, checked and scored many at a time, have the records of one at a time."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pytest_agentbench.benchmarks.humob.benchmark import Humob
from pytest_agentbench.runs.evaluate import Evaluation
from pytest_agentbench.runs.submissions import evaluate_submitted, look_up

UIDS = range(80000, 80008)
EVERYBODY = [(index, 1) for index in range(len(UIDS))]


class OneByOne(Humob):
    """As if it knew of no faster way."""

    def score_submitted(self, dataset, answers, indices):
        return [None] * len(indices)


@pytest.fixture
def truth(person):
    return [row for uid in UIDS for row in person(uid, slots=(uid % 5, 20, 21 + uid % 9, 47))]


@pytest.fixture
def given(truth):
    """Predictions that are right, near or far, for days to predict."""
    rows = [row for row in truth if row[1] >= 60]
    return [(*row[:3], 1 + (row[3] + n % 7) % 200, row[4]) for n, row in enumerate(rows)]


def changed(rows, uid, at, **cells):
    """The rows with other values in a user's row number ``at``."""
    row = [n for n, row in enumerate(rows) if row[0] == uid][at]
    named = dict(zip(("uid", "d", "t", "x", "y"), rows[row], strict=True)) | cells
    return [*rows[:row], tuple(named.values()), *rows[row + 1 :]]


FAULTS = {
    "none": lambda rows: rows,
    "a user is missing": lambda rows: [row for row in rows if row[0] != 80003],
    "the last users are missing": lambda rows: [row for row in rows if row[0] < 80005],
    "a row is missing": lambda rows: rows[:5] + rows[6:],
    "another time": lambda rows: changed(rows, 80002, 0, t=0 if rows[0][2] else 1),
    "a cell is masked": lambda rows: changed(rows, 80001, 2, x=999, y=999),
    "the other order of users": lambda rows: sorted(rows, key=lambda row: -row[0]),
    "a stranger": lambda rows: [(5, 60, 3, 1, 1), *rows],
    "nobody who was asked": lambda rows: [(5, 60, 3, 1, 1)],
    "every cell is masked": lambda rows: [(*row[:3], 999, 999) for row in rows],
}


def records(benchmark, dataset, submission, questions=EVERYBODY):
    evaluation = Evaluation(benchmark, questions[0][1])
    evaluate_submitted(evaluation, benchmark, dataset, submission.answers, questions)
    return evaluation.records


@pytest.mark.parametrize("fault", FAULTS)
def test_all_at_once_give_the_records_and_days_of_one_at_a_time(csv, load, truth, given, fault):
    dataset = load(csv(truth))
    path = csv(FAULTS[fault](given), "given.csv")
    submission = Humob().read_submission(path, dataset, SimpleNamespace())
    fast, slow = (records(one(), dataset, submission) for one in (Humob, OneByOne))
    assert [one.to_json() for one in fast] == [one.to_json() for one in slow]
    assert [one.basis for one in fast] == [one.basis for one in slow]
    accepted = Humob().score_submitted(dataset, submission.answers, range(len(UIDS)))
    assert [one is not None for one in accepted] == [one.status == "ok" for one in slow]


def test_any_users_may_be_asked_in_any_epoch(csv, load, truth, given):
    dataset = load(csv(truth))
    submission = Humob().read_submission(csv(given, "given.csv"), dataset, SimpleNamespace())
    questions = [(5, 2), (0, 2), (6, 2)]
    fast, slow = (records(one(), dataset, submission, questions) for one in (Humob, OneByOne))
    assert [one.to_json() for one in fast] == [one.to_json() for one in slow]
    assert [(one.sample, one.epoch) for one in fast] == [
        ("uid[80005]", 2), ("uid[80000]", 2), ("uid[80006]", 2)
    ]  # fmt: skip


def test_an_answer_is_as_it_was_checked(csv, load, truth, given):
    dataset = load(csv(truth))
    submission = Humob().read_submission(csv(given, "given.csv"), dataset, SimpleNamespace())
    for index, record in enumerate(records(Humob(), dataset, submission)):
        sample = dataset.sample(index)
        assert record.answer == Humob().check(sample, look_up(submission.answers, sample).answer)


def test_masked_truth_gives_answers_without_metrics(csv, load, truth, given, masked):
    dataset = load(csv(masked(truth)), mode="inference")
    submission = Humob().read_submission(csv(given, "given.csv"), dataset, SimpleNamespace())
    fast, slow = (records(one(), dataset, submission) for one in (Humob, OneByOne))
    assert [one.to_json() for one in fast] == [one.to_json() for one in slow]
    assert {one.status for one in fast} == {"ok"}
    assert not any(one.metrics or one.basis for one in fast)
