"""bubblewrap: a view of the file system of its own, in which nothing lies at the hidden places."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Sequence

from pytest_agentbench.agents.process.landlock import Policy, devices, real_places


def program() -> str | None:
    """Where it is installed, if it is."""
    return shutil.which("bwrap")


def tried(bwrap: str) -> tuple[str | None, str]:
    """Its version, None if it does not work on this machine; and why not."""
    done = subprocess.run(  # noqa: S603 -- a program from PATH, and no shell
        confined(bwrap, [bwrap, "--version"], Policy()),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        return done.stdout.split()[-1], ""
    return None, (done.stderr.strip().splitlines() or ["it failed"])[-1]


def confined(bwrap: str, command: Sequence[str], policy: Policy) -> list[str]:
    """The command that runs ``command`` under the policy."""
    policy = real_places(policy)
    wrapped = [
        bwrap, "--unshare-user", "--unshare-pid", "--cap-drop", "ALL",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    ]  # fmt: skip
    for device in devices():
        if device.name != "shm":  # has one of its own
            wrapped += ["--dev-bind", str(device), str(device)]
    mounts = [(path, ["--ro-bind", str(path)]) for path in policy.readable if path.exists()]
    mounts += [(path, ["--bind", str(path)]) for path in policy.writable]
    for path in policy.hidden:
        if not path.exists():  # only what exists can be covered
            with contextlib.suppress(OSError):
                path.mkdir(parents=True)
        if path.is_dir():
            mounts.append((path, ["--tmpfs"]))
        elif path.exists():
            mounts.append((path, ["--ro-bind", os.devnull]))
    for path, mount in sorted(mounts, key=lambda pair: len(pair[0].parts)):
        wrapped += [*mount, str(path)]
    for path, mount in mounts:
        if mount == ["--tmpfs"]:
            wrapped += ["--remount-ro", str(path)]
    return [*wrapped, "--", *command]
