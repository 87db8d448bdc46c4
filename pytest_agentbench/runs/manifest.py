"""The manifest of a run: what it takes to trust it and to repeat it."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import os
import platform
from collections.abc import Sequence
from typing import Any

from pytest_agentbench.agents.process import sandbox
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.plan import Plan

_PACKAGES = ("pytest-agentbench", "pytest", "pytest-xdist", "numpy", "numba", "polars")


def manifest(
    plan: Plan, agent: dict[str, str], arguments: Sequence[str], started: str
) -> dict[str, Any]:
    """Versions, settings, data and agent digests, machine. No host name, no environment."""
    models = plan.settings.models_of(agent["name"])
    shard = plan.settings.shard
    return {
        "schema": run_folder.SCHEMA,
        "started": started,
        "arguments": [
            plan.secrets.cleaned(argument.replace(plan.settings.agent, plan.settings.agent_shown))
            for argument in arguments
        ],
        "settings": plan.settings.as_json(),
        **({} if shard is None else {"shard": dataclasses.asdict(shard)}),
        "agent": {**agent, "models": list(models)} if models else agent,
        "confinement": confinement_in_force(plan, agent),
        "dataset": {
            "source": str(plan.settings.dataset),
            "digest": plan.dataset.digest,
            "description": plan.dataset.description,
            "samples": len(plan.dataset.keys),
        },
        "versions": {"python": platform.python_version(), **_versions()},
        "machine": {
            "system": platform.system(),
            "release": platform.release(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
        },
    }


def _versions() -> dict[str, str]:
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def confinement_in_force(plan: Plan, agent: dict[str, str]) -> str | None:
    """What keeps the agent that will answer from the truth; None if it is not in a process of ours."""
    confined = plan.loaded_agent.confined and agent["name"] == plan.loaded_agent.name
    return str(sandbox.available()) if confined else None
