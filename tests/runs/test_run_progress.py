"""How far a run has come: its pace, what is left, and calls in flight."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from runs.toy_plan import toy_plan

from pytest_agentbench.runs.collector import Collector, Place
from pytest_agentbench.runs.plan import Question
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.run_progress import Pace, RunProgress, calls_in_flight, progress_of
from pytest_agentbench.runs.scores_file import Counts


def marked(*marks):
    pace = Pace()
    for now, done in marks:
        pace.mark(now, done)
    return pace


def test_the_pace_is_none_before_anything_can_be_said():
    assert Pace().rate(5.0) is None
    assert marked((5.0, 3)).rate(5.0) is None  # of a resumed run, three are no pace
    assert marked((5.0, 3), (9.0, 3)).rate(9.0) is None


def test_the_pace_is_of_the_last_minute():
    slow_then_quick = [(float(s), s) for s in range(100)] + [
        (100.0 + s, 100 + 10 * s) for s in range(61)
    ]
    assert marked(*slow_then_quick).rate(160.0) == 10.0
    assert marked(*slow_then_quick).rate(190.0) == pytest.approx(600 / 90)  # nothing came since


def test_where_samples_are_slow_the_pace_is_of_the_last_ten():
    hours = [(3600.0 * n, n) for n in range(5)] + [
        (14_400 + 120.0 * n, 4 + n) for n in range(1, 11)
    ]
    assert marked(*hours).rate(15_600.0) == pytest.approx(1 / 120)


def test_many_marks_take_bounded_memory_and_change_nothing():
    pace = marked(*((n / 1000, n) for n in range(1, 200_001)))
    assert len(pace._marks) <= 71
    assert pace.rate(200.0) == pytest.approx(1000, rel=0.02)


def test_what_is_left_follows_from_the_pace():
    def left(done, rate, waiting=0):
        return RunProgress("toysum", Counts(done), 100, waiting, rate=rate).seconds_left

    assert left(40, 0.5) == 120
    assert left(40, 0.5, waiting=20) == 80  # answers that have come and wait for their turn
    assert left(100, 0.5) is left(40, None) is left(40, 0.5, waiting=60) is None


@pytest.mark.parametrize(
    ("llm", "ahead", "seconds", "took", "in_flight"),
    [
        (None, False, [1.0], 1.0, 0),
        (SimpleNamespace(in_flight=7), True, [1.0], 1.0, 7),
        (SimpleNamespace(in_flight=0), False, [0.5, 0.4], 1.0, 1),  # one after the other
        (SimpleNamespace(in_flight=0), False, [1.0, 0.9, 1.0], 1.0, 3),  # three at a time
        (SimpleNamespace(in_flight=0), False, [], 0.0, 0),
    ],
    ids=["no model", "ahead", "serial", "three at a time", "no call"],
)
def test_calls_in_flight_where_one_question_is_asked_at_a_time_are_those_of_the_last(
    llm, ahead, seconds, took, in_flight
):
    plan = SimpleNamespace(llm=llm, asks_ahead=ahead)
    last = Record("toysum", "sum[s0]", "ok", seconds=took, evidence={"llm_seconds": seconds})
    assert calls_in_flight(plan, last) == in_flight


def test_the_progress_of_a_run_is_what_its_collector_has(tmp_path):
    plan = toy_plan()
    collector = Collector(
        plan, {"name": "a.py", "digest": "d"}, Place(tmp_path, tmp_path, []), "20260102-030405"
    )
    collector.expected = {Question(index, 1) for index in range(12)}
    asked = {"llm_calls": 2, "input_tokens": 70, "output_tokens": 30, "cost": 0.25}
    replayed = {"llm_cache_hits": 3, "replayed_input_tokens": 700, "replayed_cost": 1.5}
    for sample, status, usage, right in (
        ("s0", "ok", asked, 1.0),
        ("s1", "ok", replayed, 0.0),
        ("s2", "error", {}, None),
    ):
        metrics = {} if right is None else {"exact": {"accuracy": right}}
        record = Record("toysum", f"sum[{sample}]", status, answer=1, usage=usage, metrics=metrics)
        collector.add(*record.to_parts())
    collector.keep_line("sum[s3]", 1, Record("toysum", "sum[s3]", "ok", answer=1).to_json())
    found = progress_of(collector, rate=2.0, in_flight=5)
    collector.log.close()
    plan.close()
    assert found == RunProgress(
        "toysum",
        Counts(3, 2, error=1),
        12,
        waiting=1,
        headline=("accuracy", 0.5),
        rate=2.0,
        calls=5,
        cache_hits=3,
        tokens=100,
        cost=0.25,
        in_flight=5,
    )
    assert found.seconds_left == 4.0
