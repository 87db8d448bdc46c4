"""Gates decided on the scores of a run."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from pytest_agentbench.benchmarks.protocol import Metric, metric_named
from pytest_agentbench.runs.scores_file import GateResult, Group, Readings, Scores
from pytest_agentbench.scoring.groups import LEAST, samples_of, unscored_group, worst_group
from pytest_agentbench.settings.gates import (
    Gate,
    GateError,
    Part,
    combine,
    parse,
    without_worst_group,
)
from pytest_agentbench.settings.settings import Settings

_OPERATORS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}


def evaluate(
    gate: Gate,
    primary: str,
    readings: Readings,
    baseline: Readings | None,
    deltas: Readings | None,
    groups: Sequence[Group] = (),
    metrics: Sequence[Metric] = (),
) -> GateResult:
    """Decides one gate on the scores of a complete run."""
    reading = gate.reading or primary

    def failed(reason: str, value: float | None = None) -> GateResult:
        return GateResult(gate.text, False, value, None, reason)

    if gate.worst_group:
        return _worst(gate, primary, groups, metric_named(metrics, gate.metric))
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


def _worst(gate: Gate, primary: str, groups: Sequence[Group], metric: Metric) -> GateResult:
    """Decides a gate on the worst group."""

    def failed(reason: str, group: str | None = None) -> GateResult:
        return GateResult(gate.text, False, None, None, reason, group)

    if gate.reading not in (None, primary):
        return failed(f"groups are scored in the primary reading alone, which is {primary}")
    if (why := without_worst_group(metric)) is not None:
        return failed(f"{metric.name} has no worst group: {why}")
    unknown = unscored_group(groups, metric)
    if unknown is not None:
        why = unknown.scores[metric.name].reason or "no reason was given"
        group = f"{unknown.kind} {unknown.name}"
        return failed(
            f"{group} may be the worst: not all of it was answered, and {metric.name} is absent ({why})"
        )
    found = worst_group(groups, metric)
    if found is None:
        named = list(dict.fromkeys(name for one in groups for name in one.scores))
        if named and metric.name not in named:
            return failed(f"groups have no metric {metric.name!r}; there are: {', '.join(named)}")
        have = f"; there are {len(groups)} groups" if groups else ", and the samples have no groups"
        return failed(f"no group of {LEAST} or more samples has {metric.name}{have}")
    group = f"{found.kind} {found.name}, {samples_of(found, metric)} samples"
    value = getattr(found.scores[metric.name], gate.part)
    if value is None:
        return failed(f"{metric.name} has no interval there, so no .{gate.part}", group)
    passed = bool(_OPERATORS[gate.operator](value, gate.number))
    return GateResult(gate.text, passed, float(value), gate.number, None, group)


def _look_up(readings: Readings, reading: str, metric: str, part: Part) -> tuple[float | None, str]:
    """The number a gate speaks of, or why there is none."""
    if reading not in readings:
        known = ", ".join(readings) or "none"
        return None, f"reading {reading!r} does not exist; there are: {known}"
    metrics = readings[reading]
    if metric not in metrics:
        known = ", ".join(metrics)
        return None, f"metric {metric!r} does not exist in {reading}; there are: {known}"
    score = metrics[metric]
    if score.value is None:
        return None, f"{metric} is absent in this run: {score.reason or 'no reason was given'}"
    number: float | None = getattr(score, part)
    if number is None:
        return None, f"{metric} has no interval in this run, so no .{part}"
    return float(number), ""


def judged_again(scores: Scores, metrics: Sequence[Metric]) -> tuple[GateResult, ...]:
    """The gates of a stored run, and the one on coverage, decided on its scores.

    One that was recorded as failed stays so, and so does one that is not a condition on scores.
    """
    known, others = [], []
    for recorded in scores.gates:
        try:
            known.append(parse(recorded.gate))
        except GateError:
            others.append(recorded)
    failed = [one for one in scores.gates if one.passed is not True and one not in others]
    theirs = scores.baseline
    baseline, deltas = (None, None) if theirs is None else (theirs.readings, theirs.deltas)
    groups = scores.groups or ()
    decided = (
        evaluate(gate, scores.primary, scores.readings, baseline, deltas, groups, metrics)
        for gate in combine([known])
    )
    return (*others, *failed, *decided)


def judge(settings: Settings, scores: Scores, incomplete: str | None) -> tuple[GateResult, ...]:
    """Every gate's result; none is decided on an incomplete run, and few on a shard."""
    if incomplete is not None:
        return tuple(GateResult(gate.text, None, reason=incomplete) for gate in settings.gates)
    shard = settings.shard
    theirs = scores.baseline
    baseline, deltas = (None, None) if theirs is None else (theirs.readings, theirs.deltas)
    return tuple(
        GateResult(gate.text, None, reason=shard.undecided)
        if shard is not None and gate not in settings.decided_gates
        else evaluate(
            gate, settings.reading, scores.readings, baseline, deltas,
            scores.groups or (), settings.benchmark.metrics,
        )
        for gate in settings.gates
    )  # fmt: skip
