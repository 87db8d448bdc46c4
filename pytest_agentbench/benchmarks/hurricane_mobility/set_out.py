"""Three lived days beside the score: when people really set out, and what their days are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_agentbench.benchmarks.days.day_facts import Facts, facts, lived_trips
from pytest_agentbench.benchmarks.days.lived_day import DAY
from pytest_agentbench.benchmarks.days.realism import Realism
from pytest_agentbench.benchmarks.days.realism_panel import panel
from pytest_agentbench.benchmarks.hurricane_mobility.answers import (
    HOURLY,
    MOST_PER_HOUR,
    SECONDS,
)
from pytest_agentbench.benchmarks.hurricane_mobility.data import HOURS, PERIODS, HurricaneDataset

if TYPE_CHECKING:
    from pytest_agentbench.runs.record import Record


def departures(answer: Mapping[str, Any]) -> Sequence[Sequence[float]]:
    """The trips of each hour of the three days, of a checked answer.

    Of lived days by the trips themselves: their rows, half an hour apart, miss trips that are shorter.
    As everywhere, nobody sets out more often than twice an hour.
    """
    if DAY not in answer:
        hourly: Sequence[Sequence[float]] = answer[HOURLY]
        return hourly
    found = [[0.0] * HOURS for _ in PERIODS]
    for trip in lived_trips(answer[DAY])[1]:
        day, hour = divmod(int(trip.leaves // SECONDS), HOURS)
        if day < len(PERIODS):
            found[day][hour] = min(found[day][hour] + 1, MOST_PER_HOUR)
    return found


def describe(dataset: HurricaneDataset, records: Sequence[Record]) -> dict[str, Any]:
    """What lived days are made of, all together and day by day; nothing where nobody lived any.

    The truth has trips by hour alone: there is no reference to compare the rest with.
    """
    if not any(record.status == "ok" and DAY in record.answer for record in records):
        return {}
    belongs = [dataset.groups(dataset.index_of[record.sample]) for record in records]
    together = panel(_realism(dataset, records, range(len(PERIODS))), belongs)
    by_day = {
        period: panel(_realism(dataset, records, [day]), [{}] * len(records))
        for day, period in enumerate(PERIODS)
    }
    return {
        **together,
        "values": _generated(together),
        "days": {period: _generated(found) for period, found in by_day.items()},
    }


def _generated(found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The means alone: why there is nothing real is the same for all of them."""
    return {
        name: {"unit": own["unit"], "generated": own["generated"]}
        for name, own in found["values"].items()
        if own.get("generated") is not None
    }


def _realism(dataset: HurricaneDataset, records: Sequence[Record], days: Sequence[int]) -> Realism:
    people: list[Facts | None] = []
    for record in records:
        day = record.answer.get(DAY) if record.status == "ok" else None
        if day is None or dataset.city is None:
            people.append(None)
        else:
            home = dataset.profiles[dataset.index_of[record.sample]].get("home")
            people.append(facts(day, home, dataset.city.position, days))
    return Realism(people, None)
