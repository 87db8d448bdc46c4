"""Builds the plans that the command line asks for, and registers the plugins that run them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pytest_agentbench.agents import last_threads
from pytest_agentbench.agents.exits import ExitGuard
from pytest_agentbench.base import progress
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin import (
    agent_in_force,
    answers_at_once,
    compat,
    debugger,
    failures,
    hosts,
    reachable,
    shards,
    workers,
)
from pytest_agentbench.plugin.arguments import choose, keep_only_tests
from pytest_agentbench.plugin.asking_ahead import AskingAhead
from pytest_agentbench.plugin.collection import Collection, Named
from pytest_agentbench.plugin.command_line import (
    check_resume,
    check_selected,
    narrowing,
    only_shows,
    requested,
)
from pytest_agentbench.plugin.controller import Controller
from pytest_agentbench.plugin.fixture_compat import load_conftests
from pytest_agentbench.plugin.progress_line import say
from pytest_agentbench.plugin.rootdir import check_rootdir, house
from pytest_agentbench.plugin.workers import Distribution
from pytest_agentbench.reports import mlflow
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings.settings import Settings

PLANS = pytest.StashKey[dict[str, Plan]]()  # by the name of the benchmark
_CONTROLLER, _COLLECTION = "agentbench-controller", "agentbench-collection"


def activate(config: pytest.Config) -> None:
    """Makes every run ready. A mistake is a usage error here, before any sample is asked."""
    worker = getattr(config, "workerinput", None)
    told = None if worker is None else worker.get("agentbench_host")
    try:
        check_resume(config)
        chosen = choose(config)
        asked = requested(config, hosts.digests(told) if told else {}, chosen)
        settings, selected, paths = asked.settings, asked.selected, asked.paths
        if chosen.left_out:
            config.pluginmanager.register(LeftOut(chosen.left_out), "agentbench-left-out")
        if not settings:
            keep_only_tests(config, chosen, ())
            return
        if worker is None:
            check_rootdir(config)
            controller_of(config)  # before agents are imported, which may start threads
        resumed = config.getoption("agentbench_resume")
        shard, kept = shards.shard_of(config), house(config)
        settings = {
            nodeid: dataclasses.replace(one, resumed=resumed, shard=shard, house=kept)
            for nodeid, one in settings.items()
        }
        if debugger.traces(config):  # one stop after the other
            debugger.check(config, settings.values())
            settings = {n: dataclasses.replace(s, concurrency=1) for n, s in settings.items()}
        processes = 1 if worker is None else worker["workercount"]
        listening = contextlib.ExitStack()
        listening.enter_context(progress.lines_go_to(functools.partial(say, config)))
        config.add_cleanup(listening.close)
        narrowed = narrowing(config, chosen, asked)
        folders = dict.fromkeys(settings, config.invocation_params.dir)
        folders |= {n: path.parent for n, path in (paths | asked.scenarios).items()}
        for folder in {*folders.values()}:
            load_conftests(config, folder)
        settings = {n: _with_note(one, config, folders[n]) for n, one in settings.items()}
        asks = asks_here(config)
        with guarded(config, stays=worker is None and asks):
            plans: dict[str, Plan] = {}
            for nodeid, one in settings.items():
                plan = Plan(one, processes, selecting=nodeid in narrowed, asks=asks)
                plans[nodeid] = plan
                config.add_cleanup(plan.close_proxy)  # what follows may refuse the session
        check_selected(plans, selected)
        shards.check(shard, plans.values())
        agent_in_force.settle(config, plans, folders)
        if worker is not None:
            if told:
                hosts.check(told, plans, config)
            workers.take_up_resumed(worker["agentbench_resume"], plans)
            answers_at_once.send_from_worker(plans, config)
            notes = workers.Notes([plan.loaded_agent.note for plan in plans.values()])
            config.pluginmanager.register(notes, "agentbench-notes")
        else:
            if config.getoption("agentbench_mlflow"):
                mlflow.check_installed()
            controller = controller_of(config)
            for plan in plans.values():
                controller.add(plan)
            distribution = Distribution(config, controller)
            config.pluginmanager.register(distribution, "agentbench-distribution")
            if not only_shows(config):
                look = reachable.Reachable(list(plans.values()))
                config.pluginmanager.register(look, "agentbench-reachable")
    except BenchmarkError as error:
        if worker is not None:
            config.pluginmanager.register(workers.Refusal(str(error)), "agentbench-refusal")
            return
        raise pytest.UsageError(str(error)) from None
    named = [
        Named(plan, frozenset(selected.get(nodeid, ())), folders[nodeid])
        for nodeid, plan in plans.items()
        if nodeid not in paths
    ]
    scenarios = {path: plans[nodeid] for nodeid, path in paths.items()}
    config.pluginmanager.register(Collection(named, scenarios), _COLLECTION)
    if any(plan.settings.concurrency > 1 for plan in plans.values()):
        config.pluginmanager.register(AskingAhead(list(plans.values())), "agentbench-asking-ahead")
    in_use = debugger.DebuggerOfSamples() if debugger.traces(config) else debugger.DebuggerInUse()
    config.pluginmanager.register(in_use, "agentbench-debugger")
    # A marked test belongs to the run of its benchmark, if there is one alone.
    of = Counter(one.plan.benchmark.name for one in named)
    config.stash[PLANS] = {
        one.plan.benchmark.name: one.plan for one in named if of[one.plan.benchmark.name] == 1
    }
    keep_only_tests(config, chosen, plans, asked.scenarios.values())


def _with_note(settings: Settings, config: pytest.Config, folder: Path) -> Settings:
    """The settings, with a line for the header if a fixture ``agent`` will not answer."""
    note = agent_in_force.passed_over(settings, agent_in_force.fixtures_seen(config, folder))
    return (
        settings if note is None else dataclasses.replace(settings, notes=(*settings.notes, note))
    )


class LeftOut:
    """Says in the header which benchmarks of addopts do not run."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def pytest_report_header(self) -> str:
        do, its = ("does", "its") if len(self._names) == 1 else ("do", "their")
        return (
            f"agentbench: {' and '.join(self._names)} of addopts {do} not run, because the command "
            f"names tests; {its} gates are not decided"
        )


