"""Where the session's rootdir is, whether a path after one of our options has moved it, and where runs are kept.

pytest looks for rootdir and its ini file before it knows our options, and takes the value after ``--dataset``
for a test path. ``--dataset=PATH`` it leaves alone.
"""

from __future__ import annotations

import itertools
import os
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin import typed
from pytest_agentbench.plugin.option_parser import known, with_values
from pytest_agentbench.runs import run_folder
from pytest_agentbench.settings import ini as ini_file

TOLD = "agentbench_house"  # what a worker is told


class _Moved(NamedTuple):
    """What a path after one of our options has done."""

    text: str
    unread: Path | None  # the ini file that pytest would have read


def check_rootdir(config: pytest.Config) -> None:
    """Refuses a command that hides the ini file with its gates, and warns of one that moves rootdir alone."""
    moved = _moved(config)
    if moved is None:
        return
    if moved.unread is not None:
        raise BenchmarkError(f"{moved.unread} is not read: {moved.text}")
    try:
        config.issue_config_time_warning(pytest.PytestConfigWarning(moved.text), stacklevel=1)
    except pytest.PytestConfigWarning:  # where warnings are errors
        raise pytest.UsageError(moved.text) from None


def house(config: pytest.Config) -> Path:
    """Where runs are kept: in rootdir, or where pytest was started if one of our options moved that.

    A worker on this machine is told by the controller.
    """
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        return Path(worker.get(TOLD) or config.rootpath / run_folder.HOUSE)
    base = config.rootpath if _moved(config) is None else config.invocation_params.dir
    return base / run_folder.HOUSE


def _moved(config: pytest.Config) -> _Moved | None:
    words = _taken_for_paths(config)
    if not words or config.getoption("inifilename"):
        return None
    start, root = config.invocation_params.dir, config.rootpath
    tests = _common_folder(config)
    found = ini_file.find(tests)
    expected = None if found is None else found[0]
    common = Path(os.path.commonpath([start, tests]))
    stayed = config.getoption("rootdir") or root == common or (root / "setup.py").is_file()
    if expected == config.inipath and (expected or stayed):
        return None
    advice = " and ".join(f"{flag}={value}" for flag, value in words)
    flags = " and ".join(flag for flag, _ in words)
    text = f"pytest may have taken the path after {flags} for a test path; write {advice}"
    if not config.getoption("rootdir"):
        text = f"rootdir is {root}, not {expected.parent if expected else start}: {text}"
    return _Moved(text, expected)


def _taken_for_paths(config: pytest.Config) -> list[tuple[str, str]]:
    """Our options whose value is a word of its own and exists as a path, with that value."""
    flags = with_values(known(config))
    return [
        (flag, value)
        for flag, value in itertools.pairwise(_words(config))
        if flag in flags
        and not value.startswith("-")
        and (config.invocation_params.dir / value.partition("::")[0]).exists()
    ]


def _words(config: pytest.Config) -> list[str]:
    """The command line as pytest reads it: after PYTEST_ADDOPTS, with the lines of ``@FILE``."""
    return shlex.split(os.environ.get("PYTEST_ADDOPTS", "")) + typed.words(config)


def _common_folder(config: pytest.Config) -> Path:
    """Where pytest begins to look for the ini file: the folder that all test paths have in common."""
    start = config.invocation_params.dir
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return start
    paths = [start / arg.partition("::")[0] for arg in config.args]
    folders = [path if path.is_dir() else path.parent for path in paths if path.exists()]
    return Path(os.path.commonpath(folders)) if folders else start
