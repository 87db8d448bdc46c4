"""The manifest of a run: all that someone needs to know to believe it or to repeat it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_agentbench import runlog
from pytest_agentbench.agents import confinement
from pytest_agentbench.run import Run

_PACKAGES = ("pytest-agentbench", "pytest", "pytest-xdist", "numpy", "numba", "polars")


def manifest(
    run: Run, agent: dict[str, str], arguments: Sequence[str], started: str
) -> dict[str, Any]:
    """Versions, settings, data and agent digests, machine. No host name, no environment."""
    return {
        "schema": runlog.SCHEMA,
        "started": started,
        "arguments": [
            argument.replace(run.settings.agent, run.settings.agent_shown) for argument in arguments
        ],
        "settings": run.settings.as_json(),
        "agent": agent,
        "confinement": confinement_in_force(run, agent),
        "dataset": {
            "source": str(run.settings.dataset),
            "digest": run.dataset.digest,
            "description": run.dataset.description,
            "samples": len(run.dataset.keys),
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


def agent_in_force(run: Run, config: pytest.Config) -> dict[str, str]:
    """The agent that will answer: the one of ``--agent``, or a conftest's ``agent`` fixture."""
    if run.submission is not None:
        return {"name": run.loaded_agent.name, "digest": run.loaded_agent.digest}
    for plugin in config.pluginmanager.get_plugins():
        file = getattr(plugin, "__file__", None) or ""
        fixture = getattr(plugin, "agent", None)
        if Path(file).name == "conftest.py" and type(fixture).__name__ == _FIXTURE:
            folder = Path(file).parent
            start = config.invocation_params.dir
            if folder == start or folder in start.parents:
                digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
                return {"name": "conftest.py:agent", "digest": digest}
    return {"name": run.loaded_agent.name, "digest": run.loaded_agent.digest}


def confinement_in_force(run: Run, agent: dict[str, str]) -> str | None:
    """What keeps the agent that will answer from the truth; None if it is not in a process of ours."""
    confined = run.confined and agent["name"] == run.loaded_agent.name
    return str(confinement.available()) if confined else None


_FIXTURE = type(pytest.fixture(lambda: None)).__name__
