"""The figures of a DailyMobility run: the real population beside the generated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks import figures as charts
from pytest_agentbench.benchmarks.daily_mobility import scoring
from pytest_agentbench.benchmarks.daily_mobility.data import DailyMobilityDataset
from pytest_agentbench.benchmarks.daily_mobility.intentions import LABELS, SLOTS, clock
from pytest_agentbench.benchmarks.daily_mobility.population import Population
from pytest_agentbench.metrics.divergence import BINS, bin_numbers, round_half_up

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.runs.record import Record

    Floats = npt.NDArray[np.float64]

COLOURS = dict(zip(LABELS, charts.KINDS, strict=True))
OPEN_ENDS = "The outermost bars hold all that lies outside the range of the real values."


def figures(
    dataset: DailyMobilityDataset, records: Sequence[Record], scores: Mapping[str, Any]
) -> Sequence[charts.Figure]:
    """All figures of the valid answers; none without valid answers."""
    valid = [record.answer for record in records if record.status == "ok"]
    if not valid:
        return []
    truth, answers = dataset.truth, Population.from_answers(valid)
    return [
        by_time_of_day(truth, answers),
        gyration_radius(truth, answers),
        location_numbers(truth, answers),
        proportions(truth, answers),
        *divergence_by_slot(scores),
    ]


def by_time_of_day(truth: Population, answers: Population) -> charts.Figure:
    """What people do in each half hour, as shares that fill the height."""
    return charts.Figure(
        "Intention by time of day",
        f"Share of people in each half hour: {len(truth.intention_sequences):,} real people, then "
        f"{len(answers.intention_sequences):,} generated ones.",
        (_areas("real", truth), _areas("generated", answers)),
        charts.legend(COLOURS),
    )


def _areas(name: str, people: Population) -> Any:
    codes = people.intention_sequences
    shares = np.stack([(codes == code).mean(axis=0) for code in range(1, len(LABELS) + 1)])
    tops = np.vstack([np.zeros(SLOTS), shares.cumsum(axis=0)])
    made = charts.plot(
        f"{name}: hour of the day", "share of people", x_range=(0, 24), y_range=(0, 1)
    )
    made.xaxis.ticker = list(range(0, 25, 4))
    hours = (np.arange(SLOTS) / 2).tolist()
    for number, (label, colour) in enumerate(COLOURS.items()):
        steps = charts.source(
            {
                "left": hours,
                "right": [hour + 0.5 for hour in hours],
                "bottom": charts.rounded(tops[number]),
                "top": charts.rounded(tops[number + 1]),
                "share": charts.rounded(shares[number]),
                "at": [clock(slot) for slot in range(SLOTS)],
            }
        )
        # Steps: a half hour has one value.
        drawn = made.quad(
            left="left", right="right", bottom="bottom", top="top", source=steps,
            fill_color=colour, line_color=colour, line_width=0.5,
        )  # fmt: skip
        charts.hover(made, drawn, [(label, "@share{0.0%}"), (name, "@at")])
    return made


def gyration_radius(truth: Population, answers: Population) -> charts.Figure:
    """How far people go, in the bins that the score uses, open ends included."""
    low, high = float(truth.gyration_radius.min()), float(truth.gyration_radius.max())
    return charts.Figure(
        "Gyration radius",
        f"Mean distance of a person's places from their middle. {OPEN_ENDS}",
        (
            charts.pair_of_histograms(
                "km",
                _binned(truth.gyration_radius, low, high, scale=0.001),
                _binned(answers.gyration_radius, low, high, scale=0.001),
            ),
        ),
        charts.legend(charts.PAIR_LEGEND),
    )


def _binned(values: Floats, low: float, high: float, scale: float = 1.0) -> dict[str, list[float]]:
    if low == high:  # as bin_numbers widens it
        low, high = low - 0.5, high + 0.5
    counts = np.bincount(bin_numbers(values, low, high), minlength=BINS + 2)
    width = (high - low) / BINS
    edges = (low + width * np.arange(-1, BINS + 2)) * scale
    return charts.bars(edges.tolist(), (counts / len(values)).tolist())


def location_numbers(truth: Population, answers: Population) -> charts.Figure:
    """Places a day, rounded as the score rounds them."""
    real = round_half_up(truth.daily_location_numbers)
    given = round_half_up(answers.daily_location_numbers)
    last = int(real.max()) + 1  # one bar more for all that is above

    def shares(values: Floats) -> dict[str, list[float]]:
        counts = np.bincount(np.minimum(values, last).astype(int), minlength=last + 1)
        edges = np.arange(last + 2) - 0.5
        return charts.bars(edges.tolist(), (counts / len(values)).tolist())

    return charts.Figure(
        "Places a day",
        f"Number of different places visited in a day, rounded; the last bar is {last} or more.",
        (charts.pair_of_histograms("places", shares(real), shares(given)),),
        charts.legend(charts.PAIR_LEGEND),
    )


def proportions(truth: Population, answers: Population) -> charts.Figure:
    """The share of the day that goes to each intention."""
    frames = {}
    for column, label in enumerate(LABELS):
        frames[label] = {
            "real": _binned(truth.intention_proportions[:, column], 0.0, 1.0),
            "generated": _binned(answers.intention_proportions[:, column], 0.0, 1.0),
        }
    first = next(iter(frames.values()))
    return charts.Figure(
        "Share of the day",
        "Share of a person's day that goes to the intention in the picker.",
        (charts.pair_of_histograms("share of the day", first["real"], first["generated"]),),
        charts.legend(charts.PAIR_LEGEND),
        charts.Picker(("intention",), frames),
    )


def divergence_by_slot(scores: Mapping[str, Any]) -> list[charts.Figure]:
    """Where in the day the two populations differ, from the run's own diagnostics."""
    slots = scores["details"].get("slots")
    if not slots:
        return []
    made = charts.plot("hour of the day", "divergence (0 to 1)", x_range=(0, 24))
    made.xaxis.ticker = list(range(0, 25, 4))
    made.y_range.start = 0
    hours = [slot / 2 for slot in range(len(slots))]
    drawn = made.quad(
        left=hours, right=[hour + 0.5 for hour in hours], bottom=0, top=charts.rounded(slots.values()),
        color=charts.GENERATED, fill_alpha=0.5,
    )  # fmt: skip
    charts.hover(made, drawn, [("from", "@left"), ("divergence", "@top{0.000}")])
    return [
        charts.Figure(
            "Divergence by time of day",
            f"The divergence of the intentions in each half hour; the mean is "
            f"jsd_intention_sequences of the {scoring.DOCUMENTED} reading.",
            (made,),
        )
    ]
