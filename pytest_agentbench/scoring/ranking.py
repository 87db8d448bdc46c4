"""Runs ranked by their headline.

Runs stand in one table if benchmark, mode, reading, data, conditions and the samples asked are the
same. A run shares a rank with the best run of that rank if the paired difference between the two is
not clear: its interval holds 0. Without the data, runs cannot be paired; then they share a rank if
their intervals overlap, which separates fewer of them. The table says which way was used.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Dataset, metric_named
from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.runs import stored
from pytest_agentbench.runs.scores_file import Score
from pytest_agentbench.runs.stored import StoredRun
from pytest_agentbench.scoring import compare
from pytest_agentbench.settings.settings import Settings

Tie = Callable[[StoredRun, StoredRun], bool]


@dataclasses.dataclass(frozen=True)
class Row:
    rank: int
    tied: bool  # shares the rank with another
    run: StoredRun
    score: Score  # of the headline


@dataclasses.dataclass(frozen=True)
class Table:
    """Runs that may be compared, best first."""

    identity: Mapping[str, str]
    metric: str
    better: str
    samples: int
    ties: str  # how ties were found
    rows: tuple[Row, ...]


@dataclasses.dataclass(frozen=True)
class Leaderboard:
    tables: tuple[Table, ...]
    left_out: tuple[str, ...]  # runs without a rank, and why


def leaderboard(runs: Sequence[StoredRun], dataset: str | None = None) -> Leaderboard:
    """Ranks runs; ``dataset`` says where their data lie now."""
    groups: dict[tuple[tuple[str, str], ...], list[StoredRun]] = {}
    left_out = []
    for run in runs:
        try:
            metric = run.scores.headline(stored.benchmark_of(run).headlines)
            why = _unranked(run, metric)
            asked = "" if why else _asked(run)
        except BenchmarkError as error:
            why = str(error)
        if why:
            left_out.append(f"{run.name} ({run.agent}): {why}")
        else:
            identity = {**compare.identity(run.scores), "samples asked": asked}
            groups.setdefault(tuple(identity.items()), []).append(run)
    tables = []
    for same, own in groups.items():
        metric = _headline(own)
        ranked = [run for run in own if _unranked(run, metric) is None]
        left_out += [
            f"{run.name} ({run.agent}): {_unranked(run, metric)}"
            for run in own
            if run not in ranked
        ]
        tables.append(_table(dict(same), ranked, metric, dataset))
    tables.sort(key=lambda table: -len(table.rows))
    return Leaderboard(tuple(tables), tuple(left_out))


def _headline(runs: Sequence[StoredRun]) -> str:
    """The best headline that one of these runs has."""
    names = stored.benchmark_of(runs[0]).headlines
    return min((run.scores.headline(names) for run in runs), key=names.index)


def _unranked(run: StoredRun, metric: str) -> str | None:
    if run.scores.incomplete:
        return f"incomplete: {run.scores.incomplete}"
    score = run.scores.metric(metric)
    return f"{metric} is absent: {score.reason}" if score.value is None else None


def _asked(run: StoredRun) -> str:
    """The samples and how often each was asked, as one digest."""
    asked = sorted((record.sample, record.epoch) for record in run.records)
    return hashlib.sha256(repr(asked).encode()).hexdigest()


def _table(
    identity: dict[str, str], runs: Sequence[StoredRun], metric: str, dataset: str | None
) -> Table:
    benchmark = stored.benchmark_of(runs[0])
    better = metric_named(benchmark.metrics, metric).better
    sign = -1 if better == "higher" else 1

    def order(run: StoredRun) -> tuple[float, str]:
        value = run.scores.metric(metric).value
        assert value is not None  # a run without a value has no rank
        return sign * value, run.started

    ordered = sorted(runs, key=order)
    tie, how = _tie(ordered, metric, dataset) if len(ordered) > 1 else (_overlap(metric), "")
    try:
        ranks = _ranks(ordered, tie)
    except BenchmarkError as error:  # the records of one do not fit the benchmark
        tie, how = _overlap(metric), _not_paired(str(error))
        ranks = _ranks(ordered, tie)
    rows = tuple(
        Row(rank, ranks.count(rank) > 1, run, run.scores.metric(metric))
        for rank, run in zip(ranks, ordered, strict=True)
    )
    return Table(identity, metric, better, runs[0].scores.samples.total, how, rows)


def _ranks(ordered: Sequence[StoredRun], tie: Tie) -> list[int]:
    """The rank of each run; one that ties with the first of a rank shares it."""
    ranks: list[int] = []
    first = ordered[0]
    for place, run in enumerate(ordered, start=1):
        if place == 1 or not tie(first, run):
            first = run
            ranks.append(place)
        else:
            ranks.append(ranks[-1])
    return ranks


def _not_paired(problem: str) -> str:
    return f"ties: the {INTERVAL}s overlap (not paired: {problem})"


def _tie(runs: Sequence[StoredRun], metric: str, dataset: str | None) -> tuple[Tie, str]:
    """Ties by the paired difference, if the data of one of the runs can be loaded."""
    problem = ""
    for run in runs:
        try:
            settings = stored.settings_of(run, dataset)
            data = stored.load_data(run, settings)
        except BenchmarkError as error:
            problem = problem or str(error)
        else:
            how = f"the {INTERVAL} of the paired difference to the first of the rank holds 0"
            return _paired(settings, data, metric), f"ties: {how}"
    return _overlap(metric), _not_paired(problem)


def _paired(settings: Settings, data: Dataset, metric: str) -> Tie:
    def tie(first: StoredRun, second: StoredRun) -> bool:
        with stored.blamed_on(first, second):
            found = compare.paired_scores(first, second, settings, data).baseline
        assert found is not None
        delta = found.deltas[settings.reading][metric]
        return not compare.is_clear(delta.low, delta.high)

    return tie


def _overlap(metric: str) -> Tie:
    def tie(first: StoredRun, second: StoredRun) -> bool:
        one, two = first.scores.metric(metric), second.scores.metric(metric)
        if one.low is None or one.high is None or two.low is None or two.high is None:
            return True
        return one.low <= two.high and two.low <= one.high

    return tie
