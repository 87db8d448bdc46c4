"""Whatever an agent answers becomes a record, valid or refused with a reason, and never another answer.

``pytest tests/faults/test_bad_answers.py --hypothesis-profile=campaign`` tries many more of them.
"""

from __future__ import annotations

import contextlib
import copy
import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostile
import numpy as np
import pytest
from answer_strategies import ANYTHING, Boxed, spoiled
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.agents.process import child, wire
from pytest_agentbench.base.plain import _Converter
from pytest_agentbench.benchmarks.humob.benchmark import Humob
from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset, Sample, SampleKey
from pytest_agentbench.metrics.estimator import Absent
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.record import Record
from pytest_agentbench.settings.resolve import Layer, resolve

TIMES = [[60, 0], [60, 47], [74, 3]]
CELLS = [[1, 200], [100, 100], [7, 8]]
SEQUENCE = [1] * 20 + [4] * 20 + [7] * 8
SHARES = [20 / 48, 0, 0, 20 / 48, 0, 0, 8 / 48]


def loaded(name: str, **keys: Any) -> tuple[Benchmark, Dataset]:
    values = {"text_models": "none", **keys} if name == "BehaviorModeling" else keys
    layer = Layer(where=str, values=values)
    made = resolve(name, None, [layer], [Path()])
    return made.benchmark, made.benchmark.load(made)


def first(name: str, target: str | None = None, **keys: Any) -> tuple[Benchmark, Sample]:
    benchmark, dataset = loaded(name, **keys)
    keys_ = dataset.keys
    index = next(n for n, key in enumerate(keys_) if target in (None, key.target))
    return benchmark, dataset.sample(index)


def questions() -> dict[str, tuple[Benchmark, Sample, list[Any]]]:
    """For every kind of question: the benchmark, a sample, and good answers."""
    humob = Sample(
        SampleKey("uid", "7"), {}, np.array([[*t, *c] for t, c in zip(TIMES, CELLS, strict=True)])
    )
    ranking, review = (first("BehaviorModeling", t) for t in ("recommendation", "review_writing"))
    candidates = ranking[1].truth["candidates"]
    day, days = first("DailyMobility"), first("HurricaneMobility")
    home = day[1].context["profile"]["home"]
    four = {
        "gyration_radius": 2500.5, "daily_location_numbers": 3,
        "intention_sequences": SEQUENCE, "intention_proportions": SHARES,
    }  # fmt: skip
    visits = [
        {"start": "00:00", "place": home, "intention": "sleep"},
        {"start": 18, "place": [520.5, 71], "intention": 4},
        {"start": "17:30", "place": {"id": home}, "intention": "home activity"},
    ]
    trips = [{"day": 0, "departure": 28800}, {"day": 2, "departure": 0.5}]
    arrays = {"total_travel_times": [24, 24, 24], "hourly_travel_times": [[1.0] * 24] * 3}
    whole = first("HurricaneMobility", items="population")
    return {
        "humob": (Humob(), humob, [CELLS, [[*t, *c] for t, c in zip(TIMES, CELLS, strict=True)],
                                   [[7, *t, *c] for t, c in zip(TIMES, CELLS, strict=True)]]),
        "recommendation": (*ranking, [{"item_list": candidates}, candidates[:3]]),
        "review": (*review, [{"stars": 4.5, "review": "Fine."}, {"stars": "3", "review": "é"}]),
        "day": (*day, [four, visits, {"visits": visits}]),
        "hurricane": (*days, [trips, {"trips": trips}, arrays]),
        "hurricane population": (*whole, [arrays]),
    }  # fmt: skip


QUESTIONS = questions()
ANSWERS = {
    name: (ANYTHING | st.one_of(*(spoiled(answer) for answer in good))).map(Boxed)
    for name, (_, _, good) in QUESTIONS.items()
}
LONGEST_REASON = 2000
many = settings(deadline=None, suppress_health_check=list(HealthCheck))


def record_of(benchmark: Benchmark, sample: Sample, answer: Any) -> Record:
    made, failure = evaluate(benchmark, [sample], [Outcome(answer)])
    assert failure is None  # else pytest would show a traceback of ours
    assert len(made) == 1
    return made[0]


def bits(value: Any) -> Any:
    """A value in which equal numbers of different types, and zeros of both signs, differ."""
    if isinstance(value, list):
        return [bits(item) for item in value]
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    return (float, struct.pack("d", value)) if isinstance(value, float) else (type(value), value)


