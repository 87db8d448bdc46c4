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
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.reports import inspect_log
from pytest_agentbench.reports.run_list import runs_table
from pytest_agentbench.runs import names, stored
from pytest_agentbench.runs.stored import StoredRun

_RUN = "a run: a folder, its scores.json, last, or a saved name"
_FORMATS = {"markdown": "Markdown", "json": "JSON", "html": "an HTML page"}


def add_run_commands(commands: Any) -> None:
    """Adds the commands to the parser of ``agentbench``."""
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


def _add_data_and_output(parser: argparse.ArgumentParser, default: str = "stdout") -> None:
    parser.add_argument(
        "--dataset",
        metavar="PATH",
        help="the data of the runs (default: the path in their manifests)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help=f"default: {default}")


def _find(name: str) -> Path:
    """The folder of the run that a person names."""
    return names.find_run(name, names.find_house(Path.cwd()), Path.cwd())


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


def _folders(given: Sequence[Path]) -> list[StoredRun]:
    """The finished runs below these folders, each once; by default those of this project."""
    folders = list(given) or [names.find_house(Path.cwd()) / names.RUNS]
    for folder in folders:
        if given and not folder.is_dir():
            raise BenchmarkError(f"{folder}: expected a folder with runs below it")
    found = {run.folder.resolve(): run for folder in folders for run in names.runs_below(folder)}
    if not found:
        raise BenchmarkError(
            f"{', '.join(map(str, folders))}: expected finished runs below it, got none"
        )
    return list(found.values())


def _runs(folders: Sequence[Path]) -> int:
    found = _folders(folders)
    house = names.find_house(Path.cwd())
    kept = [] if folders else list(names.runs_below(house / names.SAVED))
    return _write(runs_table(found, kept), None)


def _save(name: str, source: str, replace: bool) -> int:
    folder = _find(source)
    place = names.save(name, folder, names.find_house(Path.cwd()), replace)
    print(f"{folder.name} is saved as {name} ({place})")
    return 0


def _compare(given: argparse.Namespace) -> int:
    from pytest_agentbench.reports import comparison
    from pytest_agentbench.scoring import compare

    found = compare.compare(_find(given.before), _find(given.after), given.reading, given.dataset)
    if given.format == "json":
        return _write(json.dumps(found.as_json(), indent=2, allow_nan=False) + "\n", given.output)
    return _write(comparison.RENDERERS[given.format](found), given.output)


def _leaderboard(given: argparse.Namespace) -> int:
    from pytest_agentbench.reports import leaderboard
    from pytest_agentbench.scoring import ranking

    board = ranking.leaderboard(_folders(given.folders), given.dataset)
    render = leaderboard.html if given.format == "html" else leaderboard.text
    return _write(render(board), given.output)


def _export(given: argparse.Namespace) -> int:
    run = stored.read(_find(given.source))
    if given.format == "submission":
        return _write(stored.benchmark_of(run).submission_text(run.records), given.output)
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
    from pytest_agentbench.reports.html.report import write_html

    run = stored.read(_find(given.source))
    settings = stored.settings_of(run, given.dataset)
    dataset = stored.load_data(run, settings)
    if given.without_truth:
        settings = dataclasses.replace(settings, report_without_truth=True)
    order = {str(key): number for number, key in enumerate(dataset.keys)}
    records = sorted(run.records, key=lambda record: (order[record.sample], record.epoch))
    path = given.output or run.folder / "report.html"
    try:
        write_html(path, settings, dataset, run.scores, records)
    except OSError as error:
        raise BenchmarkError(f"{path}: expected a place for the report: {error.strerror}") from None
    print(path)
    return 0
