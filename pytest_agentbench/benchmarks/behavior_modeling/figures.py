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
    rows: dict[str, list[Any]] = {
        "cut": [f"top {cut}" for cut in CUTS],
        "value": [rate["value"] for rate in rates],
        "low": [rate.get("low", rate["value"]) for rate in rates],
        "high": [rate.get("high", rate["value"]) for rate in rates],
        # None is not drawn: without candidates there is no chance level.
        "chance": [chance.get(name) for name in HIT_RATES],
    }
    return [
        charts.Figure(
            "Hit rate against chance",
            f"How often the true item is among the first 1, 3 and 5 (bar), with its {INTERVAL} (thin "
            "line); chance (dashed) is a random order of the same candidates.",
            (_hit_rates(),),
            {"rates": rows},
        )
    ]


def _hit_rates() -> dict[str, Any]:
    bar = {"type": "bar", "color": charts.REAL, "fillOpacity": 0.55, "width": {"band": 0.55}}
    dashes = {"type": "rule", "color": charts.GENERATED, "strokeWidth": 3, "strokeDash": [6, 4]}
    return {
        "data": {"name": "rates"},
        "encoding": {
            "x": charts.kind("cut", axis={"labelAngle": 0}),
            "tooltip": [
                charts.kind("cut", "among the"),
                charts.quantity("value", "hit rate", format=".3f"),
                charts.quantity("low", f"{INTERVAL} from", format=".3f"),
                charts.quantity("high", "to", format=".3f"),
                charts.quantity("chance", format=".3f"),
            ],
        },
        "layer": [
            {
                "mark": bar,
                "encoding": {"y": charts.quantity("value", "hit rate", scale={"domain": [0, 1]})},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"y": charts.quantity("low", "hit rate"), "y2": {"field": "high"}},
            },
            {
                "transform": [{"filter": "isValid(datum.chance)"}],
                "mark": dashes,
                "encoding": {
                    "x": charts.kind("cut", bandPosition=0.1),
                    "x2": {"field": "cut", "bandPosition": 0.9},
                    "y": charts.quantity("chance", "hit rate"),
                },
            },
        ],
    }


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
    rows, columns = np.indices(counts.shape)
    most = int(counts.max())
    data = {
        "left": (columns.ravel() + 0.5).tolist(),
        "bottom": (rows.ravel() + 0.5).tolist(),
        "value": counts.ravel().tolist(),
    }
    exact = float(np.mean(true == given))
    return [
        charts.Figure(
            "Stars: true and given",
            f"{len(pairs):,} reviews with a valid answer, stars rounded; {exact:.0%} on the diagonal.",
            (_confusion(most),),
            {"cells": data},
        )
    ]


def _confusion(most: int) -> dict[str, Any]:
    """A heat map with its numbers in it."""
    chart = charts.heat_map("stars of the agent", "true stars", "cells", "reviews", 1)
    squares, around = chart["layer"]
    encoding = squares["encoding"]
    for side in ("x", "y"):
        encoding[side]["axis"] = {"values": list(STARS), "grid": False, "format": "d"}
    encoding["tooltip"] = [charts.quantity("value", "reviews", format=",")]
    middle = [
        {"calculate": f"datum.{low} + 0.5", "as": name}
        for low, name in (("left", "column"), ("bottom", "row"))
    ]
    numbers = {
        "transform": [*middle, {"filter": "datum.value > 0"}],
        "mark": {"type": "text", "tooltip": None, "fontSize": 13},
        "encoding": {
            "x": charts.quantity("column", "stars of the agent"),
            "y": charts.quantity("row", "true stars"),
            "text": charts.quantity("value", format=","),
            # The upper half of the colours is light.
            "color": {
                "condition": {"test": f"2 * datum.value > {most}", "value": "#000000"},
                "value": "#ffffff",
            },
        },
    }
    return {**chart, "layer": [squares, numbers, around]}
