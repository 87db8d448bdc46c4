"""The base class of asbench's agents that solve tasks."""

from __future__ import annotations

import asyncio

import pytest

from pytest_agentbench.agents.asbench.individual import IndividualAgentBase


def test_whoever_derives_from_it_writes_forward():
    with pytest.raises(
        NotImplementedError, match=r"expected forward\(self, task_context\) in Lazy"
    ):
        asyncio.run(type("Lazy", (IndividualAgentBase,), {})().forward({}))
