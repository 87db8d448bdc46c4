"""Gates decided on the scores of a run."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_agentbench.settings.gates import Gate
from pytest_agentbench.settings.settings import Settings

_OPERATORS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


# {reading: {metric: {"value": …, "low": …, "high": …, "reason": …}}}, as in scores.json
Readings = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class GateResult:
    """What became of a gate; ``passed`` is None where the run was cut short."""

    gate: str
    passed: bool | None
    value: float | None
    threshold: float | None
    reason: str | None


def evaluate(
    gate: Gate,
    primary: str,
    readings: Readings,
    baseline: Readings | None,
    deltas: Readings | None,
) -> GateResult:
    """Decides one gate on the scores of a complete run."""
    reading = gate.reading or primary

    def failed(reason: str, value: float | None = None) -> GateResult:
        return GateResult(gate.text, False, value, None, reason)

    if gate.needs_baseline and baseline is None:
        return failed("needs a run to compare with: give --baseline RUN")
    left = deltas if gate.delta else readings
    value, reason = _look_up(left or {}, reading, gate.metric, gate.part)
    if value is None:
        return failed(f"{'the difference in ' if gate.delta else ''}{reason}")
    threshold = gate.number
    if gate.against_baseline:
        reference, reason = _look_up(baseline or {}, reading, gate.metric, "value")
        if reference is None:
            return failed(f"in the baseline, {reason}", value)
        threshold += reference
    passed = bool(_OPERATORS[gate.operator](value, threshold))
    return GateResult(gate.text, passed, value, threshold, None)


def _look_up(readings: Readings, reading: str, metric: str, part: str) -> tuple[float | None, str]:
    """The number a gate speaks of, or why there is none."""
    if reading not in readings:
        return (
            None,
            f"reading {reading!r} does not exist; there are: {', '.join(readings) or 'none'}",
        )
    metrics = readings[reading]
    if metric not in metrics:
        return (
            None,
            f"metric {metric!r} does not exist in {reading}; there are: {', '.join(metrics)}",
        )
    score = metrics[metric]
    if score.get("value") is None:
        return (
            None,
            f"{metric} is absent in this run: {score.get('reason') or 'no reason was given'}",
        )
    if score.get(part) is None:
        return None, f"{metric} has no interval in this run, so no .{part}"
    return float(score[part]), ""


def judge(
    settings: Settings, scores: dict[str, Any], incomplete: str | None
) -> list[dict[str, Any]]:
    """Every gate's result, as it stands in scores.json; none is decided on an incomplete run."""
    if incomplete is not None:
        results = [GateResult(g.text, None, None, None, incomplete) for g in settings.gates]
    else:
        compared = scores.get("baseline") or {}
        results = [
            evaluate(
                gate, settings.reading, scores["readings"],
                compared.get("readings"), compared.get("deltas"),
            )
            for gate in settings.gates
        ]  # fmt: skip
    return [dataclasses.asdict(result) for result in results]
