"""Runs by name, the same in every process of a session."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
from toy_runs import make_run

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin.named_runs import NamedRuns


@pytest.fixture
def session(pytester):
    """A session's configuration; a worker's, where it is told what a controller tells."""

    def session(told=None):
        config = pytester.parseconfig()
        if told is not None:
            config.workerinput = told
        return NamedRuns(config)

    return session


@pytest.fixture
def runs(pytester):
    folder = pytester.path / ".agentbench" / "runs"
    make_run(folder / "one", "half")
    os.utime(folder / "one" / "scores.json", (1, 1))
    return folder


def test_a_worker_finds_the_last_run_that_the_controller_found(session, runs):
    controller, node = session(), SimpleNamespace(workerinput={})
    assert controller("last", "toysum") == runs / "one"
    controller.pytest_configure_node(node)
    make_run(runs / "two", "right")
    assert session()("last", "toysum") == runs / "two"
    assert session(node.workerinput)("last", "toysum") == runs / "one"
    assert controller("last", "toysum") == runs / "one"


def test_a_worker_looks_for_what_the_controller_did_not_need(session, runs):
    assert session({})("one", "toysum") == runs / "one"


def test_last_is_found_for_each_benchmark_by_itself(session, runs):
    named = session()
    assert named("last", "toysum") == runs / "one"
    with pytest.raises(BenchmarkError, match="no run of humob"):
        named("last", "humob")
