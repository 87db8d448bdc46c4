"""The editions of the challenge, against the organisers' descriptions."""

from __future__ import annotations

import itertools

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.humob.editions import EDITIONS, Span, find_edition, parse_span


@pytest.mark.parametrize(
    ("year", "task", "users", "count"),
    [
        ("2023", "1", "80000-99999", 20_000),
        ("2023", "2", "22500-24999", 2_500),
        ("2024", "B", "22000-24999", 3_000),
        ("2024", "C", "17000-19999", 3_000),
        ("2024", "D", "3000-5999", 3_000),
        ("2025", "A", "147001-150000", 3_000),
        ("2025", "B", "27001-30000", 3_000),
        ("2025", "C", "22001-25000", 3_000),
        ("2025", "D", "17001-20000", 3_000),
    ],
)
def test_the_users_of_every_task(year, task, users, count):
    span = find_edition(year).task(task)
    assert (str(span), len(span)) == (users, count)
    assert find_edition(year).task_of(span.first) == find_edition(year).task_of(span.last) == task
    assert find_edition(year).task_of(span.first - 1) != task


@pytest.mark.parametrize(("year", "days"), [(2023, "60-74"), (2024, "60-74"), (2025, "61-75")])
def test_the_last_fifteen_of_75_days_are_predicted(year, days):
    edition = find_edition(year)
    assert (str(edition.predict_days), len(edition.predict_days), len(edition.days)) == (
        days,
        15,
        75,
    )
    assert edition.predict_days.last == edition.days.last


def test_no_user_is_in_two_tasks():
    for edition in EDITIONS.values():
        for one, other in itertools.combinations(edition.tasks.values(), 2):
            assert one.last < other.first or other.last < one.first


@pytest.mark.parametrize("name", ["B", "b", " cityB ", "city_b", "task-B", "City B"])
def test_a_task_has_many_spellings(name):
    assert find_edition("2024").task_name(name) == "B"


def test_a_task_of_another_year_is_refused():
    with pytest.raises(BenchmarkError, match=r"city 'A': expected one of B, C, D \(HuMob 2024\)"):
        find_edition(2024).task("A")
    with pytest.raises(BenchmarkError, match="edition 2022: expected one of 2023, 2024, 2025"):
        find_edition(2022)


@pytest.mark.parametrize(
    ("year", "task", "name"),
    [
        (2023, "task1", "us_task1_humob.csv.gz"),
        (2024, "c", "us_cityC_humob.csv.gz"),
        (2025, "cityA", "us_cityA_humob25.csv.gz"),
    ],
)
def test_a_submission_is_named_as_the_organisers_ask(year, task, name):
    assert find_edition(year).submission_name("us", task) == name


def test_a_span_has_both_its_ends():
    span = Span(3, 5)
    assert [n for n in range(8) if n in span] == [3, 4, 5]
    assert len(span) == 3


@pytest.mark.parametrize(
    ("value", "span"),
    [("60-74", Span(60, 74)), ([60, 74], Span(60, 74)), (60, Span(60, 60)), ("7", Span(7, 7)), (0, Span(0, 0))],
)  # fmt: skip
def test_spans_as_people_write_them(value, span):
    assert parse_span(value) == span


@pytest.mark.parametrize("value", ["9-5", "a-b", "1-2-3", [1, 2, 3], [], True, 1.5, "-3", "", None])
def test_what_is_no_span_is_refused(value):
    with pytest.raises(ValueError):  # noqa: PT011 -- options.py says the rest
        parse_span(value)
