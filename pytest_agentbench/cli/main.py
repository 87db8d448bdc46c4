"""The command ``agentbench``: everything that is not a run, and asbench's way to start one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_agentbench import __version__
from pytest_agentbench.agents import specs
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.sources import hub
from pytest_agentbench.cli import make_dataset, new_test, run
from pytest_agentbench.cli.run_commands import add_run_commands
from pytest_agentbench.cli.terminal import add_option
from pytest_agentbench.reports.text import visible
from pytest_agentbench.settings.options import of_parameter


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
    template.add_argument(
        "--ticks", action="store_true",
        help="of an agent that lives in the benchmark's city tick by tick",
    )  # fmt: skip
    template.set_defaults(run=lambda given: _new_agent(given.benchmark, given.ticks))

    testing = commands.add_parser(
        "new-test", help="write a test file with the samples of a benchmark, which editors show"
    )
    testing.add_argument("benchmark", metavar="BENCHMARK")
    testing.add_argument("--out", metavar="FILE", type=Path, help="(default: test_BENCHMARK.py)")
    testing.set_defaults(run=lambda given: new_test.new_test(given.benchmark, given.out))

    fetching = commands.add_parser(
        "fetch", help="download a benchmark's data, to work offline later"
    )
    fetching.add_argument("benchmark", metavar="BENCHMARK")
    fetching.add_argument("--revision", help="a commit, tag or branch of the data set")
    fetching.set_defaults(run=lambda given: _fetch(given.benchmark, given.revision))

    making = commands.add_parser(
        "make-dataset", help="make a data set of your own data, in the benchmark's layout",
        usage="agentbench make-dataset BENCHMARK --out DIR [--seed N] [--OPTION VALUE ...]",
    )  # fmt: skip
    making.add_argument("benchmark", metavar="BENCHMARK")
    making.add_argument(
        "rest", metavar="--out DIR ...", nargs=argparse.REMAINDER,
        help="what `agentbench make-dataset BENCHMARK --help` says",
    )  # fmt: skip
    making.set_defaults(run=lambda given: make_dataset.make_dataset(given.benchmark, given.rest))

    validation = commands.add_parser("validate", help="check a submission file as it would be sent")
    validation.add_argument("benchmark", metavar="BENCHMARK")
    validation.add_argument(
        "rest", metavar="FILE [--dataset PATH] [--mode MODE] [--PARAMETER VALUE ...]", nargs=argparse.REMAINDER,
        help="what `agentbench validate BENCHMARK --help` says",
    )  # fmt: skip
    validation.set_defaults(run=lambda given: _validate(given.benchmark, given.rest))

    scoring = commands.add_parser(
        "score", help="score a submission without pytest, here or on a Dask cluster",
        usage="agentbench score BENCHMARK|FILE.yaml --submission FILE [--dataset PATH] "
        "[--engine dask [--scheduler ADDRESS]] [--OPTION VALUE ...]",
    )  # fmt: skip
    scoring.add_argument("benchmark", metavar="BENCHMARK|FILE.yaml")
    scoring.add_argument(
        "rest", metavar="--submission FILE [--dataset PATH] [--engine dask] ...",
        nargs=argparse.REMAINDER, help="what `agentbench score BENCHMARK --help` says",
    )  # fmt: skip
    scoring.set_defaults(run=lambda given: _score(given.benchmark, given.rest))

    commands.add_parser("run", help="run a benchmark as `asbench run` did, by starting pytest")
    commands.add_parser("exec", help="run a script that drives WebSocietySimulator's Simulator")
    add_run_commands(commands)

    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if words[:1] == ["run"]:  # its options are pytest's, too: argparse would refuse them here
            return run.run(words[1:])
        if words[:1] == ["exec"]:  # the script's own options come after it
            return _exec(words[1:])
        given = parser.parse_args(words)
        code: int = given.run(given)
        sys.stdout.flush()  # a pipe that is closed is noticed here, not at exit
    except BenchmarkError as error:
        print(f"agentbench: {visible(str(error), but=chr(10))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("agentbench: interrupted", file=sys.stderr)
        return 130  # as a shell says it
    except BrokenPipeError:  # `| head` has read enough; Python would complain again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


_DIRECTIONS = {
    "higher": ", higher is better",
    "lower": ", lower is better",
    "zero": ", nearer to 0 is better",
    "none": "",
}


def _list() -> int:
    for name in registry.available():
        benchmark = registry.get(name)
        print(f"{benchmark.name}: {benchmark.description}")
        print(f"  modes      {', '.join(benchmark.modes)}")
        print(f"  readings   {', '.join(benchmark.readings)} (the first is primary)")
        for metric in benchmark.metrics:
            unit = f" in {metric.unit}" if metric.unit else ""
            print(f"  metric     {metric.name}{unit}{_DIRECTIONS[metric.better]}")
        agents = ", ".join(map(specs.builtin, benchmark.baselines))
        print(f"  baselines  {agents} (default: {specs.builtin(benchmark.default_baseline)})")
    return 0


def _new_agent(name: str, ticks: bool) -> int:
    benchmark = registry.get(name)
    # Without the argument where it is not needed: benchmarks of third parties may not take it.
    print(benchmark.agent_template(ticks=True) if ticks else benchmark.agent_template(), end="")
    return 0


def _fetch(name: str, revision: str | None) -> int:
    benchmark = registry.get(name)
    if benchmark.hub_repository is None:
        raise BenchmarkError(f"{benchmark.name}: has no data on the hub; give --dataset PATH")
    print(hub.fetch(benchmark.hub_repository, revision))
    return 0


def _exec(arguments: Sequence[str]) -> int:
    from pytest_agentbench.cli import exec_script  # imports NumPy, too

    return exec_script.exec_script(arguments)


def _score(benchmark: str, arguments: Sequence[str]) -> int:
    from pytest_agentbench.cli import score  # imports NumPy, as runs.py does where it must

    return score.score(benchmark, arguments)


def _validate(name: str, arguments: Sequence[str]) -> int:
    """The options after BENCHMARK are the benchmark's own parameters."""
    if name in ("-h", "--help"):
        usage = "FILE [--dataset PATH] [--mode MODE] [--PARAMETER VALUE ...]"
        print(f"usage: agentbench validate BENCHMARK {usage}")
        return 0
    benchmark = registry.get(name)
    parser = argparse.ArgumentParser(prog=f"agentbench validate {benchmark.name}")
    parser.add_argument("file", metavar="FILE", type=Path, help="the submission file")
    parser.add_argument("--dataset", metavar="PATH", type=Path, help="the data it answers")
    modes = benchmark.modes
    parser.add_argument(
        "--mode", choices=modes, default=modes[0], help=f"which of them (default: {modes[0]})"
    )
    own = [of_parameter(parameter, benchmark) for parameter in benchmark.parameters]
    for option in own:
        add_option(parser, option)
    given = vars(parser.parse_args(arguments))
    parameters = {"mode": given["mode"]} | {
        option.key: option.default
        if given[option.key] is None
        else option.read(given[option.key], f"--{option.name}")
        for option in own
    }
    problems = benchmark.validate(given["file"], parameters, given["dataset"])
    for problem in problems:
        print(problem)
    fine = f"Validation finished without errors! {given['file']} can be submitted"
    print(f"{len(problems)} problems" if problems else fine)
    return 1 if problems else 0
