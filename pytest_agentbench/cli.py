"""The command ``agentbench``: everything that is not a run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_agentbench import __version__
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import BenchmarkError
from pytest_agentbench.options import parsed


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; 0 if all went well, 2 for a mistake in what was asked."""
    parser = argparse.ArgumentParser(
        prog="agentbench",
        description="Everything about agent benchmarks that is not a run of pytest.",
    )
    parser.add_argument("--version", action="version", version=f"pytest-agentbench {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    listing = commands.add_parser("list", help="list the installed benchmarks")
    listing.set_defaults(run=lambda _: _list())

    template = commands.add_parser(
        "new-agent", help="print the template of an agent for a benchmark"
    )
    template.add_argument("benchmark", metavar="BENCHMARK")
    template.set_defaults(run=lambda given: _new_agent(given.benchmark))

    validation = commands.add_parser(
        "validate", help="check a submission file as it would be sent", add_help=False
    )
    validation.add_argument("benchmark", metavar="BENCHMARK")
    validation.add_argument("rest", nargs=argparse.REMAINDER)
    validation.set_defaults(run=lambda given: _validate(given.benchmark, given.rest))

    given = parser.parse_args(arguments)
    try:
        code: int = given.run(given)
    except BenchmarkError as error:
        print(f"agentbench: {error}", file=sys.stderr)
        return 2
    return code


def _list() -> int:
    for name in registry.available():
        benchmark = registry.get(name)
        print(f"{benchmark.name}: {benchmark.description}")
        print(f"  modes      {', '.join(benchmark.modes)}")
        print(f"  readings   {', '.join(benchmark.readings)} (the first is primary)")
        for metric in benchmark.metrics:
            unit = f" in {metric.unit}" if metric.unit else ""
            print(f"  metric     {metric.name}{unit}, {metric.better} is better")
        agents = [f"builtin:{baseline}" for baseline in benchmark.baselines]
        print(f"  baselines  {', '.join(agents)} (default: builtin:{benchmark.default_baseline})")
    return 0


def _new_agent(name: str) -> int:
    print(registry.get(name).agent_template(), end="")
    return 0


def _validate(name: str, arguments: Sequence[str]) -> int:
    """The options after BENCHMARK are the benchmark's own parameters."""
    if name in ("-h", "--help"):
        print("usage: agentbench validate BENCHMARK FILE [--dataset PATH] [--PARAMETER VALUE ...]")
        return 0
    benchmark = registry.get(name)
    parser = argparse.ArgumentParser(prog=f"agentbench validate {benchmark.name}")
    parser.add_argument("file", metavar="FILE", type=Path, help="the submission file")
    parser.add_argument("--dataset", metavar="PATH", type=Path, help="the data it answers")
    for parameter in benchmark.parameters:
        parser.add_argument(
            f"--{parameter.name.replace('_', '-')}", help=parameter.expected.replace("%", "%%")
        )
    given = vars(parser.parse_args(arguments))
    parameters = {}
    for parameter in benchmark.parameters:
        value = given[parameter.name]
        parameters[parameter.name] = (
            parameter.default
            if value is None
            else parsed(parameter.expected, parameter.parse, value, f"--{parameter.name}")
        )
    problems = benchmark.validate(given["file"], parameters, given["dataset"])
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems" if problems else "Validation finished without errors!")
    return 1 if problems else 0
