"""Where the truth lies on this machine: agents in sandboxes must not read it, even in their own folders."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_agentbench.base import files, own_files
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder

if TYPE_CHECKING:
    from pytest_agentbench.settings.settings import Settings

DEMO_SCRIPTS = "tests/demo_data"  # in a checkout of this package
_PACKAGE = Path(run_folder.__file__).resolve().parents[1]
_DEMOS = ("demo", "demo.*", "make_demo*", "__pycache__/make_demo*")


def places(settings: Settings) -> tuple[Path, ...]:
    """The data, the caches made from them, and the runs, whose records and reports quote them.

    So that keys of models are as safe as the truth, asbench's config is among them. Some of these places
    may not exist yet.
    """
    if (archive := own_files.archive_of(_PACKAGE)) is not None:
        raise BenchmarkError(
            f"--agent-isolation process: expected pytest-agentbench in a folder, got {archive}, which the "
            "agent would have to read and in which the truth of the demo data lies: install the package "
            "(pip install), or unpack that file"
        )
    *_, rootdir = settings.bases
    found = [files.cache_folder(), settings.house or rootdir / run_folder.HOUSE]
    truth = settings.benchmark.truth_places(settings)
    found += truth
    # The data that come with this package, of all its benchmarks, and what makes them.
    found += [path for name in _DEMOS for path in _PACKAGE.glob(f"benchmarks/*/{name}")]
    found += [path for path in (_PACKAGE.parent / DEMO_SCRIPTS,) if path.is_dir()]
    for folder in dict.fromkeys(place.resolve().parent for place in truth):
        found += _history(folder)
    if settings.config is not None:
        found.append(settings.config)
    if settings.run_dir is not None:
        found.append(settings.run_dir)
    for base in settings.bases:
        found += [
            path for path in (base / run_folder.HOUSE, *_runs(settings, base)) if path.exists()
        ]
    return tuple(dict.fromkeys(path.absolute() for path in found))


def exceptions(settings: Settings) -> tuple[Path, ...]:
    """What ``--agent-read`` names."""
    found = []
    for value in settings.agent_reads:
        paths = [base / Path(value).expanduser() for base in settings.bases]
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            looked = " and ".join(dict.fromkeys(map(str, settings.bases)))
            raise BenchmarkError(
                f"--agent-read: expected a file or folder that exists, got {value!r} (looked in {looked})"
            )
        found.append(path.absolute())
    return tuple(found)


def _runs(settings: Settings, base: Path) -> Iterator[Path]:
    for name in (settings.baseline, settings.resumed):
        if name is not None:
            path = base / Path(name).expanduser()
            yield path.parent if path.name == run_folder.SCORES else path


def _history(data: Path) -> Iterator[Path]:
    """The git repositories around the data: their history may hold a copy."""
    for folder in (data, *data.parents):
        place = folder / ".git"
        if place.is_dir():
            yield place
        elif place.is_file():  # a work tree: the repository is elsewhere
            yield place
            with contextlib.suppress(OSError, UnicodeDecodeError):
                inner = folder / place.read_text(encoding="utf-8").partition(":")[2].strip()
                yield inner.parents[1] if inner.parent.name == "worktrees" else inner
