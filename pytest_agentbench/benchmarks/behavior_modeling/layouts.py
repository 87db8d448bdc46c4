"""Where the parts of a data set lie: tasks, their truth, and the store's three files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError

MODES = ("test", "inference")
STORE_FILES = ("user.json", "item.json", "review.json")

_NUMBERED = re.compile(r"task_(\d+)\.json")
_DEPTH = 2  # folders below the given one that are searched: track2/amazon
_EXPECTED = "test_tasks.json (the published layout) or tasks/task_N.json (WebSocietySimulator's)"


@dataclass(frozen=True)
class Layout:
    """The folders of one data set. Where ``truth`` is None the layout is the published one."""

    tasks: Path  # MODE_tasks.json, or task_N.json
    truth: Path | None  # groundtruth_N.json
    store: Path | None  # user.json, item.json, review.json


def find(given: Path, store: Path | None = None, truth: Path | None = None) -> Layout:
    """The layout of the folder itself, of the only folder with tasks in it, or of a folder ``tasks``.

    ``truth`` names the folder of groundtruth_N.json, where it is not beside the tasks.
    """
    folder = given if _has_tasks(given) else _only_inner(given)
    if any(_published(folder)):
        if truth is not None:
            raise BenchmarkError(
                f"groundtruth: expected none beside the published layout, whose files have the truth in "
                f"them, got {truth} (dataset {given})"
            )
        return Layout(folder, None, store or _with_store([folder, given]))
    tasks = folder if _numbered(folder) else folder / "tasks"
    around = tasks.absolute().parent
    truth = truth or around / "groundtruth"
    return Layout(tasks, truth, store or _with_store([folder, around, given]))


def given_store(name: str | None, bases: Sequence[Path]) -> Path | None:
    """The folder that ``--store`` names, in the first base that has it."""
    if name is None:
        return None
    path = Path(name).expanduser()
    folder = next((base / path for base in bases if (base / path).is_dir()), path)
    if _with_store([folder]) is None:
        raise BenchmarkError(
            f"--store: expected a folder with {', '.join(STORE_FILES)}, got {name!r} "
            f"({listing(folder)})"
        )
    return folder


def given_truth(name: str | None, bases: Sequence[Path]) -> Path | None:
    """The folder that the key ``groundtruth`` names, in the first base that has it."""
    if name is None:
        return None
    path = Path(name).expanduser()
    folder = next((base / path for base in bases if (base / path).is_dir()), None)
    if folder is None:
        looked = " and ".join(dict.fromkeys(map(str, bases)))
        raise BenchmarkError(
            f"groundtruth: expected a folder with groundtruth_N.json, got {name!r} (looked in {looked})"
        )
    return folder


def existing(path: Path) -> Path | None:
    """The file, or the same file gzipped."""
    zipped = path.with_name(f"{path.name}.gz")
    return path if path.is_file() else zipped if zipped.is_file() else None


def store_files(folder: Path) -> list[Path]:
    """Those of the three files that are there."""
    return [path for name in STORE_FILES if (path := existing(folder / name)) is not None]


def numbered_tasks(folder: Path) -> list[tuple[int, Path]]:
    """The files ``task_N.json`` by their number."""
    found = ((_NUMBERED.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted((int(match[1]), path) for match, path in found if match)


def listing(folder: Path) -> str:
    """What is in a folder, for a message."""
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "") if names else "nothing there"


def _only_inner(given: Path) -> Path:
    inner = _inner(given)
    if len(inner) == 1:
        return inner[0]
    if inner:
        names = ", ".join(folder.relative_to(given).as_posix() for folder in inner)
        raise BenchmarkError(
            f"dataset {given}: expected one folder with tasks, got {len(inner)} ({names}); name one "
            f"of them: --dataset={inner[0]}"
        )
    hint = ""
    if store_files(given):
        hint = f"; where the tasks lie elsewhere, --dataset names them, and --store={given}"
    raise BenchmarkError(f"dataset {given}: expected {_EXPECTED}, got {listing(given)}{hint}")


def _inner(given: Path) -> list[Path]:
    level = [given]
    for _ in range(_DEPTH):
        level = [below for folder in level for below in _folders(folder)]
        found = [folder for folder in level if _has_tasks(folder)]
        if found:
            return found
    return []


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(
            path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")
        )
    except OSError:  # not ours to read
        return []


def _has_tasks(folder: Path) -> bool:
    return any(_published(folder)) or _numbered(folder) or _numbered(folder / "tasks")


def _published(folder: Path) -> Iterator[Path]:
    for mode in MODES:
        path = existing(folder / f"{mode}_tasks.json")
        if path is not None:
            yield path


def _numbered(folder: Path) -> bool:
    try:
        return any(_NUMBERED.fullmatch(path.name) for path in folder.iterdir())
    except OSError:  # no folder, or not ours to read
        return False


def _with_store(folders: Sequence[Path]) -> Path | None:
    return next((folder for folder in folders if store_files(folder)), None)
