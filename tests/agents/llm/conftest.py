"""A model that asks a server on this machine."""

from __future__ import annotations

import pytest
from llm_server import KEY

from pytest_agentbench.agents.llm.client import LLM
from pytest_agentbench.agents.usage import CURRENT, Usage


@pytest.fixture
def make(server):
    made = []

    def make(*entries, **options):
        base = {"model": "m1", "base_url": server.url, "api_key": KEY}
        options.setdefault("backoff", 0.01)
        made.append(LLM([{**base, **entry} for entry in entries or ({},)], **options))
        return made[-1]

    yield make
    for llm in made:
        llm.close()


@pytest.fixture
def usage():
    token = CURRENT.set(Usage())
    yield CURRENT.get()
    CURRENT.reset(token)
