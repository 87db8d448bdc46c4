"""What an agent asks for and a run does not have: it cannot be caught away, and marks the sample.

Published agents wrap everything in ``try`` and answer a constant on failure. So what is raised is no
``Exception``, and it is noted with the call that asked: :func:`pytest_agentbench.agents.ask.ask` makes an
error of that sample, whatever the agent returns.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from pytest_agentbench.agents import usage
from pytest_agentbench.agents.errors import NotProvided

_OURS = str(Path(__file__).resolve().parents[1])
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})
_PYTHON = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})


def refuse(what: str, advice: str, place: str | None = None) -> NoReturn:
    """Raises :class:`NotProvided`, and notes with the present call what was missing and who asked."""
    __tracebackhide__ = True
    missing = usage.Missing(what, advice, asked_at() if place is None else place)
    note(missing)
    raise NotProvided(str(missing))


_outside: list[usage.Missing] = []  # asked for by no call of an agent


def note(missing: usage.Missing) -> None:
    """Marks the call that asked; a thread that cannot be told marks every call in flight."""
    calls = usage.suspects()
    if not calls:
        _outside.append(missing)
    for call in calls:
        if missing not in call.missing:
            call.missing.append(missing)


@contextmanager
def refusing_imports() -> Iterator[None]:
    """Raises :class:`NotProvided` at its end for what was asked for within it, though it was caught.

    It is for the import of an agent's file, which belongs to no call.
    """
    before = len(_outside)
    yield
    if len(_outside) > before:
        raise NotProvided(str(_outside[before]))


def shown_place(place: str) -> str:
    """``file:line`` as seen from here: relative where the file is below the working directory."""
    file, colon, line = place.rpartition(":")
    path = Path(file)
    if colon and path.is_absolute() and path.is_relative_to(Path.cwd()):
        return f"{path.relative_to(Path.cwd())}:{line}"
    return place


def asked_at() -> str:
    """The line of the agent's code that asked: the nearest that is neither ours nor a library's.

    An agent may itself be installed as a library. Nothing where Python's own code alone is seen.
    """
    frame = sys._getframe(1)
    outside = ""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_OURS, "<")):
            place = f"{file}:{frame.f_lineno}"
            if file.startswith(_INSTALLED):  # which may lie in one of Python's own folders
                outside = outside or place
            elif not file.startswith(_PYTHON):
                return shown_place(place)
        back = frame.f_back
        if back is None:
            break
        frame = back
    return outside
