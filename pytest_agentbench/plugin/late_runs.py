"""Runs that only collection finds: those of tests marked with ``@pytest.mark.agentbench``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.plugin import (
    activation,
    agent_in_force,
    answers_at_once,
    messages,
    shards,
    typed,
)
from pytest_agentbench.plugin.asked import Asked, from_text
from pytest_agentbench.plugin.collection import BenchmarkModule
from pytest_agentbench.plugin.command_line import bases, command_line, ini
from pytest_agentbench.plugin.marked import MarkedTests
from pytest_agentbench.plugin.rootdir import house
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.settings.resolve import resolve
from pytest_agentbench.settings.settings import Settings

_MARKED = "agentbench-marked-tests"


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Feeds ``sample`` of a user's marked test with all samples. Our own functions feed themselves."""
    if isinstance(metafunc.definition.parent, BenchmarkModule):
        return
    plan = plan_of(metafunc.definition)
    if plan is None:
        return
    keys, epochs = plan.dataset.keys, plan.settings.epochs
    several = len(plan.targets) > 1
    params, ids = [], []
    for index in plan.drawn:
        for epoch in range(1, epochs + 1):
            name = str(keys[index]) if several else keys[index].id
            params.append(Asked(plan, (Question(index, epoch),)))
            ids.append(f"{name}-e{epoch}" if epochs > 1 else name)
    metafunc.parametrize("sample", params, ids=ids, indirect=True)
    plugins = metafunc.config.pluginmanager
    if not plugins.has_plugin(_MARKED):  # where no test is marked, no sample pays for it
        plugins.register(MarkedTests(), _MARKED)


def plan_of(node: Any) -> Plan | None:
    """The plan that a user's test belongs to by its marker."""
    mark = node.get_closest_marker("agentbench")
    if mark is None:
        return None
    if len(mark.args) != 1 or mark.kwargs or not isinstance(mark.args[0], str):
        pytest.fail(
            "@pytest.mark.agentbench: expected the name of a benchmark, as in "
            f"@pytest.mark.agentbench('humob'); got {mark.args} {mark.kwargs}",
            pytrace=False,
        )
    try:
        return _plan(node.config, mark.args[0], node.session, node)
    except BenchmarkError as error:
        problem = str(error)
    # Not while the other is handled: pytest would show both.
    pytest.fail(f"@pytest.mark.agentbench: {problem}", pytrace=False)


def collected(node: Any, ids: Sequence[str], text: str) -> None:
    """On the controller, which collects nothing itself: what a worker has collected."""
    runs, items = from_text(text)
    if not runs:
        return
    controller = activation.controller_of(node.config)
    for run, benchmark in runs.items():
        if run not in controller.collectors:
            _plan(node.config, benchmark, node.config.stash[messages.LOOPING])
    for number, run, questions in items:
        controller.expect(ids[number], run, questions)


def _plan(
    config: pytest.Config, benchmark: str, session: pytest.Session, node: pytest.Item | None = None
) -> Plan:
    """The plan of a benchmark; where no option has named it, its run begins here.

    ``node`` is the first test of the run, in a process that collects.
    """
    known, name = config.stash.setdefault(activation.PLANS, {}), registry.get(benchmark).name
    if name in known:
        return known[name]
    if config.getoption("agentbench_resume") is not None:
        raise BenchmarkError(
            f"--resume: expected a run that an option names; give --benchmark {name} beside it"
        )
    worker = getattr(config, "workerinput", None)
    asks = activation.asks_here(config)
    controller = None if worker is not None else activation.controller_of(config)
    with activation.guarded(config, stays=worker is None and asks):
        settings = dataclasses.replace(
            resolve(benchmark, None, [command_line(config), ini(config)], bases(config)),
            shard=shards.shard_of(config),
            house=house(config),
            typed=bool(typed.values(config, "gate")),
        )
        _check_folder(settings, known.values())
        plan = Plan(settings, 1 if worker is None else worker["workercount"], asks=asks)
        plan.marked = name if registry.match(name) else benchmark
    config.add_cleanup(plan.close_proxy)
    known[name] = plan
    run = plan.settings.nodeid
    if node is None:
        agent_in_force.take_over(config, run, messages.credited(config, run))
    else:
        credited = agent_in_force.settle_marked(plan, node)
        if worker is not None:
            messages.send(config, "credited", confirmed=False, run=run, agent=credited)
    if controller is None:
        answers_at_once.send_from_worker({plan.settings.nodeid: plan}, config)
    else:
        controller.begin(session)
        controller.add(plan)
    activation.collection_of(config).plans.append(plan)
    return plan


def _check_folder(settings: Settings, others: Iterable[Plan]) -> None:
    """Refuses a second run in one folder. When the first began, nobody knew of this one."""
    for other in others:
        if settings.run_dir is not None and other.settings.run_dir == settings.run_dir:
            raise BenchmarkError(
                f"--run-dir: expected one benchmark for {settings.run_dir}, got {other.settings.nodeid} and "
                f"{settings.nodeid}: leave the option out, or start pytest once for each, with test files of its own"
            )
