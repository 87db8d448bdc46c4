"""Landlock: rights to files and processes that a process gives up, without root.

What is allowed is listed; Landlock has no way to take something away from it. The process may read
everything but what is hidden, write only where it is told to, and look into no process that it did not
start. All that it starts is held to the same.

This module is also a program. A bare interpreter imports it alone, takes the rights away from itself and
becomes the agent's program: no thread, file or module from before is left in there. So it imports little, and
of the standard library only, and holds the policy that bubblewrap follows, too.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# What a program may write to, and control, in /dev: shared memory and graphics processors among them.
_DEVICES = (
    "null", "zero", "full", "random", "urandom", "tty", "shm",
    "nvidia*", "dri", "kfd", "dxg", "accel",
)  # fmt: skip
OLDEST_ABI = 3  # before it, a read-only file could still be truncated

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK, _TRUNCATE, _IOCTL_DEV = 1 << 6, 1 << 11, 1 << 14, 1 << 15
_UNTIL_TRUNCATE = (_TRUNCATE << 1) - 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_ABSTRACT_SOCKETS_AND_SIGNALS = 3
_NO_NEW_PRIVS = 38
_CAPABILITIES_VERSION = 0x20080522
_DAC_OVERRIDE = 1 << 1  # root reads and writes what belongs to others

# Its folder comes last: modules beside it may have the names of some in the standard library.
_START = "import sys; sys.path.append(sys.argv[1]); import landlock; landlock.main()"
_FOLDER = str(Path(__file__).parent)


class Policy(NamedTuple):
    """What a process may do with files; where two of these overlap, the deeper one counts."""

    hidden: tuple[Path, ...] = ()  # neither read nor written; they need not exist yet
    readable: tuple[Path, ...] = ()  # read although something around it is hidden
    writable: tuple[Path, ...] = ()


def abi() -> tuple[int, str]:
    """The version of Landlock in the kernel, 0 for none; and why it is too old, if it is."""
    try:
        version = _syscall(_CREATE_RULESET, None, 0, 1)
    except OSError as error:
        return 0, os.strerror(error.errno or 0).lower()
    too_old = version < OLDEST_ABI
    return version, f"ABI {version}, and {OLDEST_ABI} is needed" if too_old else ""


def confined(command: Sequence[str], policy: Policy) -> list[str]:
    """The command that runs ``command`` under the policy."""
    paths = [[str(path) for path in part] for part in policy]
    return [sys.executable, "-I", "-S", "-c", _START, _FOLDER, json.dumps(paths), *command]


def real_places(policy: Policy) -> Policy:
    """The policy with links resolved, and with the files that links in hidden folders lead to.

    A data set of the hub is a folder of links: hiding these would hide nothing.
    """
    hidden, readable, writable = (
        tuple(Path(os.path.realpath(path)) for path in part) for part in policy
    )
    found: dict[Path, None] = {}
    queue = list(hidden)
    while queue:
        path = queue.pop()
        # A folder that holds Python or the agent is no data set.
        if path in found or (path not in hidden and any(_is_below(r, path) for r in readable)):
            continue
        found[path] = None
        queue += _link_targets(path, readable)
    return Policy(tuple(found), readable, writable)


def _link_targets(folder: Path, skipped: Sequence[Path]) -> Iterator[Path]:
    # Repositories of git are large and hold no links.
    unseen = [] if folder.name == ".git" else [str(folder)]
    without = set(map(str, skipped))
    while unseen:
        try:
            entries = list(os.scandir(unseen.pop()))
        except OSError:  # a file, or not readable
            continue
        for entry in entries:
            if entry.is_symlink():
                yield Path(os.path.realpath(entry.path))
            elif entry.is_dir() and entry.path not in without:
                unseen.append(entry.path)


def _is_below(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def visible(root: Path, hidden: Iterable[Path]) -> Iterator[Path]:
    """The topmost places at or below ``root`` that hold nothing hidden.

    Together they are all of it but the hidden places and what will appear beside these later.
    """
    inside = [path for path in hidden if _is_below(path, root)]
    if root in inside:
        return
    if not inside:
        yield root
        return
    try:
        entries = list(os.scandir(root))
    except OSError:
        return  # nothing in there can be read anyway
    for entry in entries:
        if not entry.is_symlink():  # its target is visible by its own name, or is not
            yield from visible(Path(entry.path), inside)


def devices() -> Iterator[Path]:
    """What a program may use in /dev."""
    for pattern in _DEVICES:
        yield from Path("/dev").glob(pattern)


def _syscall(number: int, *arguments: object) -> int:
    return _checked(_libc().syscall(ctypes.c_long(number), *arguments))


@functools.cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _allow(ruleset: int, place: Path, rights: int) -> None:
    try:
        handle = os.open(place, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return  # it is gone, or we may not open it
    try:
        if not stat.S_ISDIR(os.fstat(handle).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, handle)
        _syscall(_ADD_RULE, ruleset, 1, rule, 0)
    finally:
        os.close(handle)


def restrict_self(policy: Policy) -> None:
    """Gives up, for this thread and all that comes after it, what the policy does not allow."""
    policy = real_places(policy)
    version, _ = abi()
    handled = _UNTIL_TRUNCATE | (_IOCTL_DEV if version >= 5 else 0)
    scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
    attributes = struct.pack("=QQQ", handled, 0, scoped)
    ruleset = _syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    # Names may be listed everywhere: Python finds no module in a folder that it cannot list.
    _allow(ruleset, Path("/"), _READ_DIR)
    for root in (Path("/"), *policy.readable):
        for place in visible(root, policy.hidden):
            _allow(ruleset, place, _READ)
    for root in policy.writable:
        for place in visible(root, policy.hidden):
            _allow(ruleset, place, handled & ~(_MAKE_CHAR | _MAKE_BLOCK))
    for device in devices():
        _allow(ruleset, device, handled & ~(_MAKE_CHAR | _MAKE_BLOCK))
    _checked(_libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    _give_up_root()
    _syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _give_up_root() -> None:
    """Leaves root only its right to files: others lead around Landlock, to memory and disks.

    Without new privileges the next program has no more of them.
    """
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    data = ctypes.create_string_buffer(24)
    _checked(_libc().capget(header, data))
    effective, permitted, *_ = struct.unpack("=6I", data.raw)
    kept = struct.pack("=6I", effective & _DAC_OVERRIDE, permitted & _DAC_OVERRIDE, 0, 0, 0, 0)
    _checked(_libc().capset(header, kept))


def main() -> None:
    """Restricts this process by the policy in its arguments, and becomes the command after it."""
    _, paths, *command = sys.argv[1:]
    try:
        restrict_self(Policy(*(tuple(map(Path, part)) for part in json.loads(paths))))
        os.execvp(command[0], command)  # noqa: S606 -- what the user named, and no shell
    except OSError as error:
        # The agent never runs without confinement.
        sys.exit(f"{command[0]} could not be started under Landlock: {error}")
