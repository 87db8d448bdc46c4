"""The plan of a run of the toy benchmark."""

from __future__ import annotations

from toy_runs import ToySum

from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings.settings import Settings


def toy_plan(**changes):
    values = {"agent": "builtin:right", "concurrency": 2, "parameters": {"shift": 0}, **changes}
    return Plan(
        Settings(
            benchmark=ToySum(), nodeid="toysum", mode="test", dataset="demo", reading="exact", **values
        )
    )  # fmt: skip
