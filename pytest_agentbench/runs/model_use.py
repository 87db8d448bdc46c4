"""What a run has asked of its models, added up from its records: every report renders these figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from pytest_agentbench.base.typed_json import Count, Number
from pytest_agentbench.runs.record import Record

SECONDS = "llm_seconds"  # in the evidence of a record: of each call that the network answered
_LARGEST = 2**53  # beyond it nothing is a count


@dataclass(frozen=True)
class ModelUse:
    """Of the answers that count. Replies from the cache are calls, too; they have no latency and cost nothing now.

    Costs are in the currency of the prices, and None where no model has one.
    """

    models: tuple[str, ...] = ()  # none where several agents answered: their names have them
    calls: Count = 0
    cache_hits: Count = 0  # of the calls
    retries: Count = 0
    errors: Count = 0
    input_tokens: Count = 0
    output_tokens: Count = 0
    estimated: Count = 0  # calls whose tokens the server did not count
    cost: Number | None = None
    replayed_cost: Number | None = None  # what the replies from the cache cost when they were asked
    p50: Number | None = None  # seconds
    p95: Number | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def whole_cost(self) -> float | None:
        """What the answers cost whenever they were asked: the same for a run and for its replay."""
        if self.cost is None and self.replayed_cost is None:
            return None
        return (self.cost or 0.0) + (self.replayed_cost or 0.0)

    def numbers(self) -> Iterator[tuple[str, float]]:
        """Every figure that there is, by its name."""
        for own in fields(self):
            value = getattr(self, own.name)
            if own.name != "models" and value is not None:
                yield own.name, float(value)


def model_use(models: Sequence[str], records: Iterable[Record]) -> ModelUse | None:
    """The figures of these records; None where no model was asked."""
    used: Counter[str] = Counter()
    seconds: list[float] = []
    for record in records:
        if record.usage:
            used.update(record.usage)
            seconds += seconds_asked(record)

    def count(*names: str) -> int:
        return int(min(max(sum(used[name] for name in names), 0), _LARGEST))

    def cost(name: str) -> float | None:
        priced = "cost" in used or "replayed_cost" in used
        return float(used[name]) if priced else None

    calls = count("llm_calls", "llm_cache_hits")
    if not calls:
        return None
    return ModelUse(
        models=tuple(models),
        calls=calls,
        cache_hits=count("llm_cache_hits"),
        retries=count("llm_retries"),
        errors=count("llm_errors"),
        input_tokens=count("input_tokens", "replayed_input_tokens"),
        output_tokens=count("output_tokens", "replayed_output_tokens"),
        estimated=count("llm_calls_estimated"),
        cost=cost("cost"),
        replayed_cost=cost("replayed_cost"),
        p50=_quantile(seconds, 0.5),
        p95=_quantile(seconds, 0.95),
    )


def seconds_asked(record: Record) -> list[float]:
    """The seconds of each call of a model that the network answered; nothing that cannot be seconds."""
    found = record.evidence.get(SECONDS)
    return [
        float(one)
        for one in (found if isinstance(found, list) else ())
        if type(one) in (int, float) and 0 <= one < math.inf
    ]


def _quantile(values: Sequence[float], share: float) -> float | None:
    """As NumPy's, linear between two neighbours; without NumPy, which a list of runs does not import."""
    if not values:
        return None
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return round(ordered[below] + (place - below) * (ordered[above] - ordered[below]), 6)
