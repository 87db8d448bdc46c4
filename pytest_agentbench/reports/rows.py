"""What reports show, as plain data: built once here, rendered as text, Markdown and HTML elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_agentbench.benchmarks.protocol import Metric, metric_named
from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.reports.text import interval, number, signed, with_interval
from pytest_agentbench.runs.record import STATUSES, Record
from pytest_agentbench.runs.scores_file import Counts, Floor, Score, Scores
from pytest_agentbench.scoring.compare import Difference
from pytest_agentbench.scoring.groups import LEAST, samples_of, worst_group
from pytest_agentbench.settings.gates import COVERAGE
from pytest_agentbench.settings.sharding import Shard

GATE_WORDS = {True: "passed", False: "failed", None: "not decided"}
PRIMARY_NOTE = "* the primary reading: gates and the headline use it"
VERDICT_MARKS = {"better": "▲", "worse": "▼", "changed": "↔", "same": "=", "unclear": "≈"}
DIFFERENCE_HEAD = ("metric", "before", "after", "difference", INTERVAL, "verdict")


@dataclass(frozen=True)
class MetricRow:
    metric: Metric
    scores: tuple[Score, ...]  # one for each reading

    @property
    def label(self) -> str:
        return labelled(self.metric.name, self.metric.unit)


@dataclass(frozen=True)
class MetricTable:
    """Metrics down, readings across; the first reading gives the rows."""

    readings: tuple[str, ...]
    rows: tuple[MetricRow, ...]


def metric_tables(scores: Scores, metrics: Sequence[Metric]) -> list[MetricTable]:
    """Every metric of a run; ``metrics`` (the benchmark's) tell direction and unit.

    Readings of the same metrics stand side by side, the primary one first; those of other metrics
    have a table of their own, below.
    """
    left = sorted(scores.readings, key=lambda reading: reading != scores.primary)
    tables: list[MetricTable] = []
    while left:
        names = _names(scores, left[0])
        readings = tuple(r for r in left if r == left[0] or names & _names(scores, r))
        left = [reading for reading in left if reading not in readings]
        rows = (
            MetricRow(
                metric_named(metrics, name),
                tuple(scores.metric(name, reading) for reading in readings),
            )
            for name in scores.readings[readings[0]]
            if not tables or name in names
        )
        tables.append(MetricTable(readings, tuple(rows)))
    return tables


def _names(scores: Scores, reading: str) -> set[str]:
    return {name for name in scores.readings[reading] if name != COVERAGE.metric}


def labelled(name: str, unit: str) -> str:
    """``dtw (km)``"""
    return f"{name} ({unit})" if unit else name


def absences(table: MetricTable) -> list[str]:
    """Why metrics of the table's first reading have no value, one line for each reason."""
    found = by_reason(
        (row.metric.name, row.scores[0].reason) for row in table.rows if row.scores[0].value is None
    )
    return [
        f"{names} {'are' if ', ' in names else 'is'} absent: {reason}"
        for reason, names in found.items()
    ]


def by_reason(absent: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """``{reason: "a, b"}``: names that are absent for the same reason stand together, each once."""
    found: dict[str, dict[str, None]] = {}
    for name, reason in absent:
        found.setdefault(str(reason), {})[name] = None
    return {reason: ", ".join(names) for reason, names in found.items()}


def counts(samples: Counts) -> str:
    """``118 ok, 2 invalid``"""
    shown = [status for status in STATUSES if samples.of(status) or status == "ok"]
    return ", ".join(f"{samples.of(status)} {status}" for status in shown)


def shard_note(shard: Shard) -> str:
    """What a run says of itself that asked a part of the samples."""
    return f"{shard} ({shard.by}): gates are decided on all shards together, by agentbench merge"


def epochs_note(scores: Scores, headline: str) -> str | None:
    """The headline of every epoch, where there are several."""
    if not scores.epochs:
        return None
    values = [epoch.get(scores.primary, {}).get(headline) for epoch in scores.epochs]
    shown = ", ".join(map(number, values))
    return f"means over {len(values)} epochs; {headline} of each: {shown}"


BETTER = {"higher": "higher", "lower": "lower", "zero": "near 0", "none": ""}  # in a column


@dataclass(frozen=True)
class GroupTable:
    """Groups down; the headline and coverage across."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str


def group_table(scores: Scores, metrics: Sequence[Metric], headline: str) -> GroupTable | None:
    """The groups of a run with their headline; None where there are none."""
    if not scores.groups:
        return None
    metric = metric_named(metrics, headline)
    worst = worst_group(scores.groups, metric)
    rows = []
    for group in scores.groups:
        score = group.scores.get(headline) or Score()
        mark = " (worst)" if group is worst else ""
        rows.append(
            (
                f"{group.kind}: {group.name}{mark}", str(samples_of(group, metric)), number(score.value),
                interval(score.low, score.high),
                number((group.scores.get(COVERAGE.metric) or Score()).value),
            )
        )  # fmt: skip
    note = f"reading {scores.primary}; a group under {LEAST} samples cannot be the worst"
    return GroupTable(("group", "samples", headline, INTERVAL, "coverage"), tuple(rows), note)


def worst_group_note(scores: Scores, metrics: Sequence[Metric], headline: str) -> str | None:
    """``worst group: source yelp, final_score 56.62 [49.83 .. 62.90] in 40 samples``"""
    metric = metric_named(metrics, headline)
    worst = worst_group(scores.groups or (), metric)
    if worst is None:
        return None
    value = with_interval(worst.scores[headline])
    samples = samples_of(worst, metric)
    return f"worst group: {worst.kind} {worst.name}, {headline} {value} in {samples} samples"


def difference_cells(difference: Difference) -> list[str]:
    """The cells below :data:`DIFFERENCE_HEAD`."""
    return [
        labelled(difference.metric, difference.unit),
        number(difference.before),
        number(difference.after),
        signed(difference.value),
        interval(difference.low, difference.high, sign=True),
        "" if difference.value is None else difference.verdict,
    ]


def floor_note(found: Sequence[Floor], reading: str, metric: str) -> str | None:
    """``floor: builtin:mean 0.0877, builtin:mode 0.5356 (left out: builtin:bigram: …)``.

    Where no baseline has the metric (it may need what is not installed), the first one they have.
    """
    done = [floor for floor in found if not floor.skipped]
    metrics = [metric, *(done[0].readings.get(reading, {}) if done else ())]
    shown: list[str] = []
    for name in metrics:
        values = [(floor.agent, floor.readings.get(reading, {}).get(name)) for floor in done]
        shown = [f"{agent} {number(value)}" for agent, value in values if value is not None]
        if shown:
            metric = f"floor ({name})" if name != metric else "floor"
            break
    left_out = [floor for floor in found if floor.skipped]
    if not shown and not left_out:
        return None
    text = f"{metric}: {', '.join(shown)}" if shown else "floor: not computed"
    if left_out:
        reasons = dict.fromkeys(str(floor.skipped) for floor in left_out)
        names = ", ".join(floor.agent for floor in left_out)
        text += f" (left out: {names}: {'; '.join(reasons)})"
    return text


def missing_note(records: Iterable[Record]) -> str | None:
    """``17 samples: the agent asked for a model, and none is configured; …``: what the run did not have."""
    found: Counter[str] = Counter()
    for record in records:
        found.update(record.missing)
    parts = [
        f"{count} {'sample' if count == 1 else 'samples'}: the agent asked for {what}"
        for what, count in found.most_common()
    ]
    return "; ".join(parts) or None
