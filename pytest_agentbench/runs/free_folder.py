"""Whether a run can be written where it is to be, found out before any sample is asked."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs.run_folder import ANSWERS, RECORDS

_LEAST_ROOM = 4096  # bytes on the disk


def check_free(folder: Path) -> None:
    """Refuses a folder that holds a run already or cannot be written, before any sample is asked."""
    if _holds_records(folder):
        raise BenchmarkError(
            f"{folder}: expected a folder without a run, but it holds {RECORDS}; its answers are "
            f"not overwritten: name another folder, or go on with that run (--resume={folder})"
        )
    existing = folder
    while not os.path.lexists(existing):  # also where no one may look
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing, buffering=0) as file:
            file.write(bytes(_LEAST_ROOM))
    except OSError as error:
        raise BenchmarkError(
            f"{folder}: expected a folder that can be written, got {existing} ({error.strerror}); name "
            "another one with --run-dir"
        ) from None


def _holds_records(folder: Path) -> bool:
    """Whether something was logged. A session that was killed early leaves an empty log."""
    paths = (folder / RECORDS, folder / ANSWERS)
    return any(os.path.exists(path) and path.stat().st_size > 0 for path in paths)  # noqa: PTH110 -- no error where no one may look
