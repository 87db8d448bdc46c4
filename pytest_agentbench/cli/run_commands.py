"""The commands about finished runs.

What computes or draws is imported by the command that needs it: NumPy would double the time in which
``agentbench --version`` and ``agentbench runs`` answer (0.1 s).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.reports import inspect_log
from pytest_agentbench.reports.run_list import runs_table
from pytest_agentbench.reports.text import visible
from pytest_agentbench.runs import names, run_folder, stored
from pytest_agentbench.runs.stored import Named

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.protocol import Dataset
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.runs.stored import StoredRun
    from pytest_agentbench.settings.settings import Settings

_RUN = "a run: a folder, its scores.json, last, or a saved name"
_FORMATS = {"markdown": "Markdown", "json": "JSON", "html": "an HTML page"}


def add_run_commands(commands: Any) -> None:
    """Adds the commands to the parser of ``agentbench``."""
    listing = commands.add_parser("runs", help="list the runs with their headline")
    listing.add_argument("folders", metavar="DIR", nargs="*", type=Path)
    _add_benchmark(listing)
    listing.set_defaults(run=_runs)

    checking = commands.add_parser(
        "check", help="exit with 0 only if a run is finished, consistent, and has passed its gates"
    )
    checking.add_argument(
        "source", metavar="RUN", nargs="?", default="last", help=f"{_RUN} (default: last)"
    )
    checking.set_defaults(run=lambda given: _check(given.source))

    saving = commands.add_parser("save", help="keep a copy of a run under a name")
    saving.add_argument("name", metavar="NAME")
    saving.add_argument(
        "source", metavar="RUN", nargs="?", default="last", help=f"{_RUN} (default: last)"
    )
    saving.add_argument("--replace", action="store_true", help="replace what NAME names now")
    saving.set_defaults(run=lambda given: _save(given.name, given.source, given.replace))

    merging = commands.add_parser(
        "merge", help="make one run of the shards of a run, or of the parts of a CI matrix, and decide its gates"
    )  # fmt: skip
    merging.add_argument(
        "runs", metavar="RUN", nargs="+", help=f"{_RUN}; also one that was cut short"
    )
    merging.add_argument(
        "--gate", metavar="EXPR", action="append", default=[], dest="gates",
        help="a condition on the scores; may be repeated (default: the gates of the runs)",
    )  # fmt: skip
    merging.add_argument("--baseline", metavar="RUN", help="the run to compare with")
    merging.add_argument(
        "--partial", action="store_true",
        help="the runs were to ask a part of the samples: those that no run asked are not missing",
    )  # fmt: skip
    merging.add_argument(
        "--out", metavar="DIR", type=Path,
        help="write the merged run into DIR (default: a new folder in .agentbench/runs)",
    )  # fmt: skip
    _add_data(merging)
    merging.set_defaults(run=_merge)

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
    _add_format(ranking, "markdown", "html")
    _add_data_and_output(ranking)
    ranking.set_defaults(run=_leaderboard)

    exporting = commands.add_parser("export", help="write a run in another program's format")
    exporting.add_argument("source", metavar="RUN", help=_RUN)
    exporting.add_argument(
        "--format", choices=["inspect", "submission"], required=True,
        help="inspect: Inspect AI; submission: a file of answers for --submission",
    )  # fmt: skip
    _add_data_and_output(
        exporting, "a new file in logs/, where `inspect view` looks; of a submission stdout"
    )
    exporting.set_defaults(run=_export)

    rendering = commands.add_parser("report", help="write the report.html of a run again")
    rendering.add_argument("source", metavar="RUN", help=_RUN)
    _add_data_and_output(rendering, "the run's report.html")
    rendering.add_argument(
        "--without-truth",
        action="store_true",
        help="leave out the truth, and the plots, tables and details that are made of it",
    )
    rendering.set_defaults(run=_report)

    drawing = commands.add_parser("figures", help="write the plots of a run as files")
    drawing.add_argument("source", metavar="RUN", help=_RUN)
    drawing.add_argument(
        "--format", choices=("svg", "png", "pdf"), default="svg", help="(default: svg)"
    )
    drawing.add_argument(
        "--pick", metavar="LABEL=CHOICE", action="append", default=[],
        help="what to choose in the pickers above plots, as user=uid[7]; may be repeated (default: the first)",
    )  # fmt: skip
    drawing.add_argument(
        "-o", "--output", metavar="DIR", type=Path, help="default: figures in the run's folder"
    )
    _add_data(drawing)
    drawing.set_defaults(run=_figures)


def _add_format(parser: argparse.ArgumentParser, *formats: str) -> None:
    group = parser.add_mutually_exclusive_group()
    for name in formats:
        group.add_argument(
            f"--{name}",
            dest="format",
            action="store_const",
            const=name,
            default="text",
            help=f"write {_FORMATS[name]} instead of text",
        )


def _add_benchmark(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--benchmark", metavar="package.module:Class", action="append", default=[],
        help="a benchmark of the runs that no installed package registers; may be repeated",
    )  # fmt: skip
    parser.set_defaults(parameter=[])


def _add_data_and_output(parser: argparse.ArgumentParser, default: str = "stdout") -> None:
    _add_data(parser)
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help=f"default: {default}")


def _add_data(parser: argparse.ArgumentParser) -> None:
    _add_benchmark(parser)
    parser.add_argument(
        "--dataset", metavar="PATH",
        help="the data of the runs (default: where runs of yours found them; a path that only a run's "
        "files name is not opened)",
    )  # fmt: skip
    parser.add_argument(
        "--parameter", metavar="NAME=VALUE", action="append", default=[],
        help="a parameter of the benchmark, where the runs name a path in it; may be repeated",
    )  # fmt: skip


def _find(name: str, proof: str = run_folder.SCORES) -> Path:
    """The folder of the run that a person names."""
    return names.find_run(name, names.find_house(Path.cwd()), Path.cwd(), proof=proof)


def _write(text: str, output: Path | None) -> int:
    if output is None:
        # A run's own text may hold what the terminal's encoding does not.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        print(visible(text, but="\n"), end="")
        return 0
    try:
        output.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise BenchmarkError(
            f"--output: expected a file that can be written, got {output}: {error.strerror}"
        ) from None
    return 0


def _named(given: argparse.Namespace) -> Named:
    """What the command itself says about the runs that it reads."""
    return Named(
        tuple(map(registry.get, given.benchmark)),
        _pairs(given.parameter, "--parameter", "NAME=VALUE"),
    )


def _pairs(given: Sequence[str], option: str, expected: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in given]
    for name, equals, _ in pairs:
        if not equals:
            raise BenchmarkError(f"{option}: expected {expected}, got {name!r}")
    return {name: value for name, _, value in pairs}


def _folders(given: Sequence[Path], named: Named) -> names.Below:
    """The runs below these folders, each once; by default those of this project."""
    folders = list(given) or [names.find_house(Path.cwd()) / names.RUNS]
    for folder in folders:
        if given and not folder.is_dir():
            raise BenchmarkError(f"{folder}: expected a folder with runs below it")
    below = [names.runs_below(folder, named) for folder in folders]
    found = {run.folder.resolve(): run for one in below for run in one.runs}
    damaged = list(dict.fromkeys(why for one in below for why in one.damaged))
    if not found and not damaged:
        raise BenchmarkError(
            f"{', '.join(map(str, folders))}: expected finished runs below it, got none"
        )
    return names.Below(list(found.values()), damaged)


def _runs(given: argparse.Namespace) -> int:
    named = _named(given)
    found = _folders(given.folders, named)
    saved = names.find_house(Path.cwd()) / names.SAVED
    kept = names.Below([], []) if given.folders else names.runs_below(saved, named)
    return _write(runs_table(found.runs, kept.runs, found.damaged + kept.damaged), None)


def _check(source: str) -> int:
    from pytest_agentbench.scoring.verdict import verdict

    folder = _find(source, proof=run_folder.MANIFEST)  # also one that has only begun
    found = verdict(folder)
    here = Path.cwd()
    shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
    line = f"{shown}: {'passed' if found.passed else 'not passed'}: {found.reason}"
    _write(" ".join(line.split()) + "\n", None)
    return 0 if found.passed else 1


def _save(name: str, source: str, replace: bool) -> int:
    folder = _find(source)
    place = names.save(name, folder, names.find_house(Path.cwd()), replace)
    print(f"{folder.name} is saved as {name} ({place})")
    return 0


def _merge(given: argparse.Namespace) -> int:
    from pytest_agentbench.cli import merge

    how = merge.Merging(
        given.gates, given.baseline, given.out, given.partial, given.dataset, _named(given)
    )
    folders = [_find(name, proof=run_folder.MANIFEST) for name in given.runs]
    return merge.merge(folders, how, ["merge", *given.runs])


def _compare(given: argparse.Namespace) -> int:
    from pytest_agentbench.reports import comparison
    from pytest_agentbench.scoring import compare

    found = compare.compare(
        _find(given.before), _find(given.after), given.reading, given.dataset, _named(given)
    )
    if given.format == "json":
        return _write(json.dumps(found.as_json(), indent=2, allow_nan=False) + "\n", given.output)
    return _write(comparison.RENDERERS[given.format](found), given.output)


def _leaderboard(given: argparse.Namespace) -> int:
    from pytest_agentbench.reports import leaderboard
    from pytest_agentbench.scoring import ranking

    found = _folders(given.folders, _named(given))
    board = ranking.leaderboard(found.runs, given.dataset)
    board = dataclasses.replace(board, left_out=(*board.left_out, *found.damaged))
    return _write(leaderboard.RENDERERS[given.format](board), given.output)


def _export(given: argparse.Namespace) -> int:
    run = stored.read(_find(given.source), _named(given))
    if given.format == "submission":
        with stored.blamed_on(run):
            text = stored.benchmark_of(run).submission_text(run.records)
        return _write(text, given.output)
    dataset, problem = inspect_log.load_context(run, given.dataset)
    if problem is not None:
        print(f"agentbench: {problem}", file=sys.stderr)
    with stored.blamed_on(run):
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
    from pytest_agentbench.reports.html.report import write_html

    run, settings, dataset, records = _with_data(given)
    if given.without_truth:
        settings = dataclasses.replace(settings, report_without_truth=True)
    path = given.output or run.folder / "report.html"
    try:
        with stored.blamed_on(run):
            write_html(path, settings, dataset, run.scores, records)
    except OSError as error:
        raise BenchmarkError(f"{path}: expected a place for the report: {error.strerror}") from None
    print(path)
    return 0


def _figures(given: argparse.Namespace) -> int:
    from pytest_agentbench.reports import charts, figure_files

    picked = _pairs(given.pick, "--pick", "LABEL=CHOICE")
    run, settings, dataset, records = _with_data(given)
    with stored.blamed_on(run):
        figures, problems = charts.drawn(settings.benchmark, dataset, run.scores, records)
    for problem in problems:
        print(f"agentbench: {visible(problem)}", file=sys.stderr)
    if not figures:
        raise BenchmarkError(
            f"{run.folder}: expected a run with plots, got none to draw: its benchmark has none, or no "
            "sample has a value of its own"
        )
    folder = given.output or run.folder / "figures"
    lines, undrawn = figure_files.write_figures(folder, figures, given.format, picked)
    for line in lines:
        print(visible(line))
    for problem in undrawn:
        print(f"agentbench: {visible(problem)}", file=sys.stderr)
    if settings.report_without_truth:
        print("note: report.html of this run leaves out the truth; these plots show it")
    return 1 if problems or undrawn else 0


def _with_data(given: argparse.Namespace) -> tuple[StoredRun, Settings, Dataset, list[Record]]:
    """A finished run with its settings, its data, and its records in their order."""
    run = stored.read(_find(given.source), _named(given))
    settings = stored.settings_of(run, given.dataset)
    dataset = stored.load_data(run, settings)
    order = dataset.index_of
    records = sorted(run.records, key=lambda record: (order[record.sample], record.epoch))
    return run, settings, dataset, records
