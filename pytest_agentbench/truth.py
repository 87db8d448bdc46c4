"""Where the truth lies on this machine: what is hidden from agents in processes of their own."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_agentbench import runlog
from pytest_agentbench.datasets import cache

if TYPE_CHECKING:
    from pytest_agentbench.settings import Settings


def places(settings: Settings) -> tuple[Path, ...]:
    """The data, what was built of them, and the runs, whose records and reports tell of them.

    Some need not exist yet.
    """
    *_, rootdir = settings.bases
    found = [cache.cache_folder(), rootdir / runlog.HOUSE]
    found += settings.benchmark.truth_places(settings)
    if isinstance(settings.dataset, Path):
        found += _history(settings.dataset)
    if settings.run_dir is not None:
        found.append(settings.run_dir)
    for base in settings.bases:
        found += [path for path in (base / runlog.HOUSE, *_runs(settings, base)) if path.exists()]
    return tuple(dict.fromkeys(path.absolute() for path in found))


def of_hub(repository: str) -> Iterator[Path]:
    """Where the hub's client keeps a data set, and where verified copies of it were noted."""
    from pytest_agentbench.datasets import hub  # few runs need it

    home = hub.home()
    name = repository.replace("/", "--")
    yield (hub.hub_cache() or home / "hub") / f"datasets--{name}"
    yield home / "xet"  # pieces of what was downloaded
    for note in (cache.cache_folder() / "hub").glob(f"dataset-{name}-*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            yield Path(json.loads(note.read_text(encoding="utf-8"))["folder"])


def _runs(settings: Settings, base: Path) -> Iterator[Path]:
    for name in (settings.baseline, settings.resumed):
        if name is not None:
            path = base / Path(name).expanduser()
            yield path.parent if path.name == runlog.SCORES else path


def _history(dataset: Path) -> Iterator[Path]:
    """The repositories of git around the data, which may hold them a second time."""
    for folder in dataset.resolve().parents:
        place = folder / ".git"
        if place.is_dir():
            yield place
        elif place.is_file():  # a work tree: the repository is elsewhere
            yield place
            with contextlib.suppress(OSError, UnicodeDecodeError):
                inner = folder / place.read_text(encoding="utf-8").partition(":")[2].strip()
                yield inner.parents[1] if inner.parent.name == "worktrees" else inner
