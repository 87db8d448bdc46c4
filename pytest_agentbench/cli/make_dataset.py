"""The command ``agentbench make-dataset``: a data set of the user's own data."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.cli.terminal import Lines, add_option
from pytest_agentbench.settings.options import of_parameter


def make_dataset(name: str, arguments: Sequence[str]) -> int:
    """The options after BENCHMARK are the benchmark's own, besides ``--out`` and ``--seed``."""
    benchmark = registry.get(name)
    if not benchmark.corpus_options:
        benchmark.make_dataset(Path(), 0, {})  # says that it cannot
        raise BenchmarkError(f"{benchmark.name} has no options to make data sets with")
    parser = argparse.ArgumentParser(prog=f"agentbench make-dataset {benchmark.name}")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="a new or empty folder"
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        help="another one draws other tasks (default: 0)",
    )
    own = [of_parameter(parameter, benchmark) for parameter in benchmark.corpus_options]
    for option in own:
        add_option(parser, option)
    given = vars(parser.parse_args(arguments))
    options = {
        option.key: option.default
        if given[option.key] is None
        else option.read(given[option.key], f"--{option.name}")
        for option in own
    }
    lines = Lines()
    for line in benchmark.make_dataset(given["out"], given["seed"], options):
        lines.write_line(line)
    lines.write_line(f"written: {given['out']}")
    return 0
