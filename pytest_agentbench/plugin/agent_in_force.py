"""The name of the agent that will answer, and the digest of its source."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pytest_agentbench.runs.plan import Plan


def agent_in_force(plan: Plan, config: pytest.Config) -> dict[str, str]:
    """The agent that will answer: the one of ``--agent``, or a conftest's ``agent`` fixture."""
    if plan.submission is not None:
        return {"name": plan.loaded_agent.name, "digest": plan.loaded_agent.digest}
    for plugin in config.pluginmanager.get_plugins():
        file = getattr(plugin, "__file__", None) or ""
        fixture = getattr(plugin, "agent", None)
        if Path(file).name == "conftest.py" and isinstance(fixture, _FIXTURE):
            folder = Path(file).parent
            start = config.invocation_params.dir
            if folder == start or folder in start.parents:
                digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
                return {"name": "conftest.py:agent", "digest": digest}
    return {"name": plan.loaded_agent.name, "digest": plan.loaded_agent.digest}


_FIXTURE = type(pytest.fixture(lambda: None))