@contextlib.contextmanager
def guarded(config: pytest.Config, stays: bool) -> Iterator[None]:
    """While agents are imported, none of them ends the process; nor later, if the guard stays.

    A worker needs none later: if its process ends, xdist reports that, and its sample fails.
    """
    guard = ExitGuard()
    guard.install()
    if stays:
        config.add_cleanup(lambda: guard.remove(_exit_status(config)))
    try:
        yield
    finally:
        guard.loading = False
        if not stays:
            guard.remove(0)


def _exit_status(config: pytest.Config) -> int:
    controller: Controller | None = config.pluginmanager.getplugin(_CONTROLLER)
    return int(pytest.ExitCode.USAGE_ERROR) if controller is None else controller.exit_status


def asks_here(config: pytest.Config) -> bool:
    """Whether this process asks the agent: xdist's controller does not, nor one that only shows samples."""
    return not compat.will_distribute(config) and not only_shows(config)


def controller_of(config: pytest.Config) -> Controller:
    """The controller of this session; made where it is the first time that one is needed."""
    controller: Controller | None = config.pluginmanager.getplugin(_CONTROLLER)
    if controller is None:
        controller = made = Controller(config)
        config.pluginmanager.register(controller, _CONTROLLER)
        failures.register(config)
        threads = set(threading.enumerate())
        config.add_cleanup(lambda: last_threads.end_without(threads, lambda: made.exit_status))
    return controller


def collection_of(config: pytest.Config) -> Collection:
    """The hooks that run samples; registered where it is the first time that they are needed."""
    collection: Collection | None = config.pluginmanager.getplugin(_COLLECTION)
    if collection is None:
        collection = Collection([], {})
        config.pluginmanager.register(collection, _COLLECTION)
    return collection
