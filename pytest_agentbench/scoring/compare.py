"""Two runs on the same samples: the paired difference of every metric, and what changed where.

The first run is the one before, the second the one after; a difference is after minus before.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Better, Dataset, Metric, metric_named
from pytest_agentbench.metrics import bootstrap
from pytest_agentbench.runs import names, run_folder, stored
from pytest_agentbench.runs.collector import Place
from pytest_agentbench.runs.model_use import ModelUse
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.scores_file import Change, DataFacts, SampleChanges, Score, Scores
from pytest_agentbench.runs.stored import StoredRun
from pytest_agentbench.scoring import scores
from pytest_agentbench.scoring.verify import as_recorded, verified, without_answers
from pytest_agentbench.settings import gates
from pytest_agentbench.settings.settings import Settings

LARGEST = 10  # changes listed for each metric

# (share of epochs with a valid answer, mean over those): an answer is better than none.
Standing = tuple[float, float | None]


@dataclasses.dataclass(frozen=True)
class Difference:
    """One metric of one reading, on the samples that both runs have."""

    metric: str
    better: Better
    unit: str
    before: float | None
    after: float | None
    value: float | None  # after - before
    low: float | None
    high: float | None
    reason: str | None  # why there is no value
    samples: SampleChanges | None  # None for a metric that single samples do not have

    @property
    def verdict(self) -> Literal["better", "worse", "changed", "same", "unclear"]:
        """``same`` where no resample differs; ``unclear`` where the interval holds 0 or is missing.

        A metric that only describes has neither better nor worse: it has ``changed``.
        """
        if self.value == self.low == self.high == 0:
            return "same"
        if self.low is None or not is_clear(self.low, self.high):
            return "unclear"
        if self.better == "none":
            return "changed"
        if self.better == "zero":
            return "better" if abs(self.after or 0.0) < abs(self.before or 0.0) else "worse"
        return "better" if (self.low > 0) == (self.better == "higher") else "worse"


def is_clear(low: float | None, high: float | None) -> bool:
    """Whether the interval of a difference exists and leaves 0 out."""
    return low is not None and high is not None and not low <= 0 <= high


@dataclasses.dataclass(frozen=True)
class Side:
    """One of the two runs."""

    run: str
    agent: str
    samples: int
    incomplete: str | None
    model_use: ModelUse | None = None


@dataclasses.dataclass(frozen=True)
class Comparison:
    """All that two runs differ in. ``readings`` has the one of the headline first."""

    benchmark: str
    mode: str
    headline: str
    reading: str
    before: Side
    after: Side
    common_samples: int
    readings: Mapping[str, tuple[Difference, ...]]
    notes: tuple[str, ...] = ()  # what the files of the runs say that their answers do not

    def leading(self) -> list[Difference]:
        """Metrics whose single changes say most: the headline, else the first of each kind of sample."""
        own = [d for d in self.readings[self.reading] if d.samples and d.metric != _COVERAGE]
        own.sort(key=lambda difference: difference.metric != self.headline)
        found: dict[str, Difference] = {}
        for difference in own:
            for kind in difference.samples.kinds if difference.samples else ():
                found.setdefault(kind, difference)
        return list(dict.fromkeys(found.values()))

    def as_json(self) -> dict[str, Any]:
        plain = dataclasses.asdict(self)
        for reading, found in self.readings.items():
            for difference, row in zip(found, plain["readings"][reading], strict=True):
                row["verdict"] = difference.verdict
        return {"schema": 1, **plain}


_COVERAGE = gates.COVERAGE.metric


def compare(
    run_a: Path,
    run_b: Path,
    reading: str | None = None,
    dataset: str | None = None,
    named: stored.Named = stored.NOTHING,
) -> Comparison:
    """The paired comparison of two runs by their folders; refused where it would mean nothing.

    ``dataset`` says where the data lie, where no run of this user's was made on them.
    """
    before, after = stored.read(run_a, named), stored.read(run_b, named)
    refuse_unlike(
        identity(before.scores, reading), identity(after.scores, reading),
        str(run_a), str(run_b),
    )  # fmt: skip
    both = [name for name in after.scores.readings if name in before.scores.readings]
    if reading is not None and reading not in both:
        known = ", ".join(both)
        raise BenchmarkError(f"--reading: expected one of {known}, got {reading!r}")
    settings, data = _data(before, after, dataset)
    with stored.blamed_on(before, after):
        before, after = (
            as_recorded(run) if without_answers(run) else verified(run, settings, data)
            for run in (before, after)
        )
        return compare_runs(before, after, settings, data, reading or settings.reading)


def _data(before: StoredRun, after: StoredRun, dataset: str | None) -> tuple[Settings, Dataset]:
    """The data, from wherever one of the two runs still finds them."""
    try:
        settings = stored.settings_of(after, dataset)
    except BenchmarkError:
        if dataset is not None:
            raise
        settings = stored.settings_of(before)
    return settings, stored.load_data(after, settings)


def compare_runs(
    before: StoredRun, after: StoredRun, settings: Settings, dataset: Dataset, reading: str
) -> Comparison:
    """The comparison of two runs that may be compared, on their data."""
    paired = paired_scores(before, after, settings, dataset)
    left, right = _by_sample(before.records), _by_sample(after.records)
    common = [name for name in map(str, dataset.keys) if name in left and name in right]
    known = {metric.name: metric for metric in settings.benchmark.metrics}
    known[_COVERAGE] = Metric(_COVERAGE, "higher", 0.0, 1.0)
    assert paired.baseline is not None
    deltas = paired.baseline.deltas
    order = [reading, *(name for name in deltas if name != reading)]
    # Its own values stand where all of its samples are compared; a newer reading it does not have.
    whole = before.scores.readings if len(left) == len(common) else {}
    readings = {}
    for name in order:
        readings[name] = tuple(
            _difference(
                known.get(metric, Metric(metric, "higher")),
                before.scores.metric(metric, name) if name in whole else None,
                paired.metric(metric, name),
                delta,
                _sample_changes(known.get(metric), name, common, left, right),
            )
            for metric, delta in deltas[name].items()
        )
    headline = dataclasses.replace(paired, primary=reading).headline(settings.benchmark.headlines)
    return Comparison(
        settings.benchmark.name, settings.mode, headline, reading,
        _side(before), _side(after), paired.baseline.common_samples, readings,
        tuple(dict.fromkeys((*before.notes, *after.notes))),
    )  # fmt: skip


def paired_scores(
    before: StoredRun, after: StoredRun, settings: Settings, dataset: Dataset
) -> Scores:
    """The scores of ``after`` on the common samples, with ``before`` as its baseline."""
    theirs = {record.sample for record in before.records}
    ours = [record for record in after.records if record.sample in theirs]
    if not ours:
        raise BenchmarkError(
            f"{before.folder} and {after.folder} have no sample in common; compare runs with the same "
            "--limit and --seed"
        )
    questions = [(dataset.index_of[record.sample], record.epoch) for record in ours]
    return scores.score(settings, dataset, questions, ours, before, by_group=False)


def _side(run: StoredRun) -> Side:
    samples = len({record.sample for record in run.records})
    return Side(run.name, run.agent, samples, run.scores.incomplete, run.scores.model_use)


def _difference(
    metric: Metric,
    before: Score | None,  # None where its samples are not all common
    after: Score,
    delta: Score,
    samples: SampleChanges | None,
) -> Difference:
    was = None if before is None else before.value
    if before is None and after.value is not None and delta.value is not None:
        was = after.value - delta.value
    return Difference(
        metric=metric.name,
        better=metric.better,
        unit=metric.unit,
        before=was,
        after=after.value,
        value=delta.value,
        low=delta.low,
        high=delta.high,
        reason=delta.reason,
        samples=samples,
    )


def to_baseline(scores: Scores, metrics: Sequence[Metric]) -> list[Difference]:
    """The differences of a run to its baseline in the primary reading; none without one."""
    if scores.baseline is None:
        return []
    theirs = scores.baseline.readings.get(scores.primary, {})
    return [
        _difference(
            metric_named(metrics, name),
            theirs.get(name, Score()),
            scores.metric(name),
            delta,
            scores.baseline.samples.get(name),
        )
        for name, delta in scores.baseline.deltas.get(scores.primary, {}).items()
    ]


def changes(
    metric: Metric, reading: str, before: Iterable[Record], after: Iterable[Record]
) -> SampleChanges | None:
    """How a metric of single samples changed between two runs, on the samples that both have."""
    left, right = _by_sample(before), _by_sample(after)
    common = [name for name in right if name in left]
    return _sample_changes(metric, reading, common, left, right)


def _by_sample(records: Iterable[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.sample, []).append(record)
    return found


def _sample_changes(
    metric: Metric | None,
    reading: str,
    common: Sequence[str],
    left: Mapping[str, list[Record]],
    right: Mapping[str, list[Record]],
) -> SampleChanges | None:
    """Changes of a metric that samples have. None for one that exists only for the whole run."""
    if metric is None:
        return None
    before = {name: _standing(left[name], reading, metric.name) for name in common}
    after = {name: _standing(right[name], reading, metric.name) for name in common}
    # A sample that failed in both runs counts for the metrics that others of its kind have.
    kinds = {
        _kind(name) for name in common if before[name][1] is not None or after[name][1] is not None
    }
    compared = [name for name in common if _kind(name) in kinds]
    if not compared:
        return None
    sign = 1.0 if metric.better == "higher" else -1.0
    better = sum(_key(after[n], sign) > _key(before[n], sign) for n in compared)
    worse = sum(_key(after[n], sign) < _key(before[n], sign) for n in compared)
    changes = [Change(n, before[n][1], after[n][1]) for n in compared if before[n] != after[n]]
    changes.sort(key=lambda change: (-_size(change), change.sample))
    same = len(compared) - better - worse
    return SampleChanges(better, worse, same, tuple(changes[:LARGEST]), tuple(sorted(kinds)))


def _size(change: Change) -> float:
    if change.before is None or change.after is None:
        return math.inf
    return abs(change.after - change.before)


def _standing(records: Sequence[Record], reading: str, metric: str) -> Standing:
    if metric == _COVERAGE:
        valid = bootstrap.mean([float(record.status == "ok") for record in records], None)
        return 1.0, valid
    values = [
        record.metrics[reading][metric]
        for record in records
        if metric in record.metrics.get(reading, {})
    ]
    if not values:
        return 0.0, None
    return len(values) / len(records), bootstrap.mean(values, None)


def _key(standing: Standing, sign: float) -> tuple[float, float]:
    share, value = standing
    return share, 0.0 if value is None else sign * value


def _kind(sample: str) -> str:
    return sample.partition("[")[0]


def identity(scores: Scores, reading: str | None = None) -> dict[str, str]:
    """All that must be equal for two scores to be compared, by name.

    ``reading`` is the one that is compared, where it is not the primary one.

    >>> identity(Scores(schema=1, benchmark="humob", mode="test", primary="2023", readings={"2023": {}}))
    {'schema': '1', 'benchmark': 'humob', 'mode': 'test', 'reading': '2023', 'data digest': 'None'}
    """
    return {
        "schema": str(scores.schema),
        "benchmark": scores.benchmark,
        "mode": scores.mode,
        "reading": reading or scores.primary,
        "data digest": str(scores.dataset.digest),
        **{key: str(value) for key, value in scores.conditions.items()},
    }


def differences(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """What differs between two identities.

    >>> differences({"mode": "test"}, {"mode": "inference"})
    ["mode is 'test' and 'inference'"]
    """
    unequal = [key for key in {**first, **second} if first.get(key) != second.get(key)]
    if "benchmark" in unequal:  # then all else differs, too
        unequal = ["benchmark"]
    return [f"{key} is {_shown(first.get(key))} and {_shown(second.get(key))}" for key in unequal]


def refuse_unlike(
    first: Mapping[str, str], second: Mapping[str, str], first_name: str, second_name: str
) -> None:
    """Raises :class:`BenchmarkError` that names every difference, in the order of the two names."""
    found = differences(first, second)
    if not found:
        return
    advice = "run both on the same data in the same way"
    if len(found) == 1 and found[0].startswith("reading is"):
        advice = "name the reading to compare with --reading NAME"
    raise BenchmarkError(
        f"{first_name} and {second_name} cannot be compared: {'; '.join(found)}; {advice}"
    )


def _shown(value: str | None) -> str:
    """Digests are cut: the first digits tell them apart."""
    if value is None:
        return "not set"
    return f"{value[:12]}…" if len(value) == 64 and value.isalnum() else repr(value)


def load_baseline(plan: Plan, place: Place) -> StoredRun | None:
    """The run that --baseline names; refused where the comparison would mean nothing."""
    settings = plan.settings
    if settings.baseline is None:
        return None
    name = settings.benchmark.name
    run = stored.read(names.find_run(settings.baseline, place.house, place.start, name))
    ours = dataclasses.replace(
        run.scores,  # it has all readings, whichever was its primary one
        schema=run_folder.SCHEMA,
        benchmark=name,
        mode=settings.mode,
        dataset=DataFacts(digest=plan.dataset.digest),
        conditions=plan.dataset.conditions(),
    )
    refuse_unlike(identity(run.scores), identity(ours), f"--baseline: {run.folder}", "this run")
    with stored.blamed_on(run):
        return verified(run, settings, plan.dataset)
