"""Landlock: rights to files and processes that a process gives up, without root.

What is allowed is listed; Landlock has no way to take something away from it. The process may read and
write only where it is told to, and look into no process that it did not start. All that it starts is held to
the same.

A bare interpreter imports this module (:mod:`pytest_agentbench.agents.process.supervisor`) and takes the
rights away from itself before it becomes the agent's program. So it imports little, and of the standard
library only, and holds the policy that bubblewrap follows, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import stat
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# What a program may write to, and control, in /dev.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_GRAPHICS = ("nvidia*", "dri", "kfd", "dxg", "accel")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 -- semaphores of multiprocessing have no other place
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
_DROP_FROM_BOUNDING_SET, _LAST_CAPABILITY = 24, 63
_AMBIENT, _CLEAR_ALL = 47, 4
_NEW_MOUNTS, _NEW_USERS = 0x20000, 0x10000000
_NO_NEW_USERS = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")  # of Ubuntu
_RECURSIVE, _PRIVATE, _NO_SUID, _NO_DEVICES = 1 << 14, 1 << 18, 1 << 1, 1 << 2


class Policy(NamedTuple):
    """What a process may do with files; where two of these overlap, the deeper one counts."""

    readable: tuple[Path, ...] = ()  # with all below; nothing else can be read
    writable: tuple[Path, ...] = ()  # read and written, with all below
    hidden: tuple[Path, ...] = ()  # neither; they need not exist yet
    listed: tuple[Path, ...] = ()  # Python finds no module in a folder whose names it cannot list


def abi() -> tuple[int, str]:
    """The version of Landlock in the kernel, 0 for none; and why it is too old, if it is."""
    try:
        version = _syscall(_CREATE_RULESET, None, 0, 1)
    except OSError as error:
        return 0, os.strerror(error.errno or 0).lower()
    too_old = version < OLDEST_ABI
    return version, f"ABI {version}, and {OLDEST_ABI} is needed" if too_old else ""


def real_places(policy: Policy) -> Policy:
    """The policy with links resolved, and with the files that links in hidden folders lead to.

    A data set of the hub is a folder of links: hiding these would hide nothing.
    """
    readable, writable, hidden, listed = (
        tuple(dict.fromkeys(Path(os.path.realpath(path)) for path in part)) for part in policy
    )
    found: dict[Path, None] = {}
    queue = list(hidden)
    while queue:
        path = queue.pop()
        # A folder that holds Python or the agent is no data set.
        if path in found or (path not in hidden and any(is_below(r, path) for r in readable)):
            continue
        found[path] = None
        queue += _link_targets(path, readable)
    return Policy(readable, writable, tuple(found), listed)


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


def is_below(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def visible(root: Path, hidden: Iterable[Path]) -> Iterator[Path]:
    """The topmost places at or below ``root`` that hold nothing hidden.

    Together they are all of it but the hidden places and what will appear beside these later.
    """
    inside = [path for path in hidden if is_below(path, root)]
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
    """What a program may use in /dev: what everybody has, and graphics processors."""
    for pattern in (*_DEVICES, *_GRAPHICS):
        yield from Path("/dev").glob(pattern)


def graphics() -> bool:
    """Whether this machine has graphics processors to compute with."""
    return any(True for pattern in _GRAPHICS for _ in Path("/dev").glob(pattern))


def shared_memory() -> Path | None:
    """Where programs share memory: one of this process's own, where it may have that.

    Else that of all, and None if that is used as a disk: somebody's data may lie there.
    """
    if not _own_shared_memory():
        with contextlib.suppress(OSError), os.scandir(_SHARED_MEMORY) as entries:
            if any(entry.is_dir(follow_symlinks=False) for entry in entries):
                return None
    return Path(_SHARED_MEMORY)


def _own_shared_memory() -> bool:
    libc, user, group = _libc(), os.getuid(), os.getgid()
    if libc.unshare(_NEW_MOUNTS) != 0:  # root may do that at once, others as somebody of their own
        with contextlib.suppress(OSError):
            if _NO_NEW_USERS.read_text().strip() == "1":
                return False
        if libc.unshare(_NEW_MOUNTS | _NEW_USERS) != 0:
            return False
        with contextlib.suppress(OSError):
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    private, plain = _RECURSIVE | _PRIVATE, _NO_SUID | _NO_DEVICES
    memory = (b"tmpfs", _SHARED_MEMORY.encode(), b"tmpfs", plain, b"mode=1777")
    return bool(libc.mount(None, b"/", None, private, None) == 0 == libc.mount(*memory))


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
        if rights:
            _syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, handle), 0)
    finally:
        os.close(handle)


def restrict_self(policy: Policy) -> None:
    """Gives up, for this thread and all that comes after it, what the policy does not allow.

    The links in the policy are resolved (:func:`real_places`).
    """
    version, _ = abi()
    handled = _UNTIL_TRUNCATE | (_IOCTL_DEV if version >= 5 else 0)
    scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
    attributes = struct.pack("=QQQ", handled, 0, scoped)
    ruleset = _syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    for root in policy.readable:
        for place in visible(root, policy.hidden):
            _allow(ruleset, place, _READ)
    for folder in (*policy.readable, *policy.listed):
        _allow(ruleset, folder, _READ_DIR)
    all_but_devices = handled & ~(_MAKE_CHAR | _MAKE_BLOCK)
    for root in policy.writable:
        for place in visible(root, policy.hidden):
            _allow(ruleset, place, all_but_devices)
    for device in (*devices(), shared_memory()):
        if device is not None:
            _allow(ruleset, device, all_but_devices)
    # Of other processes the kernel shows little here: who may not trace them may not look into them.
    _allow(ruleset, Path("/proc"), _READ)
    _checked(_libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    _give_up_root()
    _syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _give_up_root() -> None:
    """Leaves root no right beyond those of the owner of its files: others lead around Landlock, to
    memory and disks. Without new privileges the next program has no more of them.
    """
    for capability in range(_LAST_CAPABILITY + 1):  # those that there are, if we are root at all
        _libc().prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
    _libc().prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    _checked(_libc().capset(header, struct.pack("=6I", 0, 0, 0, 0, 0, 0)))
