"""What scores.json holds, as frozen dataclasses: scoring makes them, gates and reports read them.

:meth:`Scores.from_json` is the only place that checks a file. :meth:`Scores.as_json` gives the
mapping that is written, and that hooks and benchmarks of third parties get.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from pytest_agentbench.agents import specs
from pytest_agentbench.base import typed_json
from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.base.typed_json import Count, Number
from pytest_agentbench.settings.sharding import Shard

# Keys of scores.json that a run without groups, epochs, baseline, shards, floor or log does not have.
_OPTIONAL = ("groups", "epochs", "baseline", "shard", "floor", "records")
# Gates that are no conditions on scores, and are decided again where runs are put together.
EVERY_SAMPLE, ONE_AGENT = "every sample recorded", "all answers are of this run"


@dataclass(frozen=True)
class Score:
    """A metric's value and its interval; where there is no value, the reason."""

    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    reason: str | None = None


Readings = Mapping[str, Mapping[str, Score]]  # {reading: {metric: score}}
Values = Mapping[str, Mapping[str, Number | None]]  # the same without intervals and reasons


@dataclass(frozen=True)
class AgentFacts:
    name: str | None = None
    digest: str | None = None
    models: tuple[str, ...] = ()  # that it asked

    @property
    def label(self) -> str:
        """The agent in every list and title: ``llm_agent.py gpt-4o-mini``."""
        return specs.labelled(self.name or "", self.models)


@dataclass(frozen=True)
class DataFacts:
    source: str | None = None
    digest: str | None = None
    description: str | None = None


@dataclass(frozen=True)
class Counts:
    """How many samples were asked, and how many have each status."""

    total: Count = 0
    ok: Count = 0
    invalid: Count = 0
    error: Count = 0
    timeout: Count = 0

    def of(self, status: str) -> int:
        count: int = getattr(self, status)
        return count


@dataclass(frozen=True)
class GateResult:
    """What became of a gate; ``passed`` is None where the run was cut short, or is only a shard."""

    gate: str
    passed: bool | None = None
    value: Number | None = None
    threshold: Number | None = None
    reason: str | None = None
    group: str | None = None  # the worst one, of a gate on it: "source yelp, 40 samples"

    @property
    def place(self) -> str:
        """ " in source yelp, 40 samples", after a value; nothing where all samples are meant."""
        return f" in {self.group}" if self.group else ""

    @property
    def failure(self) -> str | None:
        """Why it failed; None for a gate that passed or was not decided."""
        if self.passed is not False:
            return None
        if self.reason or self.value is None or self.threshold is None:
            return self.reason or "no reason was given"
        return f"got {self.value:.6g}{self.place} against {self.threshold:.6g}"


@dataclass(frozen=True)
class Group:
    """The samples that have something in common, and their scores in the primary reading."""

    kind: str  # "source"
    name: str  # "yelp"
    samples: Count
    targets: Mapping[str, Count] = field(default_factory=dict)  # how many samples of each kind
    scores: Mapping[str, Score] = field(default_factory=dict)


@dataclass(frozen=True)
class Floor:
    """One of the benchmark's own agents: its values, or why it was left out."""

    agent: str  # "builtin:mean"
    readings: Values = field(default_factory=dict)
    skipped: str | None = None


@dataclass(frozen=True)
class Change:
    """One sample before and after; no value where it had no valid answer."""

    sample: str
    before: Number | None = None
    after: Number | None = None


@dataclass(frozen=True)
class SampleChanges:
    """How many samples got better, worse or stayed, and the largest changes."""

    better: Count
    worse: Count
    same: Count
    largest: tuple[Change, ...] = ()
    kinds: tuple[str, ...] = ()  # of samples that have the metric: "uid"


@dataclass(frozen=True)
class BaselineScores:
    """The run that --baseline names, and the paired differences to it (this run - baseline)."""

    run: str
    agent: AgentFacts = AgentFacts()
    readings: Readings = field(default_factory=dict)
    common_samples: Count = 0
    deltas: Readings = field(default_factory=dict)
    samples: Mapping[str, SampleChanges] = field(default_factory=dict)  # by metric