def holds(name: str, answer: Any) -> Record:
    """All that must be true of any answer."""
    benchmark, sample, _ = QUESTIONS[name]
    record = record_of(benchmark, sample, answer)
    line = record.to_json()
    assert line.isascii()
    assert "\n" not in line
    assert Record.from_json(line) == record
    assert record.status in ("ok", "invalid")
    if record.status == "invalid":
        assert record.error.startswith("expected ")
        assert len(record.error) < LONGEST_REASON
        assert record.metrics == {}
    else:
        values = [v for metrics in record.metrics.values() for v in metrics.values()]
        assert all(math.isfinite(value) for value in values)
    # Scored again from the log, and given by an agent in a process of its own, it is the same answer.
    sent = wire.decoded(child._payload({"answer": answer}))["answer"]
    for other in (json.loads(line)["answer"], sent):
        again = record_of(benchmark, sample, other)
        assert again.status == record.status
        if record.status == "ok":
            assert bits(again.answer) == bits(record.answer)
            assert bits(again.metrics) == bits(record.metrics)
    return record


@pytest.mark.parametrize("name", QUESTIONS)
def test_good_answers_are_accepted(name):
    for answer in QUESTIONS[name][2]:
        assert holds(name, answer).status == "ok"


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_list_that_never_ends_is_looked_at_no_further_than_it_says(name):
    benchmark, sample, _ = QUESTIONS[name]
    for answer in (hostile.EndlessList([[1, 1]] * 3), {"item_list": hostile.EndlessList(["x"])}):
        assert record_of(benchmark, sample, answer).answer is not None


@pytest.mark.parametrize("name", QUESTIONS)
def test_any_answer_is_scored_or_refused_with_a_reason(name):
    @many
    @given(ANSWERS[name])
    def any_answer(boxed):
        holds(name, boxed.answer)

    any_answer()


@pytest.mark.parametrize("name", QUESTIONS)
def test_hostile_answers_in_every_place(name):
    """Each as the answer, and instead of every part of a good one."""
    for index, value in enumerate(hostile.scalars()):
        for good in QUESTIONS[name][2]:
            places = list(good) if isinstance(good, dict) else range(min(4, len(good)))
            for place in places:
                answer = copy.copy(good)
                answer[place] = value
                with at(index, place):
                    holds(name, answer)
        with at(index):
            holds(name, value)


@contextlib.contextmanager
def at(*where: Any) -> Iterator[None]:
    """Says which value of hostile.scalars() it was: some of them cannot be shown by pytest."""
    try:
        yield
    except BaseException as error:
        raise AssertionError(f"hostile.scalars(), {where}: {error!r:.500}") from None


def test_large_answers_are_refused_in_few_words_and_kept_as_far_as_possible(monkeypatch):
    monkeypatch.setattr(_Converter, "most_values", 50_000)
    benchmark, sample, _ = QUESTIONS["day"]
    for answer in hostile.large():
        record = record_of(benchmark, sample, answer)
        assert record.status == "invalid"
        assert len(record.error) < LONGEST_REASON
        assert len(record.to_json()) < 20_000_000


def test_a_good_answer_that_is_too_large_to_be_kept_is_an_error_and_not_a_smaller_answer(
    monkeypatch,
):
    monkeypatch.setattr(_Converter, "most_values", 5)
    benchmark, sample, good = QUESTIONS["humob"]
    record = record_of(benchmark, sample, good[0])
    assert (record.status, record.metrics) == ("error", {})
    assert "expected at most 5 values" in record.error


NUMBERS = st.sampled_from([0, 1, 5e-324, 1e-300, 1e150, 1e308, 1.7e308, 2**1023]) | st.floats(
    0, 1e308
)


def scored(name: str, answers: list[Any]) -> None:
    """Every score of a run with these answers is a number within the metric's range, or absent."""
    benchmark, dataset = LOADED[name]
    made = [record_of(benchmark, dataset.sample(n), answer) for n, answer in enumerate(answers)]
    for reading in benchmark.readings:
        values = benchmark.score_run(dataset, made)(reading, None)
        listed = {metric.name: metric for metric in benchmark.metrics}
        assert values
        for name, value in values.items():
            metric = listed[name]
            if not isinstance(value, Absent):
                assert math.isfinite(value), (reading, metric.name)
                assert metric.low is None or value >= metric.low - 1e-9
                assert metric.high is None or value <= metric.high + 1e-9


LOADED = {name: loaded(name) for name in ("DailyMobility", "HurricaneMobility")}


@many
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=4))
@example([(0, 0), (0, 1.1125369292536007e-308)])  # bins so narrow that densities overflow
def test_days_of_absurd_size_are_scored_with_numbers(pairs):
    good = QUESTIONS["day"][2][0]
    scored(
        "DailyMobility",
        [{**good, "gyration_radius": r, "daily_location_numbers": n} for r, n in pairs],
    )


@many
@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=4))
@example([[1e-300, 0, 117929.0]])  # a change so large that its error overflows
def test_trips_of_absurd_number_are_scored_with_numbers(rows):
    scored(
        "HurricaneMobility",
        [{"total_travel_times": row, "hourly_travel_times": [row * 8] * 3} for row in rows],
    )
