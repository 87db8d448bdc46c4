"""The command ``agentbench``: everything that is not a run."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench import __version__
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import BenchmarkError
from pytest_agentbench.settings import parsed

if TYPE_CHECKING:
    from pytest_agentbench.finished import FinishedRun


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

    fetching = commands.add_parser(
        "fetch", help="download a benchmark's data, to work offline later"
    )
    fetching.add_argument("benchmark", metavar="BENCHMARK")
    fetching.add_argument("--revision", help="a commit, tag or branch of the data set")
    fetching.set_defaults(run=lambda given: _fetch(given.benchmark, given.revision))

    validation = commands.add_parser("validate", help="check a submission file as it would be sent")
    validation.add_argument("benchmark", metavar="BENCHMARK")
    validation.add_argument(
        "rest", metavar="FILE [--dataset PATH] [--PARAMETER VALUE ...]", nargs=argparse.REMAINDER,
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

    _add_run_commands(commands)

    given = parser.parse_args(arguments)
    try:
        code: int = given.run(given)
        sys.stdout.flush()  # a pipe that is closed is noticed here, not at exit
    except BenchmarkError as error:
        print(f"agentbench: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `| head` has read enough; Python would complain again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


_RUN = "a run: a folder, its scores.json, last, or a saved name"


def _add_run_commands(commands: Any) -> None:
    """The commands about finished runs. Each imports what it needs when it is called."""
    listing = commands.add_parser("runs", help="list the runs with their headline")
    listing.add_argument("folders", metavar="DIR", nargs="*", type=Path)
    listing.set_defaults(run=lambda given: _runs(given.folders))

    saving = commands.add_parser("save", help="keep a copy of a run under a name")
    saving.add_argument("name", metavar="NAME")
    saving.add_argument(
        "source", metavar="RUN", nargs="?", default="last", help=f"{_RUN} (default: last)"
    )
    saving.add_argument("--replace", action="store_true", help="replace what NAME names now")
    saving.set_defaults(run=lambda given: _save(given.name, given.source, given.replace))

    comparing = commands.add_parser(
        "compare", help="compare two runs on the same samples: before, then after"
    )
    comparing.add_argument("before", metavar="RUN_A", help=_RUN)
    comparing.add_argument("after", metavar="RUN_B", help=_RUN)
    _add_format(comparing, "markdown", "json", "html")
    comparing.add_argument("--reading", metavar="NAME", help="the reading that comes first")
    _add_data_and_output(comparing)
    comparing.set_defaults(run=_compare)

    ranking = commands.add_parser("leaderboard", help="rank the runs that may be compared")
    ranking.add_argument("folders", metavar="DIR", nargs="*", type=Path)
    _add_format(ranking, "html")
    _add_data_and_output(ranking)
    ranking.set_defaults(run=_leaderboard)

    exporting = commands.add_parser("export", help="write a run in another program's format")
    exporting.add_argument("source", metavar="RUN", help=_RUN)
    exporting.add_argument(
        "--format", choices=["inspect"], required=True, help="inspect: Inspect AI"
    )
    _add_data_and_output(exporting, "a new file in logs/, where `inspect view` looks")
    exporting.set_defaults(run=_export)

    rendering = commands.add_parser("report", help="write the report.html of a run again")
    rendering.add_argument("source", metavar="RUN", help=_RUN)
    _add_data_and_output(rendering, "the run's report.html")
    rendering.set_defaults(run=_report)


def _add_format(parser: argparse.ArgumentParser, *formats: str) -> None:
    group = parser.add_mutually_exclusive_group()
    for name in formats:
        group.add_argument(
            f"--{name}", dest="format", action="store_const", const=name, default="text"
        )


def _add_data_and_output(parser: argparse.ArgumentParser, default: str = "stdout") -> None:
    parser.add_argument(
        "--dataset", metavar="PATH", help="where the data lie now (default: where they lay)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help=f"default: {default}")


def _find(name: str) -> Path:
    from pytest_agentbench import saved

    return saved.find_run(name, saved.find_house(Path.cwd()), Path.cwd())


def _write(text: str, output: Path | None) -> int:
    if output is None:
        # A run's own text may hold what the terminal's encoding does not.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        print(text, end="")
        return 0
    try:
        output.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise BenchmarkError(
            f"--output: expected a file that can be written, got {output}: {error.strerror}"
        ) from None
    return 0


def _folders(given: Sequence[Path]) -> list[FinishedRun]:
    """The finished runs below these folders, each once; by default those of this project."""
    from pytest_agentbench import saved

    folders = list(given) or [saved.find_house(Path.cwd()) / saved.RUNS]
    for folder in folders:
        if given and not folder.is_dir():
            raise BenchmarkError(f"{folder}: expected a folder with runs below it")
    found = {run.folder.resolve(): run for folder in folders for run in saved.runs_below(folder)}
    if not found:
        raise BenchmarkError(
            f"{', '.join(map(str, folders))}: expected finished runs below it, got none"
        )
    return list(found.values())


def _runs(folders: Sequence[Path]) -> int:
    from pytest_agentbench import saved
    from pytest_agentbench.reports.runs import runs_table

    found = _folders(folders)
    house = saved.find_house(Path.cwd())
    kept = [] if folders else list(saved.runs_below(house / saved.SAVED))
    return _write(runs_table(found, kept), None)


def _save(name: str, source: str, replace: bool) -> int:
    from pytest_agentbench import saved

    run = _find(source)
    place = saved.save(name, run, saved.find_house(Path.cwd()), replace)
    print(f"{run.name} is saved as {name} ({place})")
    return 0


def _compare(given: argparse.Namespace) -> int:
    from pytest_agentbench import compare
    from pytest_agentbench.reports import comparison

    found = compare.compare(_find(given.before), _find(given.after), given.reading, given.dataset)
    if given.format == "json":
        return _write(json.dumps(found.as_json(), indent=2, allow_nan=False) + "\n", given.output)
    return _write(comparison.RENDERERS[given.format](found), given.output)


def _leaderboard(given: argparse.Namespace) -> int:
    from pytest_agentbench import leaderboard

    board = leaderboard.leaderboard(_folders(given.folders), given.dataset)
    render = leaderboard.html if given.format == "html" else leaderboard.text
    return _write(render(board), given.output)


def _export(given: argparse.Namespace) -> int:
    from pytest_agentbench import finished, inspect_log

    run = finished.read(_find(given.source))
    dataset, problem = inspect_log.load_context(run, given.dataset)
    if problem is not None:
        print(f"agentbench: {problem}", file=sys.stderr)
    log = inspect_log.inspect_log(run, dataset)
    path: Path = given.output or Path("logs")  # where `inspect view` looks
    if given.output is None:
        path.mkdir(exist_ok=True)
    if path.is_dir():
        path /= inspect_log.file_name(log)
    _write(json.dumps(log, allow_nan=False) + "\n", path)
    print(path)
    return 0


def _report(given: argparse.Namespace) -> int:
    from pytest_agentbench import finished
    from pytest_agentbench.reports.html import write_html

    run = finished.read(_find(given.source))
    settings = finished.settings_of(run, given.dataset)
    source = finished.Source(settings, finished.load_data(run, settings))
    order = {str(key): number for number, key in enumerate(source.dataset.keys)}
    records = sorted(run.records, key=lambda record: (order[record.sample], record.epoch))
    path = given.output or run.folder / "report.html"
    try:
        write_html(path, source, run.scores, records)
    except OSError as error:
        raise BenchmarkError(f"{path}: expected a place for the report: {error.strerror}") from None
    print(path)
    return 0


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


def _fetch(name: str, revision: str | None) -> int:
    from pytest_agentbench.datasets import hub

    benchmark = registry.get(name)
    if benchmark.hub_repository is None:
        raise BenchmarkError(f"{benchmark.name}: has no data on the hub; give --dataset PATH")
    print(hub.fetch(benchmark.hub_repository, revision))
    return 0


def _score(benchmark: str, arguments: Sequence[str]) -> int:
    from pytest_agentbench import score

    return score.score(benchmark, arguments)


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
