"""A run made ready: settings, data, the samples to ask and the agent to ask them."""

from __future__ import annotations

import random
import re
from functools import cached_property
from pathlib import Path

from pytest_agentbench.agents import loading
from pytest_agentbench.agents.calling import Agent
from pytest_agentbench.benchmarks.protocol import BenchmarkError, Dataset
from pytest_agentbench.options import Settings

HOUSE = ".agentbench"  # in pytest's rootdir

# What pytest prints unchanged in a node id and a shell can quote.
_NAME = re.compile(r"[A-Za-z_]\w*\[[!-Z^-~]+\]", re.ASCII)


class Run:
    """One benchmark with one agent; the same in the controller and in every worker."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.benchmark = settings.benchmark
        self.loaded_agent = loading.load(settings.agent, settings.bases, settings.benchmark)
        self.dataset = _checked(settings.benchmark.load(settings))
        self.indices = _drawn(len(self.dataset.keys), settings.limit, settings.seed)

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The kinds of sample (``uid``; ``recommendation`` and ``review_writing``), in data order."""
        return tuple(dict.fromkeys(self.dataset.keys[index].target for index in self.indices))

    @cached_property
    def names(self) -> dict[str, int]:
        """The samples to ask: name in the node id -> index in the data."""
        return {str(self.dataset.keys[index]): index for index in self.indices}

    @cached_property
    def agent(self) -> Agent:
        return Agent(self.loaded_agent.target, self.settings.agent_timeout)

    def index_of(self, nodeid: str) -> int | None:
        """The sample that a node id of this run names."""
        prefix = f"{self.settings.nodeid}::"
        return self.names.get(nodeid[len(prefix) :]) if nodeid.startswith(prefix) else None

    def close(self) -> None:
        if "agent" in vars(self):
            self.agent.close()


def _drawn(total: int, limit: int | None, seed: int) -> tuple[int, ...]:
    """All samples, or ``limit`` of them drawn with the seed (the first ones may be of one kind)."""
    if limit is None or limit >= total:
        return tuple(range(total))
    return tuple(sorted(random.Random(seed).sample(range(total), limit)))


def _checked(dataset: Dataset) -> Dataset:
    """A data set whose samples have names that pytest can show and take back."""
    if not dataset.keys:
        raise BenchmarkError(f"{dataset.description}: expected samples, got none")
    names = set()
    for key in dataset.keys:
        name = str(key)
        if not _NAME.fullmatch(name) or name in names:
            why = "a name used once" if name in names else "a plain name such as uid[80012]"
            raise BenchmarkError(
                f"{dataset.description}: expected {why} for a sample, got {name!r}"
            )
        names.add(name)
    return dataset


def runs_folder(rootpath: Path) -> Path:
    return rootpath / HOUSE / "runs"
