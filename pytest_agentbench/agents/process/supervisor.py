"""A small program between us and an agent's: when either of us ends, nothing that the agent started is left.

A bare interpreter imports this module and starts the agent's program, confined by Landlock if it is told so.
On Linux every descendant that loses its parent becomes its child, a daemon in a session of its own as well,
and is killed at the end. It ends as the agent's program did.

Its *lifeline* is a pipe from us. Our first line there holds its orders; a farewell or the end of the pipe
asks it to end. Without a farewell we are gone, and it removes the agent's folder, too. So it imports little,
and of the standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_agentbench.agents.process import landlock
else:
    try:
        import landlock  # beside this module, where it runs as a program
    except ImportError:
        from pytest_agentbench.agents.process import landlock

FAREWELL = b"."
_CHILD_SUBREAPER = 36
_PATIENCE = 10.0  # seconds to end what forks faster than it can be killed
_PAUSE = 0.002
_MOMENT = 20  # milliseconds

# Its folder comes last: modules beside it may have the names of some in the standard library.
_START = "import sys; sys.path.append(sys.argv[1]); import supervisor; supervisor.main()"
_FOLDER = str(Path(__file__).parent)


def supervised(command: Sequence[str], lifeline: int) -> list[str]:
    """The command that runs ``command`` under a supervisor, which reads ``lifeline``."""
    return [sys.executable, "-I", "-S", "-c", _START, _FOLDER, str(lifeline), *command]


def orders(policy: landlock.Policy | None, folder: Path | None) -> bytes:
    """The first line for a supervisor: how to confine, and what to remove if we are gone."""
    told = {
        "policy": policy and [[str(path) for path in part] for part in policy],
        "folder": folder and str(folder),
    }
    return json.dumps(told).encode("ascii") + b"\n"


def main() -> None:
    """Starts the command in the arguments, and ends as it ends."""
    lifeline, command = int(sys.argv[2]), sys.argv[3:]
    given = _first_line(lifeline)
    if given is None:
        sys.exit(1)  # we are gone already
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    agent = os.fork()
    if agent == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for handle in (woken, wake, lifeline):
            os.close(handle)
        _become(command, given["policy"])
    nothing = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):  # they are the agent's
        os.dup2(nothing, handle)
    status = _end_all(agent, _watch(agent, lifeline, woken))
    if given["folder"] is not None and _alone(lifeline):
        import shutil

        shutil.rmtree(given["folder"], ignore_errors=True)
    _end_like(status)


def _first_line(lifeline: int) -> dict[str, Any] | None:
    text = b""
    while not text.endswith(b"\n"):
        data = os.read(lifeline, 1 << 16)
        if not data:
            return None
        text += data
    told: dict[str, Any] = json.loads(text)
    return told


def _become(command: list[str], policy: list[list[str]] | None) -> None:
    where = "" if policy is None else " under Landlock"
    try:
        if policy is not None:
            landlock.restrict_self(landlock.Policy(*(tuple(map(Path, part)) for part in policy)))
        os.execvp(command[0], command)  # noqa: S606 -- what the user named, and no shell
    except BaseException as error:  # the agent never runs without confinement
        with contextlib.suppress(OSError):
            os.write(2, f"{command[0]} could not be started{where}: {error}\n".encode())
    finally:
        os._exit(1)


def _watch(agent: int, lifeline: int, woken: int) -> int | None:
    """Waits for the end of the agent or of the lifeline; the agent's exit status, if it has ended."""
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        status = _reaped(agent)
        if status is not None:
            return status
        for handle, _ in poll.poll():
            if handle == lifeline:
                return None
            os.read(woken, 1 << 12)


def _alone(lifeline: int) -> bool:
    """Whether we are gone without a farewell; an agent may notice that a moment before the lifeline does."""
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    return bool(poll.poll(_MOMENT)) and os.read(lifeline, 1) != FAREWELL


def _reaped(agent: int) -> int | None:
    """The agent's exit status, if it has ended; others that have ended are let go as well."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == agent:
                return ended[1]
    return None


def _end_all(agent: int, status: int | None) -> int:
    """Kills every descendant; returns the agent's exit status."""
    deadline = time.monotonic() + _PATIENCE
    if status is None:
        os.kill(agent, signal.SIGKILL)
        _, status = os.waitpid(agent, 0)
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            break  # none is left: what loses its parent comes to us
        for child in _children():
            with contextlib.suppress(OSError):  # it has ended, or became another user's
                os.kill(child, signal.SIGKILL)
        time.sleep(_PAUSE)
    return status


def _children() -> Iterator[int]:
    mine = str(os.getpid())
    for folder in Path("/proc").iterdir() if sys.platform == "linux" else ():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                text = (folder / "stat").read_text(errors="replace")
                if text.rpartition(")")[2].split()[1] == mine:
                    yield int(folder.name)


def _end_like(status: int) -> None:
    if not os.WIFSIGNALED(status):
        os._exit(os.WEXITSTATUS(status))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    number = os.WTERMSIG(status)
    with contextlib.suppress(OSError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)
