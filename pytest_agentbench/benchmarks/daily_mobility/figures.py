"""The figures of a DailyMobility run: the real population beside the generated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks import figures as charts
from pytest_agentbench.benchmarks.daily_mobility import scoring
from pytest_agentbench.benchmarks.daily_mobility.data import DailyMobilityDataset
from pytest_agentbench.benchmarks.daily_mobility.intentions import (
    FIELDS,
    LABELS,
    SLOTS,
    clock,
)
from pytest_agentbench.benchmarks.daily_mobility.population import Population
from pytest_agentbench.benchmarks.days.day_figures import (
    time_on_the_way,
    travel_times,
    trips_by_hour,
    where_people_are,
)
from pytest_agentbench.benchmarks.days.day_maps import day_on_the_map
from pytest_agentbench.benchmarks.days.realism_figures import realism
from pytest_agentbench.benchmarks.days.told_days import read_people
from pytest_agentbench.metrics.divergence import BINS, bin_numbers, round_half_up

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.runs.record import Record

    Floats = npt.NDArray[np.float64]

OPEN_ENDS = "The outermost bars hold all that lies outside the range of the real values."


def figures(
    dataset: DailyMobilityDataset, records: Sequence[Record], scores: Mapping[str, Any]
) -> Sequence[charts.Figure]:
    """All figures of the valid answers; none without valid answers."""
    valid = [record for record in records if record.status == "ok"]
    if not valid:
        return []
    truth, answers = dataset.truth, _population(valid)
    position = None if dataset.reference is None else dataset.position
    told = read_people(dataset, valid, position=position)
    days = (
        realism(told, dataset.reference, scores["details"]),
        day_on_the_map(dataset, told, intentions=LABELS),
        where_people_are(told),
        trips_by_hour(told),
        time_on_the_way(told),
        travel_times(told),
    )
    return [
        by_time_of_day(truth, answers),
        gyration_radius(truth, answers),
        location_numbers(truth, answers),
        proportions(truth, answers),
        *divergence_by_slot(scores),
        *filter(None, days),
    ]


def _population(valid: Sequence[Record]) -> Population:
    """The four values alone: the days of all people together may be larger than the memory."""
    answers = (record.answer for record in valid)
    return Population.from_answers([{name: one[name] for name in FIELDS} for one in answers])


def by_time_of_day(truth: Population, answers: Population) -> charts.Figure:
    """What people do in each half hour: a small chart for each intention."""
    real, generated = _shares(truth), _shares(answers)
    # A half hour has one value: the last one is repeated, or its step would have no width.
    hours = [slot / 2 for slot in range(SLOTS + 1)]
    at = [f"{clock(slot)}" for slot in range(SLOTS)] + ["24:00"]
    return charts.Figure(
        "Intention by time of day",
        f"Share of people in each half hour: {len(truth.intention_sequences):,} real people (blue area), "
        f"{len(answers.intention_sequences):,} generated ones (orange line).",
        [_share_of_people(label) for label in LABELS],
        {
            label: {
                "hour": hours,
                "at": at,
                "real": charts.rounded([*real[code], real[code][-1]]),
                "generated": charts.rounded([*generated[code], generated[code][-1]]),
            }
            for code, label in enumerate(LABELS)
        },
    )


def _shares(people: Population) -> Floats:
    codes = people.intention_sequences
    return np.stack([(codes == code).mean(axis=0) for code in range(1, len(LABELS) + 1)])


def _share_of_people(label: str) -> dict[str, Any]:
    return charts.shares_by_hour(
        label, label, 110, {"field": "at", "title": "from"}, 0.5,
        scale={"domainMin": 0}, axis={"format": "%", "tickCount": 3},
    )  # fmt: skip


def gyration_radius(truth: Population, answers: Population) -> charts.Figure:
    """How far people go, in the bins that the score uses, open ends included."""
    low, high = float(truth.gyration_radius.min()), float(truth.gyration_radius.max())
    return charts.Figure(
        "Gyration radius",
        f"Mean distance of a person's places from their middle. {OPEN_ENDS}",
        (charts.pair_of_histograms("km", "people"),),
        {"people": _binned(truth.gyration_radius, answers.gyration_radius, low, high, 0.001)},
    )


def _binned(
    real: Floats, generated: Floats, low: float, high: float, scale: float = 1.0
) -> dict[str, list[float]]:
    if low == high:  # as bin_numbers widens it
        low, high = low - 0.5, high + 0.5
    edges = (low + (high - low) / BINS * np.arange(-1, BINS + 2)) * scale

    def shares(values: Floats) -> list[float]:
        counts = np.bincount(bin_numbers(values, low, high), minlength=BINS + 2)
        return (counts / len(values)).tolist()  # type: ignore[no-any-return]

    return charts.bars(edges.tolist(), {"real": shares(real), "generated": shares(generated)})


def location_numbers(truth: Population, answers: Population) -> charts.Figure:
    """Places a day, rounded as the score rounds them."""
    real = round_half_up(truth.daily_location_numbers)
    given = round_half_up(answers.daily_location_numbers)
    last = int(real.max()) + 1  # one bar more for all that is above

    def shares(values: Floats) -> list[float]:
        counts = np.bincount(np.minimum(values, last).astype(int), minlength=last + 1)
        return (counts / len(values)).tolist()  # type: ignore[no-any-return]

    edges = (np.arange(last + 2) - 0.5).tolist()
    return charts.Figure(
        "Places a day",
        f"Number of different places visited in a day, rounded; the last bar is {last} or more.",
        (charts.pair_of_histograms("places", "people", range(last + 1)),),
        {"people": charts.bars(edges, {"real": shares(real), "generated": shares(given)})},
    )


def proportions(truth: Population, answers: Population) -> charts.Figure:
    """The share of the day that goes to each intention."""
    real, generated = truth.intention_proportions.T, answers.intention_proportions.T
    frames = {
        label: {"people": _binned(real[row], generated[row], 0.0, 1.0)}
        for row, label in enumerate(LABELS)
    }
    return charts.Figure(
        "Share of the day",
        "Share of a person's day that goes to the intention in the picker.",
        (charts.pair_of_histograms("share of the day", "people"),),
        picker=charts.Picker(("intention",), frames),
    )


def divergence_by_slot(scores: Mapping[str, Any]) -> list[charts.Figure]:
    """Where in the day the two populations differ, from the run's own diagnostics."""
    slots = scores["details"].get("slots")
    if not slots:
        return []
    hours = [slot / 2 for slot in range(len(slots))]
    chart = {
        "data": {"name": "slots"},
        "mark": {"type": "bar", "color": charts.GENERATED, "fillOpacity": 0.6, "binSpacing": 0},
        "encoding": {
            "x": {**charts.hour_of_the_day("hour"), "bin": "binned"},
            "x2": {"field": "until"},
            "y": charts.quantity("divergence", "divergence (0 to 1)"),
            "tooltip": [
                {"field": "at", "title": "from"},
                charts.quantity("divergence", format=".3f"),
            ],
        },
    }
    data: dict[str, list[Any]] = {
        "hour": hours,
        "until": [hour + 0.5 for hour in hours],
        "at": [clock(slot) for slot in range(len(slots))],
        "divergence": charts.rounded(slots.values()),
    }
    return [
        charts.Figure(
            "Divergence by time of day",
            f"The divergence of the intentions in each half hour; the mean is "
            f"jsd_intention_sequences of the {scoring.DOCUMENTED} reading.",
            (chart,),
            {"slots": data},
        )
    ]
