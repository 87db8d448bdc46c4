"""Runs ranked by their headline.

Runs stand in one table if benchmark, mode, reading, data, conditions and the samples asked are the
same. A run shares a rank with the best run of that rank if the paired difference between the two is
not clear: its interval holds 0. Without the data, runs can neither be paired nor measured again; then
they share a rank if their intervals overlap, which separates fewer of them. The table says which way was
used.

A run that was cut short, failed a gate or does not agree with its own answers has no rank: it is listed
apart, with the reason.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Dataset, Metric, metric_named
from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.runs import stored
from pytest_agentbench.runs.scores_file import Score
from pytest_agentbench.runs.stored import StoredRun
from pytest_agentbench.scoring import compare, judge
from pytest_agentbench.scoring.points import cost_per_point
from pytest_agentbench.scoring.verify import verified
from pytest_agentbench.settings.settings import Settings

Tie = Callable[[StoredRun, StoredRun], bool]


@dataclasses.dataclass(frozen=True)
class Row:
    rank: int
    tied: bool  # shares the rank with another
    run: StoredRun
    score: Score  # of the headline
    cost_per_point: float | None = None  # of what its models cost when they were asked


@dataclasses.dataclass(frozen=True)
class Table:
    """Runs that may be compared, best first."""

    identity: Mapping[str, str]
    metric: str
    better: str
    samples: int
    ties: str  # how ties were found
    rows: tuple[Row, ...]
    recorded: str = ""  # why the scores are as recorded; empty where they were computed again


@dataclasses.dataclass(frozen=True)
class Unranked:
    """A run without a rank, and why."""

    run: StoredRun
    metric: str  # its headline; empty where nobody knows it
    why: str


@dataclasses.dataclass(frozen=True)
class Leaderboard:
    tables: tuple[Table, ...]
    unranked: tuple[Unranked, ...]
    left_out: tuple[str, ...] = ()  # lines about folders that hold no run that can be read


def leaderboard(runs: Sequence[StoredRun], dataset: str | None = None) -> Leaderboard:
    """Ranks runs; ``dataset`` says where their data lie now."""
    groups: dict[tuple[tuple[str, str], ...], list[StoredRun]] = {}
    unranked: list[Unranked] = []
    for run in runs:
        metric = ""
        try:
            metric = run.scores.headline(stored.benchmark_of(run).headlines)
            if run.scores.incomplete:
                raise BenchmarkError(f"incomplete: {run.scores.incomplete}")
            if run.scores.shard is not None:
                raise BenchmarkError(
                    f"{run.scores.shard}: agentbench merge makes one run of them all"
                )
            identity = {**compare.identity(run.scores), "samples asked": _asked(run)}
        except BenchmarkError as error:
            unranked.append(Unranked(run, metric, str(error)))
        else:
            groups.setdefault(tuple(identity.items()), []).append(run)
    tables = []
    for same, own in groups.items():
        data = _data(own, dataset)
        measured = [_measured(run, data) for run in own]
        fine = [one for one in measured if isinstance(one, StoredRun)]
        passed = [run for run in fine if _failed_gate(run) is None]
        metric = _headline(passed or fine or own)
        found = [one for one in measured if isinstance(one, Unranked)]
        for run in fine:
            why = _failed_gate(run) or _absent(run, metric)
            if why is not None:
                found.append(Unranked(run, metric, why))
        unranked += found
        ranked = [run for run in passed if _absent(run, metric) is None]
        if ranked:
            tables.append(_table(dict(same), ranked, metric, data))
    tables.sort(key=lambda table: -len(table.rows))
    return Leaderboard(tuple(tables), tuple(unranked))


# Where the data of some runs are, or why they cannot be loaded.
Data = tuple[Settings, Dataset] | str


def _data(runs: Sequence[StoredRun], dataset: str | None) -> Data:
    """The data, from wherever one of these runs still finds them."""
    problem = ""
    for run in runs:
        try:
            settings = stored.settings_of(run, dataset)
            return settings, stored.load_data(run, settings)
        except BenchmarkError as error:
            problem = problem or str(error)
    return problem


def _measured(run: StoredRun, data: Data) -> StoredRun | Unranked:
    """The run as its answers are; without a rank if its files say otherwise."""
    if isinstance(data, str):
        return run
    metric = run.scores.headline(data[0].benchmark.headlines)
    try:
        with stored.blamed_on(run):
            again = verified(run, *data)
    except BenchmarkError as error:
        return Unranked(run, metric, str(error))
    return Unranked(again, metric, "; ".join(again.notes)) if again.notes else again


def _failed_gate(run: StoredRun) -> str | None:
    """The first gate that the run failed, as recorded or decided on its scores; None if it passed all.

    The gate on coverage counts whatever the file says: one that answered little may not come first.
    """
    for gate in judge.judged_again(run.scores, stored.benchmark_of(run).metrics):
        if gate.passed is not True:
            return f"gate {gate.gate}: {gate.failure or gate.reason}"
    return None


def _headline(runs: Sequence[StoredRun]) -> str:
    """The best headline that one of these runs has."""
    names = stored.benchmark_of(runs[0]).headlines
    return min((run.scores.headline(names) for run in runs), key=names.index)


def _absent(run: StoredRun, metric: str) -> str | None:
    score = run.scores.metric(metric)
    return f"{metric} is absent: {score.reason}" if score.value is None else None


def _asked(run: StoredRun) -> str:
    """The samples and how often each was asked, as one digest."""
    asked = sorted((record.sample, record.epoch) for record in run.records)
    return hashlib.sha256(repr(asked).encode()).hexdigest()


def _table(identity: dict[str, str], runs: Sequence[StoredRun], metric: str, data: Data) -> Table:
    benchmark = stored.benchmark_of(runs[0])
    known = metric_named(benchmark.metrics, metric)
    better = known.better
    sign = -1 if better == "higher" else 1

    def order(run: StoredRun) -> tuple[float, str]:
        value = run.scores.metric(metric).value
        assert value is not None  # a run without a value has no rank
        return sign * value, run.started

    ordered = sorted(runs, key=order)
    tie, how = _tie(metric, data) if len(ordered) > 1 else (_overlap(metric), "")
    try:
        ranks = _ranks(ordered, tie)
    except BenchmarkError as error:  # the records of one do not fit the benchmark
        tie, how = _overlap(metric), _not_paired(str(error))
        ranks = _ranks(ordered, tie)
    rows = tuple(
        Row(
            rank,
            ranks.count(rank) > 1,
            run,
            run.scores.metric(metric),
            _cost_per_point(run, known),
        )
        for rank, run in zip(ranks, ordered, strict=True)
    )
    total = runs[0].scores.samples.total
    recorded = data if isinstance(data, str) else ""
    return Table(identity, metric, better, total, how, rows, recorded)


def _cost_per_point(run: StoredRun, metric: Metric) -> float | None:
    use = run.scores.model_use
    cost = None if use is None else use.whole_cost
    return cost_per_point(cost, run.scores.metric(metric.name).value, metric)


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


def _tie(metric: str, data: Data) -> tuple[Tie, str]:
    """Ties by the paired difference, if the data are here."""
    if isinstance(data, str):
        return _overlap(metric), _not_paired(data)
    how = f"the {INTERVAL} of the paired difference to the first of the rank holds 0"
    return _paired(*data, metric), f"ties: {how}"


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
