"""``agentbench score``: a submission scored without pytest, here or on a Dask cluster.

It leaves the folder of a run, like pytest, and decides the same gates.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Benchmark, Submission
from pytest_agentbench.cli import logged_run
from pytest_agentbench.cli.terminal import Lines, add_option
from pytest_agentbench.reports import summary
from pytest_agentbench.runs import names
from pytest_agentbench.runs.collector import Collector, Place
from pytest_agentbench.runs.evaluate import Evaluation, held_off
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.submissions import Submitted, submitting_agent
from pytest_agentbench.scoring.compare import load_baseline
from pytest_agentbench.settings import ini, scenario
from pytest_agentbench.settings.options import Option, of_parameter
from pytest_agentbench.settings.resolve import Layer, resolve
from pytest_agentbench.settings.settings import OPTIONS, Settings

ENGINES = ("local", "dask")
_AT_ONCE = 1000  # samples measured together


def score(benchmark: str, arguments: Sequence[str]) -> int:
    """Scores a submission; 0 if all gates passed, 1 if one did not."""
    layers: list[Layer] = []
    nodeid = None
    bases = [Path.cwd()]
    path = Path(benchmark)
    if path.suffix.lower() in scenario.SUFFIXES:
        layers, nodeid = [scenario.read(path)], path.as_posix()
        bases.insert(0, path.resolve().parent)
        found = registry.get(str(layers[0].values["benchmark"]))
    else:
        found = registry.get(benchmark)
    options = _options(found)
    given = _parser(options.values(), benchmark).parse_args(arguments)
    values = {key: value for key, value in vars(given).items() if value is not None}
    engine, scheduler = values.pop("engine"), values.pop("scheduler", None)
    typed = Layer(lambda key: f"--{options[key].name}", values, Path.cwd())
    ini_layer = ini.layer(Path.cwd(), options.values())
    bases.append(ini_layer.base)
    house = names.find_house(Path.cwd())
    settings = resolve(
        None if layers else benchmark,
        nodeid,
        [typed, *layers, ini_layer],
        list(dict.fromkeys(bases)),
        find_run=lambda name, of: names.find_run(name, house, Path.cwd(), of),
    )
    if settings.submission is None:
        raise BenchmarkError("--submission: expected a file of answers or the folder of a run")
    if scheduler is not None and engine != "dask":
        raise BenchmarkError("--scheduler: expected --engine dask beside it")
    with contextlib.ExitStack() as stack:
        plan, records = (_local if engine == "local" else _on_cluster)(settings, scheduler, stack)
        return _scored(plan, records, ["score", benchmark, *arguments])


def _options(benchmark: Benchmark) -> dict[str, Option]:
    """Those that can change a score where the answers exist already, by key."""
    own = (of_parameter(parameter, benchmark) for parameter in benchmark.parameters)
    return {option.key: option for option in (*OPTIONS, *own) if option.decides_scores}


def _parser(options: Iterable[Option], given: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"agentbench score {given}", description="Score a submission without pytest."
    )
    for option in options:
        add_option(parser, option)
    parser.add_argument(
        "--engine", choices=ENGINES, default="local",
        help="where the rows are read and scored: here, or on a Dask cluster (default: local)",
    )  # fmt: skip
    parser.add_argument(
        "--scheduler", metavar="ADDRESS",
        help="the cluster's scheduler, tcp://host:8786 (default: a cluster on this machine)",
    )  # fmt: skip
    return parser


def _local(
    settings: Settings, _scheduler: str | None, stack: contextlib.ExitStack
) -> tuple[Plan, Iterator[Sequence[Record]]]:
    stack.enter_context(held_off())
    plan = Plan(settings)

    def records() -> Iterator[Sequence[Record]]:
        for epoch in range(1, settings.epochs + 1):
            for start in range(0, len(plan.indices), _AT_ONCE):
                evaluation = Evaluation(plan.benchmark, epoch)
                indices = plan.indices[start : start + _AT_ONCE]
                plan.look_up([Question(index, epoch) for index in indices], evaluation)
                yield evaluation.records

    return plan, records()


def _on_cluster(
    settings: Settings, scheduler: str | None, stack: contextlib.ExitStack
) -> tuple[Plan, Iterator[Sequence[Record]]]:
    from pytest_agentbench.runs import cluster

    assert settings.submission is not None
    pieces = settings.benchmark.partitioned(settings)  # mistakes come before anything is started
    ending = stack.enter_context(ThreadPoolExecutor(1))
    connection = stack.enter_context(contextlib.ExitStack())
    each, cores = connection.enter_context(cluster.connected(settings.benchmark, scheduler))
    pieces.count(each, cores)
    agent = submitting_agent(settings.submission, pieces.digest)
    plan = Plan(settings, scored=Submitted(pieces.dataset, Submission({}), agent))

    def records() -> Iterator[Sequence[Record]]:
        problems = yield from cluster.records(plan.benchmark, pieces, plan.indices, each, cores)
        plan.submission = Submission({}, problems)
        ending.submit(connection.close)  # processes end while the scores are worked out

    return plan, records()


def _scored(plan: Plan, batches: Iterator[Sequence[Record]], arguments: Sequence[str]) -> int:
    agent = {"name": plan.loaded_agent.name, "digest": plan.loaded_agent.digest}
    place = Place(names.find_house(Path.cwd()), Path.cwd(), arguments)
    collector = Collector(
        plan, agent, place, time.strftime("%Y%m%d-%H%M%S"), load_baseline(plan, place)
    )
    epochs = range(1, plan.settings.epochs + 1)
    collector.expected = {Question(index, epoch) for index in plan.indices for epoch in epochs}
    out = Lines()
    for line in summary.header(plan, agent["name"]):
        out.write_line(line)
    return logged_run.finish(collector, batches, out)
