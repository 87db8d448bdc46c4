"""Gates: conditions on the scores that decide whether a run passes.

final_score >= 60                     the primary reading's value
final_score.low >= 55                 the lower end of its 95 % interval
published-0.1.4:final_score >= 58     another reading's
final_score >= baseline - 1.5         against the same metric of the run named by --baseline
delta(final_score).low >= -0.02       the paired difference to that run
worst_group(final_score) >= 40        the value of the group that is served worst
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.protocol import Benchmark, Metric

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_GATE = re.compile(
    rf"""\s*(?:(?P<reading>[\w.-]+)\s*:\s*)?
    (?:delta\(\s*(?P<delta>[A-Za-z_]\w*)\s*\)|worst_group\(\s*(?P<worst>[A-Za-z_]\w*)\s*\)
    |(?P<metric>[A-Za-z_]\w*))
    (?:\.(?P<part>low|high))?
    \s*(?P<operator>>=|<=|==|>|<)\s*
    (?:(?P<number>{_NUMBER})|(?P<baseline>baseline)(?:\s*(?P<sign>[+-])\s*(?P<margin>{_NUMBER}))?)
    \s*""",
    re.VERBOSE,
)
_EXPECTED = (
    "METRIC OP NUMBER with OP one of >= <= == > <, where METRIC may be READING:METRIC, METRIC.low, "
    "METRIC.high, delta(METRIC) or worst_group(METRIC), and NUMBER may be 'baseline', 'baseline - N' or 'baseline + N'"
)


Part = Literal["value", "low", "high"]


class GateError(ValueError):
    """A gate that cannot be read."""


@dataclass(frozen=True)
class Gate:
    """One condition, read from its text."""

    text: str
    reading: str | None
    metric: str
    delta: bool
    part: Part
    operator: str
    number: float  # the threshold, or the margin added to the baseline's value
    against_baseline: bool
    worst_group: bool = False

    @property
    def needs_baseline(self) -> bool:
        return self.delta or self.against_baseline

    @property
    def subject(self) -> tuple[object, ...]:
        """What a gate is about: a later gate about the same replaces an earlier one."""
        about = (self.reading, self.metric, self.delta, self.worst_group)
        return (*about, self.part, self.operator[0])


def parse(text: str) -> Gate:
    """Reads one gate.

    >>> parse("2025:geobleu.low >= 0.2").metric
    'geobleu'
    """
    match = _GATE.fullmatch(text)
    if match is None:
        raise GateError(f"expected {_EXPECTED}; got {text!r}")
    if match["delta"] and match["baseline"]:
        raise GateError(
            f"expected a number after the comparison, as delta() is already a difference to the "
            f"baseline; got {text!r}"
        )
    if match["worst"] and match["baseline"]:
        raise GateError(
            f"expected a number after the comparison, as worst_group() is not compared with the "
            f"baseline; got {text!r}"
        )
    number = float(match["number"] or match["margin"] or 0.0)
    if not math.isfinite(number):
        raise GateError(f"expected a number that a float can hold; got {text!r}")
    return Gate(
        text=" ".join(text.split()),
        reading=match["reading"],
        metric=match["delta"] or match["worst"] or match["metric"],
        delta=match["delta"] is not None,
        part=cast("Part", match["part"] or "value"),
        operator=match["operator"],
        number=-number if match["sign"] == "-" else number,
        against_baseline=match["baseline"] is not None,
        worst_group=match["worst"] is not None,
    )


COVERAGE = parse("coverage >= 1")


def combine(layers: Iterable[Iterable[Gate]]) -> tuple[Gate, ...]:
    """All gates, where a later layer's gate replaces an earlier layer's about the same subject.

    Within a layer every gate counts. ``coverage >= 1`` stands unless another gate bounds coverage from
    below: ``coverage <= 1`` or ``coverage.high >= 0.9`` would let a run pass that answered nothing.
    """
    gates: list[Gate] = []
    for layer in layers:
        given = list(layer)
        subjects = {gate.subject for gate in given}
        gates = [g for g in gates if g.subject not in subjects] + given
    if not any(map(_bounds_coverage, gates)):
        gates.insert(0, COVERAGE)
    return tuple(gates)


def mistake(gate: Gate, benchmark: Benchmark, primary: str) -> str | None:
    """Why no run of the benchmark can ever pass a gate: what it names does not exist; None where that is not sure.

    ``primary`` is the reading of gates that name none.
    """
    if gate.reading is not None and gate.reading not in benchmark.readings:
        return _unknown("reading", gate.reading, benchmark.readings, benchmark.name, gate)
    metrics = {metric.name: metric for metric in benchmark.metrics}
    metric = metrics.get(gate.metric)
    if metric is None and gate.metric != COVERAGE.metric and benchmark.lists_all_metrics:
        known = (*metrics, COVERAGE.metric)
        return _unknown("metric", gate.metric, known, benchmark.name, gate)
    if gate.worst_group:
        if gate.reading not in (None, primary):
            return (
                f"expected worst_group() in the primary reading, which is {primary}: groups are scored "
                f"there alone; got {gate.text!r}"
            )
        if metric is not None and (why := without_worst_group(metric)):
            return f"expected a metric that has a worst group, got {gate.text!r}: {why}"
    return None


def without_worst_group(metric: Metric) -> str | None:
    """Why no group is the worst by a metric; None where one is."""
    if metric.better == "none":
        return "no value of it is better"
    return "groups do not have it" if metric.pooled else None


def _unknown(kind: str, name: str, known: Sequence[str], benchmark: str, gate: Gate) -> str:
    from difflib import get_close_matches  # only to explain a mistake

    close = get_close_matches(name, known, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    return f"expected a {kind} of {benchmark} ({', '.join(known)}), got {name!r} in {gate.text!r}{hint}"


def _bounds_coverage(gate: Gate) -> bool:
    """Whether a gate says how much coverage a run must have at least, whatever the baseline had.

    One that is true of a run without answers does not: ``coverage >= 0``, ``coverage == 0``.
    """
    if gate.metric != COVERAGE.metric or gate.reading is not None or gate.part == "high":
        return False
    if gate.delta or gate.worst_group or gate.against_baseline:
        return False
    if gate.operator == ">":
        return gate.number >= 0
    return gate.operator in (">=", "==") and gate.number > 0
