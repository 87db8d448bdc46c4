"""The same run on another host: what the controller sends it, and the check that both agree.

A host builds its plan from the same command line and from its own files. Data is not copied: a file
that is not where the command line says is looked up in the host's cache by the digest of the
controller's file. A host whose plan differs from the controller's refuses to take part.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_agentbench import __version__
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import path_digest
from pytest_agentbench.plugin.agent_in_force import agent_in_force
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings.resolve import Digests
from pytest_agentbench.settings.settings import OPTIONS

_ADVICE = {
    "pytest-agentbench": "install that version there",
    "data": "copy the controller's data there",
    "submission": "copy the controller's file there",
    "agent source": "copy the controller's agent there",
}
_OTHER_SETTINGS = "its ini file, scenario file or environment is another one"


def to_host(plans: list[Plan], config: pytest.Config) -> str:
    """What the controller sends to a host, as JSON."""
    told = {plan.settings.nodeid: [_files(plan), _identity(plan, config)] for plan in plans}
    return json.dumps(told)


def digests(told: str) -> Digests:
    """The digests by which the host may find files."""
    return {nodeid: files for nodeid, (files, _) in json.loads(told).items()}


def check(told: str, plans: Mapping[str, Plan], config: pytest.Config) -> None:
    """Raises if this host's plan differs from the controller's in anything that decides records."""
    problems = []
    for nodeid, (_, theirs) in json.loads(told).items():
        if nodeid not in plans:
            raise BenchmarkError(f"expected the run {nodeid}, got {', '.join(plans)} alone")
        plan, mine = plans[nodeid], _identity(plans[nodeid], config)
        for key in {**theirs, **mine}:
            expected, got = theirs.get(key), mine.get(key)
            if expected != got:
                where = f" from {plan.settings.dataset}" if key == "data" else ""
                problems.append(
                    f"{key}: expected {expected}, which the controller has, got {got}{where}; "
                    f"{_ADVICE.get(key, _OTHER_SETTINGS)}"
                )
    if problems:
        raise BenchmarkError("\n".join(["it would not make the same run", *problems]))


def _files(plan: Plan) -> dict[str, str]:
    given = {"dataset": plan.settings.dataset, "submission": plan.settings.submission}
    return {
        key: path_digest(path)
        for key, path in given.items()
        if isinstance(path, Path) and path.exists()  # a pattern must be the same on every host
    }


def _identity(plan: Plan, config: pytest.Config) -> dict[str, str]:
    own = {option.key for option in OPTIONS if option.differs_by_host}
    settings = {key: value for key, value in plan.settings.as_json().items() if key not in own}
    identity = {"pytest-agentbench": __version__, "data": f"digest {plan.dataset.digest}"}
    if plan.settings.submission is not None:
        path = plan.settings.submission
        digest = path_digest(path) if path.exists() else plan.loaded_agent.digest
        identity["submission"] = f"digest {digest}"
    else:
        identity["agent source"] = f"digest {agent_in_force(plan, config).digest}"
    identity |= plan.dataset.conditions()
    return identity | {key: json.dumps(value) for key, value in settings.items()}
