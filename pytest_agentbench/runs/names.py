"""Runs by the names people give them: a folder, its scores.json, ``last``, a saved name.

``agentbench save NAME`` copies a run to ``.agentbench/saved/NAME``. The copy stays when old runs are
deleted.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import replacing
from pytest_agentbench.runs import run_folder, stored
from pytest_agentbench.runs.stored import Named, StoredRun

RUNS, SAVED = "runs", "saved"
LAST = "last"
# What a comparison needs. Reports and the benchmark's own tables can be made again from these.
KEPT = (run_folder.MANIFEST, run_folder.RECORDS, run_folder.SCORES)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def find_house(start: Path) -> Path:
    """``.agentbench`` in this folder or the nearest one above; by default the one here.

    The search ends below a folder that everyone may write to, such as /tmp: its runs may be a stranger's.
    """
    for folder in (start, *start.parents):
        if folder != start and folder.stat().st_mode & stat.S_IWOTH:
            break
        if (folder / run_folder.HOUSE).is_dir():
            return folder / run_folder.HOUSE
    return start / run_folder.HOUSE


def find_run(
    name: str, house: Path, base: Path, benchmark: str | None = None, proof: str = run_folder.SCORES
) -> Path:
    """The folder of the run that ``name`` means.

    A path (from ``base``) comes first, then a saved name, then the name of a folder in ``runs``.
    ``last`` is the newest run, of ``benchmark`` if that is given. The folder must hold the file
    ``proof``: a run that is resumed need not have scores.
    """
    if name == LAST:
        return _last(house / RUNS, benchmark, proof)
    path = base / Path(name).expanduser()
    folder = path.parent if path.name == run_folder.SCORES else path
    places = [folder]
    if _NAME.fullmatch(name):
        places += [house / SAVED / name, house / RUNS / name]
    for place in places:
        if (place / proof).is_file():
            return place
    saved = ", ".join(saved_names(house)) or "none"
    raise BenchmarkError(
        f"{name}: expected the folder of a run (with {proof}), its {run_folder.SCORES}, 'last' or a saved "
        f"name (there are: {saved}; `agentbench save NAME` makes one)"
    )


def _last(runs: Path, benchmark: str | None, proof: str) -> Path:
    folders = [path.parent for path in runs.glob(f"*/{proof}") if _is_of(path.parent, benchmark)]
    if not folders:
        of = "" if benchmark is None else f" of {benchmark}"
        raise BenchmarkError(f"no run{of} with {proof} below {runs}, so no 'last' one")
    return max(folders, key=lambda folder: (folder / proof).stat().st_mtime_ns)


def last_of_models(house: Path, benchmark: str, models: Collection[str]) -> dict[str, Path]:
    """The newest run of one of these models, and those of the others in its session, by model."""
    found: list[
        tuple[Path, str, set[str]]
    ] = []  # with the sessions that worked on each, oldest first
    for log in sorted((house / RUNS).glob(f"*/{run_folder.RECORDS}"), key=_changed):
        if _is_of(log.parent, benchmark):
            manifest = run_folder.read_manifest(log.parent)
            asked = manifest.agent.models
            if len(asked) == 1 and asked[0] in models:
                found.append((log.parent, asked[0], {manifest.started, *manifest.resumed}))
    if not found:
        raise BenchmarkError(
            f"no run of {benchmark} with {' or '.join(models)} below {house / RUNS}, so no 'last' one"
        )
    session = found[-1][2]
    return {model: folder for folder, model, sessions in found if sessions & session}


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns


def _is_of(folder: Path, benchmark: str | None) -> bool:
    if benchmark is None:
        return True
    try:
        return run_folder.read_manifest(folder).settings.benchmark == benchmark
    except BenchmarkError:
        return False


def saved_names(house: Path) -> list[str]:
    return sorted(path.parent.name for path in (house / SAVED).glob(f"*/{run_folder.SCORES}"))


def save(name: str, folder: Path, house: Path, replace: bool = False) -> Path:
    """Copies what a comparison needs of a run to its saved place, all of it or nothing."""
    if not _NAME.fullmatch(name) or name == LAST:
        raise BenchmarkError(
            f"expected a name of letters, digits, '.', '_' and '-' other than 'last', got {name!r}"
        )
    stored.read(folder)  # a broken run must not replace a good one
    run_folder.check_regular(folder / run_folder.RECORDS, "the records of a run")
    place = house / SAVED / name
    if place.resolve() == folder.resolve():
        return place
    if place.exists() and not replace:
        raise BenchmarkError(
            f"{place}: expected a name that is free, got one that is taken; give another name or "
            "--replace"
        )
    run_folder.ignore_in_git(house)
    try:
        with replacing(place) as half:
            half.mkdir()
            for file in KEPT:
                shutil.copy2(folder / file, half / file)
    except OSError as error:
        raise BenchmarkError(f"{folder}: cannot be saved as {place}: {error}") from None
    return place


class Below(NamedTuple):
    """The finished runs below a folder, oldest first, and why others there cannot be read."""

    runs: list[StoredRun]
    damaged: list[str]


def runs_below(folder: Path, named: Named = stored.NOTHING) -> Below:
    """All runs in a folder and below it; one that is damaged does not hide the others."""
    found, damaged = [], []
    for path in sorted(folder.rglob(run_folder.SCORES)):
        if not os.path.lexists(path.with_name(run_folder.MANIFEST)):
            continue  # another program's scores.json
        try:
            found.append(stored.read(path.parent, named))
        except BenchmarkError as error:
            damaged.append(str(error))
    return Below(sorted(found, key=lambda run: (run.started, str(run.folder))), damaged)