@dataclass(frozen=True)
class LogFacts:
    """The log that the scores were made of: how many samples and epochs it has, and its SHA-256."""

    count: int
    digest: str


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of a run: decided once, rendered everywhere. The fields are the keys of the file."""

    schema: int | None = None
    benchmark: str
    mode: str = ""
    dataset: DataFacts = DataFacts()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    seed: Count = 0
    primary: str  # the reading that gates and the headline use
    samples: Counts = Counts()
    readings: Readings
    groups: tuple[Group, ...] | None = None  # where the benchmark divides its samples
    epochs: tuple[Values, ...] | None = None  # the values of each, where there are several
    details: Mapping[str, Any] = field(default_factory=dict)
    baseline: BaselineScores | None = None
    agent: AgentFacts = AgentFacts()
    partial: bool = False
    shard: Shard | None = None  # where the samples were shared out to several sessions
    incomplete: str | None = None  # why the run was cut short
    gates: tuple[GateResult, ...] = ()
    floor: tuple[Floor, ...] | None = None
    records: LogFacts | None = None

    @property
    def primary_reading(self) -> Mapping[str, Score]:
        return self.readings[self.primary]

    def metric(self, name: str, reading: str | None = None) -> Score:
        """A score of the primary reading or of another; without a value where there is none."""
        return self.readings.get(reading or self.primary, {}).get(name) or Score()

    def headline(self, names: Sequence[str]) -> str:
        """The first of these metrics that the primary reading has a value of, else the first."""
        present = (name for name in names if self.metric(name).value is not None)
        return next(present, names[0])

    def numbers(self) -> Iterator[tuple[str, str, float]]:
        """Every value, with its reading and name; the ends of intervals are ``geobleu.low`` …"""
        for reading, metrics in self.readings.items():
            for name, score in metrics.items():
                ends = {"": score.value, ".low": score.low, ".high": score.high}
                for end, number in ends.items():
                    if number is not None:
                        yield reading, f"{name}{end}", float(number)

    @property
    def notes(self) -> list[str]:
        """The lines that the benchmark and the floor add below the table."""
        found = self.details.get("notes")
        return [str(line) for line in found] if isinstance(found, list) else []

    @property
    def gates_passed(self) -> str:
        """``2/3``; ``-`` where none was decided."""
        decided = [gate.passed for gate in self.gates if gate.passed is not None]
        return f"{sum(decided)}/{len(decided)}" if decided else "-"

    def as_json(self) -> dict[str, Any]:
        """The mapping of scores.json, its keys in the order of the fields."""
        plain: dict[str, Any] = _plain(self)
        return {k: value for k, value in plain.items() if value is not None or k not in _OPTIONAL}

    @staticmethod
    def from_json(data: Mapping[str, Any], where: Path | str) -> Scores:
        """The scores in a file; where it holds anything else, a BenchmarkError names file and key.

        Keys that are missing or null have their defaults: only benchmark, readings and the
        primary one must be there. Keys of a later version are passed over.
        """
        try:
            given = {key: value for key, value in data.items() if value is not None}
            scores: Scores = typed_json.typed(Scores, given)
            if scores.primary not in scores.readings:
                known = shown(", ".join(scores.readings))
                raise ValueError(
                    f"`primary`: expected one of the readings ({known[1:-1]}), "
                    f"got {shown(scores.primary)}"
                )
        except ValueError as error:
            raise BenchmarkError(f"{where}: {error}") from None
        return scores


def _plain(value: Any) -> Any:
    """Dataclasses as mappings. A score is written with its interval or its reason, where it has one.

    Only a gate on the worst group names one, and only an agent that asked models has some.
    """
    if isinstance(value, Score):
        if value.value is None:
            return {"value": None, "reason": value.reason}
        ends = {} if value.low is None else {"low": value.low, "high": value.high}
        return {"value": value.value, **ends}
    if isinstance(value, GateResult):
        plain = {own.name: getattr(value, own.name) for own in fields(value)}
        return {name: one for name, one in plain.items() if name != "group" or one is not None}
    if isinstance(value, AgentFacts):
        asked = {"models": list(value.models)} if value.models else {}
        return {"name": value.name, "digest": value.digest, **asked}
    if is_dataclass(value):
        return {own.name: _plain(getattr(value, own.name)) for own in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
