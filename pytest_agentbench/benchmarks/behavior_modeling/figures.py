"""The figures of a BehaviorModeling run: hits against chance, and stars given against stars true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks import figures as charts
from pytest_agentbench.benchmarks.behavior_modeling.data import BehaviorDataset
from pytest_agentbench.benchmarks.behavior_modeling.measured import HIT_RATES
from pytest_agentbench.benchmarks.behavior_modeling.tasks import REVIEW
from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.metrics.divergence import round_half_up
from pytest_agentbench.metrics.hit_rate import CUTS

if TYPE_CHECKING:
    from pytest_agentbench.runs.record import Record

STARS = range(1, 6)


def figures(
    dataset: BehaviorDataset, records: Sequence[Record], scores: Mapping[str, Any]
) -> Sequence[charts.Figure]:
    """The figures for which the run has samples."""
    return [*hit_rates(scores), *star_confusion(dataset, records)]


def hit_rates(scores: Mapping[str, Any]) -> list[charts.Figure]:
    """Hit rate at 1, 3 and 5 with its interval, and what a random order would hit."""
    found = scores["readings"][scores["primary"]]
    chance = scores["details"].get("chance") or {}
    rates = [found.get(name) or {} for name in HIT_RATES]
    if any(rate.get("value") is None for rate in rates):
        return []
    values = [rate["value"] for rate in rates]
    rows = charts.source(
        {
            "cut": [f"top {cut}" for cut in CUTS],
            "value": values,
            "low": [rate.get("low", rate["value"]) for rate in rates],
            "high": [rate.get("high", rate["value"]) for rate in rates],
            # NaN is not drawn: without candidates there is no chance level.
            "chance": [chance.get(name, float("nan")) for name in HIT_RATES],
        }
    )
    made = charts.plot("", "hit rate", x_range=list(rows.data["cut"]), y_range=(0, 1))
    made.xgrid.visible = False
    drawn = made.vbar(
        x="cut", top="value", width=0.55, source=rows, color=charts.REAL, fill_alpha=0.55
    )
    made.segment(
        x0="cut", y0="low", x1="cut", y1="high", source=rows, color="#808080", line_width=3
    )
    made.scatter(
        x="cut",
        y="chance",
        marker="dash",
        size=70,
        source=rows,
        color=charts.GENERATED,
        line_width=4,
    )
    charts.hover(
        made, drawn,
        [("hit rate", "@value{0.000}"), (INTERVAL, "@low{0.000} to @high{0.000}"),
         ("chance", "@chance{0.000}")],
    )  # fmt: skip
    return [
        charts.Figure(
            "Hit rate against chance",
            f"How often the true item is among the first 1, 3 and 5, with its {INTERVAL}; chance "
            "is a random order of the same candidates.",
            (made,),
            charts.legend({"agent": charts.REAL, "chance": charts.GENERATED}),
        )
    ]


def star_confusion(dataset: BehaviorDataset, records: Sequence[Record]) -> list[charts.Figure]:
    """How many reviews of each true rating were given which stars."""
    if not dataset.truth_known:
        return []
    pairs = [
        (dataset.task_of(record.sample).truth["stars"], record.answer["stars"])
        for record in records
        if record.status == "ok" and dataset.task_of(record.sample).target == REVIEW
    ]
    if not pairs:
        return []
    true, given = round_half_up(np.array(pairs, np.float64).T).astype(int)
    counts = np.zeros((len(STARS), len(STARS)), int)
    np.add.at(counts, (true - 1, given - 1), 1)
    cells = [(column, row) for row in STARS for column in STARS]
    numbers = [int(counts[row - 1, column - 1]) for column, row in cells]
    columns: dict[str, list[Any]] = {
        "left": [column - 0.5 for column, _ in cells],
        "right": [column + 0.5 for column, _ in cells],
        "bottom": [row - 0.5 for _, row in cells],
        "top": [row + 0.5 for _, row in cells],
        "value": numbers,
        "n": numbers,
    }
    made = charts.heat_map("stars of the agent", "true stars", columns, "reviews", height=360)
    made.xaxis.ticker = made.yaxis.ticker = list(STARS)
    # The upper half of the colours is light.
    dark = [2 * number > max(numbers) for number in numbers]
    made.text(
        x=[column for column, _ in cells], y=[row for _, row in cells],
        text=[str(number) if number else "" for number in numbers],
        text_color=["#000000" if light else "#ffffff" for light in dark],
        text_align="center", text_baseline="middle",
    )  # fmt: skip
    exact = float(np.mean(true == given))
    return [
        charts.Figure(
            "Stars: true and given",
            f"{len(pairs):,} reviews with a valid answer, stars rounded; {exact:.0%} on the diagonal.",
            (made,),
        )
    ]
