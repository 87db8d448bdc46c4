"""How far a run has come, as plain data: what is done, how fast, and what its models have cost so far.

Nothing here reads a clock; whoever shows it says what time it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_agentbench.runs.collector import Collector
from pytest_agentbench.runs.model_use import seconds_asked
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.record import STATUSES, Record
from pytest_agentbench.runs.scores_file import Counts


@dataclass(frozen=True)
class RunProgress:
    """A run under way. Calls, tokens and cost are of this session alone, with every attempt."""

    run: str
    samples: Counts  # those done
    expected: int
    waiting: int = 0  # answers that have come and are not samples done, as it is not their turn yet
    headline: tuple[str, float] | None = None  # the mean over valid answers
    rate: float | None = None  # answers a second, lately
    calls: int = 0  # of models
    cache_hits: int = 0  # of the calls
    tokens: int = 0  # really sent and received
    cost: float | None = None  # really spent; None where no price is known
    in_flight: int = 0  # calls on their way

    @property
    def seconds_left(self) -> float | None:
        """At the rate of late; None where nothing has come lately, or all is done."""
        left = self.expected - self.samples.total - self.waiting
        return left / self.rate if self.rate and left > 0 else None


class Pace:
    """The rate of the last minute; where less than ten marks came in it, of the last ten.

    A second leaves one mark, so that 71 are kept at most, however long a run is.
    """

    WINDOW, FEWEST = 60.0, 10

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()  # (seconds, answers until then)

    def mark(self, now: float, done: int) -> None:
        """Notes how many answers have come."""
        marks = self._marks
        if len(marks) > 1 and int(marks[-1][0]) == int(now):
            marks.pop()
        marks.append((now, done))
        while len(marks) > self.FEWEST + 1 and marks[0][0] < now - self.WINDOW:
            marks.popleft()

    def rate(self, now: float) -> float | None:
        """Answers a second; None before anything can be said."""
        if not self._marks:
            return None
        (first, before), (_, after) = self._marks[0], self._marks[-1]
        return (after - before) / (now - first) if now > first and after > before else None


def progress_of(collector: Collector, rate: float | None, in_flight: int) -> RunProgress:
    """The progress of a run that is under way."""
    plan, records, usage = collector.plan, collector.records.values(), collector.usage
    found = [record.metrics.get(plan.settings.reading, {}) for record in records]
    hits = usage.get("llm_cache_hits", 0)
    return RunProgress(
        run=plan.settings.nodeid,
        samples=Counts(
            len(records),
            **{status: sum(r.status == status for r in records) for status in STATUSES},
        ),
        expected=len(collector.expected),
        waiting=collector.waiting,
        headline=_headline(plan.benchmark.headlines, found),
        rate=rate,
        calls=int(usage.get("llm_calls", 0) + hits),
        cache_hits=int(hits),
        tokens=int(usage.get("input_tokens", 0) + usage.get("output_tokens", 0)),
        cost=usage.get("cost"),
        in_flight=in_flight,
    )


def _headline(
    names: Sequence[str], found: Sequence[Mapping[str, float]]
) -> tuple[str, float] | None:
    for name in names:
        values = [metrics[name] for metrics in found if name in metrics]
        if values:
            return name, sum(values) / len(values)
    return None


def calls_in_flight(plan: Plan, last: Record) -> int:
    """How many calls of models are on their way in this process, when an answer has just come.

    Where questions are asked one after the other none is, at this moment. The next one will have as many at
    a time as the last one had.
    """
    if plan.llm is None:
        return 0
    if plan.asks_ahead:
        return plan.llm.in_flight
    return round(sum(seconds_asked(last)) / last.seconds) if last.seconds > 0 else 0
