"""From an outcome to a record: what an agent does never raises, and nothing that it said is lost."""

from __future__ import annotations

import asyncio
import contextlib
import gc

import pytest
from toy_runs import ToySum

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.agents.errors import AgentTimeout, DayEnded, NotProvided, RemoteAgentError
from pytest_agentbench.agents.usage import Tick
from pytest_agentbench.benchmarks.protocol import Sample, SampleKey
from pytest_agentbench.runs.evaluate import Evaluation, MissingAnswer, evaluate, held_off

RIGHT = {
    "exact": {"accuracy": 1.0, "distance": 0.0},
    "lenient": {"accuracy": 1.0, "distance": 0.0},
}


def sample(n=3):
    return Sample(SampleKey("sum", f"s{n}"), {"a": n, "b": n}, 2 * n)


def one(outcome, benchmark=None):
    (record,), failure = evaluate(benchmark or ToySum(), [sample()], [outcome])
    return record, failure


def test_a_valid_answer_is_measured_in_every_reading():
    outcome = Outcome(6, seconds=0.12345678)
    outcome.usage.add(tokens=5)
    outcome.usage.said("user", "3 + 3?")
    record, failure = one(outcome)
    assert failure is None
    assert (record.sample, record.epoch, record.status, record.answer) == ("sum[s3]", 1, "ok", 6)
    assert record.metrics == RIGHT
    assert record.seconds == 0.123457
    assert record.usage == {"tokens": 5}
    assert record.evidence == {"messages": [{"role": "user", "content": "3 + 3?"}]}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (SystemExit(3), "tick 33 (day 0, 08:15): SystemExit: 3"),
        (asyncio.CancelledError(), "tick 33 (day 0, 08:15): CancelledError"),
        (NotProvided("a map"), "tick 33 (day 0, 08:15): NotProvided: a map"),
        (
            RemoteAgentError(("KeyboardInterrupt",), "", ""),
            "tick 33 (day 0, 08:15): KeyboardInterrupt",
        ),
        # These say it themselves.
        (AgentTimeout("no answer; it had reached tick 33"), "no answer; it had reached tick 33"),
        (DayEnded("tick 33, step(): x"), "DayEnded: tick 33, step(): x"),
        (RemoteAgentError(("DayEnded",), "tick 33, f(): x", ""), "DayEnded: tick 33, f(): x"),
        (MissingAnswer("no answer for this sample"), "no answer for this sample"),
    ],
)
def test_what_ends_a_day_is_told_with_its_tick(error, text):
    outcome = Outcome(error=error)
    outcome.usage.begin(Tick(33, 0, 29_700))
    assert one(outcome)[0].error == text


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


BOOM = ValueError("boom")


@pytest.mark.parametrize(
    ("error", "status", "text", "blamed"),
    [
        (AgentTimeout("no answer within 1 s"), "timeout", "no answer within 1 s", False),
        (MissingAnswer("no answer for this sample"), "error", "no answer for this sample", False),
        (BOOM, "error", "ValueError: boom", True),
        (SystemExit(3), "error", "SystemExit: 3", True),
        (Unprintable(), "error", "Unprintable: <its text could not be made: RuntimeError>", True),
        (RemoteAgentError(("KeyError",), "'x'", ""), "error", "KeyError: 'x'", True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_what_the_agent_raised_is_the_records_error(error, status, text, blamed):
    record, failure = one(Outcome(error=error))
    assert (record.status, record.error, record.answer, record.metrics) == (status, text, None, {})
    assert failure is (error if blamed else None)


def test_an_invalid_answer_is_kept_with_the_reason():
    record, failure = one(Outcome("six"))
    assert (record.status, record.answer, failure) == ("invalid", "six", None)
    assert record.error == "expected a whole number, got 'six'"


class BrokenCheck(ToySum):
    def check(self, sample, answer):
        return 1 // (answer - 6)


def test_a_fault_of_the_benchmarks_check_is_an_error_and_the_answer_stays():
    record, failure = one(Outcome(6), BrokenCheck())
    assert (record.status, record.answer) == ("error", 6)
    assert record.error.startswith("check failed: ZeroDivisionError: ")
    assert isinstance(failure, ZeroDivisionError)


class Touchy:
    """An object of the agent's own that fails when it is looked at."""

    def __eq__(self, other):
        raise OSError("hands off")

    __hash__ = None


class Comparing(ToySum):
    def check(self, sample, answer):
        return super().check(sample, 0 if answer == "zero" else answer)


def test_an_object_that_makes_a_check_fail_is_an_invalid_answer():
    record, failure = one(Outcome(Touchy()), Comparing())
    assert (record.status, failure) == ("invalid", None)
    assert "which raised OSError: hands off" in record.error


class Picky(ToySum):
    """Cannot measure six."""

    def score_sample(self, sample, answer):
        if answer == 6:
            raise ArithmeticError("six")
        return super().score_sample(sample, answer)


def test_one_answer_that_cannot_be_measured_costs_no_other():
    samples = [sample(n) for n in (2, 3, 4)]
    records, failure = evaluate(Picky(), samples, [Outcome(s.truth) for s in samples], epoch=2)
    assert [record.status for record in records] == ["ok", "error", "ok"]
    assert records[0].metrics == records[2].metrics == RIGHT
    assert (records[1].error, records[1].answer) == ("scoring failed: ArithmeticError: six", 6)
    assert isinstance(failure, ArithmeticError)
    assert {record.epoch for record in records} == {2}


def test_the_first_failure_of_the_agent_counts():
    second = KeyError("later")
    outcomes = [Outcome(1), Outcome(error=BOOM), Outcome(error=second)]
    records, failure = evaluate(ToySum(), [sample()] * 3, outcomes)
    assert [record.status for record in records] == ["ok", "error", "error"]
    assert failure is BOOM


def test_an_answer_is_kept_as_soon_as_it_comes_and_measured_later():
    evaluation = Evaluation(ToySum())
    evaluation.add(sample(), Outcome(6))
    (record,) = evaluation.records
    assert (record.status, record.answer, record.metrics) == ("ok", 6, {})
    evaluation.measure()
    assert evaluation.records[0].metrics == RIGHT


@pytest.mark.parametrize("on", [True, False])
def test_the_garbage_collector_rests_and_is_left_as_it_was(on):
    was_on = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        with contextlib.suppress(KeyError), held_off():
            rested = not gc.isenabled()
            raise KeyError
        assert rested
        assert gc.isenabled() is on
    finally:
        (gc.enable if was_on else gc.disable)()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "1", 10**400])
def test_a_metric_that_is_no_finite_number_is_the_samples_error(value):
    """A log with it could not be read back."""

    class Strange(ToySum):
        def score_sample(self, sample, answer):
            return {"exact": {"accuracy": value}}

    record, failure = one(Outcome(6), Strange())
    assert (record.status, record.answer, record.metrics) == ("error", 6, {})
    assert record.error.startswith("scoring failed: ValueError: `exact")
    assert isinstance(failure, ValueError)


def test_counts_that_are_no_numbers_are_not_kept():
    outcome = Outcome(6)
    outcome.usage.add(tokens=5, cost=float("inf"))
    assert one(outcome)[0].usage == {"tokens": 5}
