"""Builds the plans that the command line asks for, and registers the plugins that run them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_agentbench.agents import last_threads
from pytest_agentbench.agents.exits import ExitGuard
from pytest_agentbench.base import progress
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.plugin import agent_in_force, answers_at_once, compat, hosts, workers
from pytest_agentbench.plugin.arguments import choose, keep_only_tests
from pytest_agentbench.plugin.asking_ahead import AskingAhead
from pytest_agentbench.plugin.collection import BenchmarkModule, Collection
from pytest_agentbench.plugin.command_line import (
    bases,
    check_resume,
    check_rootdir,
    check_selected,
    command_line,
    ini,
    narrowing,
    only_shows,
    refuse_undecided_gates,
    requested,
)
from pytest_agentbench.plugin.controller import Controller
from pytest_agentbench.plugin.fixture_compat import load_conftests
from pytest_agentbench.plugin.progress_line import say
from pytest_agentbench.plugin.workers import Distribution
from pytest_agentbench.reports import mlflow
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings.resolve import resolve
from pytest_agentbench.settings.settings import Settings

_MARKED = pytest.StashKey[dict[str, Plan]]()


def activate(config: pytest.Config) -> None:
    """Makes every run ready. A mistake is a usage error here, before any sample is asked."""
    worker = getattr(config, "workerinput", None)
    told = None if worker is None else worker.get("agentbench_host")
    threads = set(threading.enumerate())
    try:
        check_resume(config)
        chosen = choose(config)
        settings, selected, paths = requested(config, hosts.digests(told) if told else {}, chosen)
        if chosen.left_out:
            config.pluginmanager.register(LeftOut(chosen.left_out), "agentbench-left-out")
        if not settings:
            refuse_undecided_gates(config, chosen.left_out)
            keep_only_tests(config, chosen, ())
            return
        if worker is None:
            check_rootdir(config)
        resumed = config.getoption("agentbench_resume")
        settings = {n: dataclasses.replace(s, resumed=resumed) for n, s in settings.items()}
        processes = 1 if worker is None else worker["workercount"]
        listening = contextlib.ExitStack()
        listening.enter_context(progress.lines_go_to(functools.partial(say, config)))
        config.add_cleanup(listening.close)
        narrowed = narrowing(config, chosen, settings, selected, paths)
        distributes = compat.will_distribute(config)
        folders = dict.fromkeys(settings, config.invocation_params.dir)
        folders |= {nodeid: path.parent for nodeid, path in paths.items()}
        for folder in {*folders.values()}:
            load_conftests(config, folder)
        settings = {n: _with_note(one, config, folders[n]) for n, one in settings.items()}
        asks = not distributes and not only_shows(config)
        with _guarded(config, stays=worker is None and not distributes):
            plans = {
                nodeid: Plan(one, processes, selecting=nodeid in narrowed, asks=asks)
                for nodeid, one in settings.items()
            }
        check_selected(plans, selected)
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
            controller = Controller(config, list(plans.values()))
            config.pluginmanager.register(controller, "agentbench-controller")
            config.add_cleanup(
                lambda: last_threads.end_without(threads, lambda: controller.exit_status)
            )
            distribution = Distribution(config, controller)
            config.pluginmanager.register(distribution, "agentbench-distribution")
    except BenchmarkError as error:
        if worker is not None:
            config.pluginmanager.register(workers.Refusal(str(error)), "agentbench-refusal")
            return
        raise pytest.UsageError(str(error)) from None
    named = [(p, frozenset(selected.get(n, ()))) for n, p in plans.items() if n not in paths]
    scenarios = {path: plans[nodeid] for nodeid, path in paths.items()}
    config.pluginmanager.register(Collection(named, scenarios), "agentbench-collection")
    # Registered after the controller, so that it stops asking before the controller scores.
    config.pluginmanager.register(AskingAhead(list(plans.values())), "agentbench-asking-ahead")
    config.stash[_MARKED] = {p.benchmark.name: p for p, _ in named}
    keep_only_tests(config, chosen, plans)


def _with_note(settings: Settings, config: pytest.Config, folder: Path) -> Settings:
    """The settings, with a line for the header if a fixture of the project's will not answer."""
    place = agent_in_force.passed_over(settings, agent_in_force.fixtures_seen(config, folder))
    if place is None:
        return settings
    note = f"note: the agent {settings.agent_shown} answers, not the fixture `agent` of {place}"
    return dataclasses.replace(settings, notes=(*settings.notes, note))


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
def _guarded(config: pytest.Config, stays: bool) -> Iterator[None]:
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
    controller: Controller | None = config.pluginmanager.getplugin("agentbench-controller")
    return int(pytest.ExitCode.USAGE_ERROR) if controller is None else controller.exit_status


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Feeds ``sample`` of a user's marked test with all samples. Our own functions feed themselves."""
    plan = plan_of(metafunc.definition)
    if plan is not None and not isinstance(metafunc.definition.parent, BenchmarkModule):
        keys = plan.dataset.keys
        several = len(plan.targets) > 1
        ids = [str(keys[index]) if several else keys[index].id for index in plan.drawn]
        metafunc.parametrize("sample", plan.drawn, ids=ids, indirect=True)


def plan_of(node: Any) -> Plan | None:
    """The plan that a test belongs to: by its module, or by its marker."""
    module = node.getparent(BenchmarkModule)
    if module is not None:
        plan: Plan = module.plan
        return plan
    mark = node.get_closest_marker("agentbench")
    if mark is None:
        return None
    if len(mark.args) != 1 or mark.kwargs or not isinstance(mark.args[0], str):
        pytest.fail(
            "@pytest.mark.agentbench: expected the name of a benchmark, as in "
            f"@pytest.mark.agentbench('humob'); got {mark.args} {mark.kwargs}",
            pytrace=False,
        )
    config: pytest.Config = node.config
    known = config.stash.setdefault(_MARKED, {})
    try:
        name = registry.get(mark.args[0]).name
        if name not in known:
            layers = [command_line(config), ini(config)]
            settings = resolve(mark.args[0], None, layers, bases(config))
            known[name] = Plan(settings, asks=not only_shows(config))
    except BenchmarkError as error:
        pytest.fail(f"@pytest.mark.agentbench: {error}", pytrace=False)
    return known[name]
