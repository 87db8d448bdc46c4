"""bubblewrap: a file system of its own, in which nothing lies but what a policy allows."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_agentbench.agents.process.landlock import Policy, devices, real_places

_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 -- of its own, and empty


def program() -> str | None:
    """Where it is installed, if it is."""
    return shutil.which("bwrap")


def tried(bwrap: str) -> tuple[str | None, str]:
    """Its version, None if it does not work on this machine; and why not."""
    done = subprocess.run(  # noqa: S603 -- a program from PATH, and no shell
        confined(bwrap, [bwrap, "--version"], Policy(readable=(Path("/"),))),
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
    real = real_places(policy)
    wrapped = [bwrap, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"]
    for link, target in _links([*policy.readable, *policy.writable]):
        wrapped += ["--symlink", target, str(link)]
    mounts = [(path, ["--ro-bind", str(path)]) for path in real.readable if path.exists()]
    mounts += [(path, ["--tmpfs"]) for path in map(Path, _TEMPORARY) if path.is_dir()]
    mounts += [(path, ["--bind", str(path)]) for path in real.writable]
    covered = [path for path in real.hidden if _is_below_one(path, real)]
    for path in covered:
        if not path.exists():  # only what exists can be covered
            with contextlib.suppress(OSError):
                path.mkdir(parents=True)
        if path.is_dir():
            mounts.append((path, ["--tmpfs"]))
        elif path.exists():
            mounts.append((path, ["--ro-bind", os.devnull]))
    # The deeper one counts; of one place, what hides it.
    for path, mount in sorted(mounts, key=lambda pair: len(pair[0].parts)):
        wrapped += [*mount, str(path)]
    for path in covered:
        if path.is_dir():
            wrapped += ["--remount-ro", str(path)]
    wrapped += ["--dev", "/dev", "--proc", "/proc"]
    for device in devices():
        wrapped += ["--dev-bind", str(device), str(device)]
    # Root could set the kernel's switches in /proc even without its rights.
    wrapped += ["--remount-ro", "/proc", "--remount-ro", "/"]
    return [*wrapped, "--", *command]


def _is_below_one(path: Path, policy: Policy) -> bool:
    above = {path, *path.parents}
    return any(root in above for root in (*policy.readable, *policy.writable))


def _links(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """The links on the way to these places, once each: ``/lib`` leads to ``usr/lib``."""
    queue, seen, told = list(paths), set[Path](), set[Path]()
    while queue:
        path = queue.pop()
        if path in seen:
            continue
        seen.add(path)
        link = next((part for part in reversed((path, *path.parents)) if part.is_symlink()), None)
        if link is not None:
            target = str(link.readlink())
            queue.append(link.parent / target / path.relative_to(link))
            if link not in told:
                told.add(link)
                yield link, target
