"""Agents in processes of their own."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

from pytest_agentbench.agents.process.isolated import IsolatedAgent
from pytest_agentbench.agents.process.sandbox import IsolationOptions


def pytest_collection_modifyitems(items):
    if os.name != "posix":
        here = Path(__file__).parent
        for item in items:
            if here in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="process isolation needs POSIX"))


@pytest.fixture
def isolated(tmp_path):
    """Makes agents of source text, and closes them."""
    made = []

    def isolated(source, spec="agent.py", timeout=20.0, llm=None, **options):
        (tmp_path / "agent.py").write_text(textwrap.dedent(source), encoding="utf-8")
        made.append(IsolatedAgent(spec, [tmp_path], IsolationOptions(**options), timeout, llm))
        return made[-1]

    yield isolated
    for agent in made:
        agent.close()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One agent for many tests: runs the statements in the context, and answers with ``answer``."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "agent.py").write_text(
        "import ctypes, os, re, signal, stat, struct, sys, time\n"
        "def agent(context):\n"
        "    scope = {**globals(), 'context': context, 'answer': os.getpid()}\n"
        "    exec(context['do'], scope)\n"
        "    return scope['answer']\n"
    )
    agent = IsolatedAgent("agent.py", [folder], timeout=20.0)

    def runs(do, timeout=None, **context):
        return agent({"do": textwrap.dedent(do), **context}, timeout)

    runs.agent = agent
    yield runs
    agent.close()


@pytest.fixture
def make():
    """Makes files in a folder, each of which holds its name."""

    def make(folder, *names):
        for name in names:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)

    return make
