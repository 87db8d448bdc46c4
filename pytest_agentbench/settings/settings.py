"""Command line, scenario file and ini file, resolved once into one frozen :class:`Settings`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import without_secrets
from pytest_agentbench.benchmarks.protocol import Benchmark
from pytest_agentbench.settings import gates

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.entries import Entry


@dataclass(frozen=True)
class Settings:
    """All that decides a run. The same in every process that takes part in it."""

    benchmark: Benchmark
    nodeid: str  # what stands before "::" in the run's node ids
    mode: str
    dataset: str | Path
    agent: str
    reading: str
    submission: Path | None = None
    limit: int | None = None
    chunk: int | None = None  # None: the run decides by its size
    epochs: int = 1
    concurrency: int = 1
    seed: int = 0
    agent_timeout: float | None = None
    agent_retries: int = 0
    agent_isolation: str = "none"
    agent_memory: int | None = None
    agent_envs: tuple[str, ...] = ()
    llm: tuple[Entry, ...] = ()
    max_cost: float | None = None
    max_tokens: int | None = None
    gates: tuple[gates.Gate, ...] = (gates.COVERAGE,)
    baseline: str | None = None
    text_models: str | None = None
    keep_candidate_order: bool = False
    run_dir: Path | None = None
    resumed: str | None = None  # the run that --resume names
    parameters: Mapping[str, Any] = field(default_factory=dict)
    bases: tuple[Path, ...] = ()  # where relative paths are looked for, in this order

    @property
    def agent_shown(self) -> str:
        """The agent for people and files: the address of an endpoint may hold keys."""
        if not self.agent.startswith(("http://", "https://")):
            return self.agent
        return without_secrets(self.agent)

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "benchmark": self.benchmark.name,
            "benchmark_class": f"{type(self.benchmark).__module__}:{type(self.benchmark).__qualname__}",
            "mode": self.mode,
            "dataset": str(self.dataset),
            "agent": self.agent_shown,
            "submission": None if self.submission is None else str(self.submission),
            "reading": self.reading,
            "limit": self.limit,
            "chunk": self.chunk,
            "epochs": self.epochs,
            "concurrency": self.concurrency,
            "seed": self.seed,
            "agent_timeout": self.agent_timeout,
            "agent_retries": self.agent_retries,
            "agent_isolation": self.agent_isolation,
            "agent_memory": self.agent_memory,
            "agent_envs": list(self.agent_envs),
            "llm": [entry.as_json() for entry in self.llm],
            "max_cost": self.max_cost,
            "max_tokens": self.max_tokens,
            "gates": [gate.text for gate in self.gates],
            "baseline": self.baseline,
            "text_models": self.text_models,
            "keep_candidate_order": self.keep_candidate_order,
            "parameters": {key: str(value) for key, value in self.parameters.items()},
        }
