"""What an item asks. It is kept on the item itself: other plugins may change names and add parameters."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import pytest

from pytest_agentbench.benchmarks.protocol import Sample
from pytest_agentbench.plugin import fixture_compat
from pytest_agentbench.runs.plan import Plan, Question


@dataclass(frozen=True, slots=True, repr=False)
class Asked:
    """The questions of an item; the value of its parameter ``sample``."""

    plan: Plan
    questions: tuple[Question, ...]
    in_chunk: bool = False  # whether the item gets a list, be it of one sample

    def __repr__(self) -> str:
        """A short text: --setup-show and reports of other plugins show it."""
        names = [str(self.plan.dataset.keys[question.sample]) for question in self.questions]
        return names[0] if len(names) == 1 else f"{names[0]}..{names[-1]}"

    @property
    def run(self) -> str:
        """The node id of the run that the questions belong to."""
        return self.plan.settings.nodeid

    def given(self) -> Sample | Sequence[Sample]:
        """What the fixture ``sample`` gives."""
        if self.in_chunk and self.plan.submission is not None:
            return Unmade(self)
        samples = [self.plan.dataset.sample(question.sample) for question in self.questions]
        return samples if self.in_chunk else samples[0]


class Unmade(Sequence[Sample]):
    """The samples of a chunk that a submission answers: made if somebody looks at them."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def __len__(self) -> int:
        return len(self._asked.questions)

    @overload
    def __getitem__(self, at: int) -> Sample: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Sample]: ...
    def __getitem__(self, at: int | slice) -> Sample | Sequence[Sample]:
        made = self._asked.plan.dataset.sample
        if isinstance(at, slice):
            return [made(question.sample) for question in self._asked.questions[at]]
        return made(self._asked.questions[at].sample)


@functools.lru_cache(maxsize=1)  # each of our hooks asks it about the item that runs
def asked(item: pytest.Item) -> Asked | None:
    """What an item asks; None for a test that asks no agent about a sample."""
    found = fixture_compat.parameters(item).get("sample")
    # A user's own test may take samples alone. pytest-benchmark's --benchmark-only skips all that is not timed.
    if not isinstance(found, Asked) or "agent" not in fixture_compat.fixture_names(item):
        return None
    return None if getattr(item.config.option, "benchmark_only", False) else found


def as_text(items: Sequence[pytest.Item], plans: Iterable[Plan]) -> str:
    """The runs of a worker and what its items ask, for the controller, which collects none."""
    found = {n: own for n, item in enumerate(items) if (own := asked(item)) is not None}
    return json.dumps(
        {
            "runs": {plan.settings.nodeid: plan.settings.benchmark_class for plan in plans},
            "items": [
                (number, own.run, own.questions[0].epoch, [q.sample for q in own.questions])
                for number, own in found.items()
            ],
        }
    )


def from_text(text: str) -> tuple[dict[str, str], Iterator[tuple[int, str, tuple[Question, ...]]]]:
    """The benchmark of each run; the number of each item that asks, its run and its questions."""
    told = json.loads(text)
    items = (
        (number, run, tuple(Question(sample, epoch) for sample in samples))
        for number, run, epoch, samples in told["items"]
    )
    return told["runs"], items
