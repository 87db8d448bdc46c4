"""Several hosts on one machine: network namespaces joined by a bridge, each with an address of its own.

A host shares the files of this machine, but not its network: what listens on one is reached from the
others, and from here, by address alone, and a host can be cut off as if its cable were pulled.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_NUMBER = itertools.count()


@dataclass(frozen=True)
class Host:
    """One host. Processes started on it are killed with it."""

    name: str  # of its network namespace, and of the end of its cable that is in the bridge
    address: str
    bridge: str
    started: list[subprocess.Popen[Any]] = field(default_factory=list)

    def command(self, *args: str) -> list[str]:
        """The command line that runs ``args`` on this host, in a mount namespace of its own."""
        return ["ip", "netns", "exec", self.name, *args]

    def run(self, *args: str, **how: Any) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end; ``how`` is for :func:`subprocess.run`."""
        how = {"check": True, "capture_output": True, "text": True, **how}
        return subprocess.run(self.command(*args), **how)

    def start(self, *args: str, **how: Any) -> subprocess.Popen[Any]:
        """Starts a command; ``how`` is for :class:`subprocess.Popen`."""
        process = subprocess.Popen(self.command(*args), **how)
        self.started.append(process)
        return process

    def cut_off(self) -> None:
        """From now on nothing reaches it or leaves it, and nobody is told: no FIN, no RST."""
        _ip("link", "set", self.name, "nomaster")

    def join_again(self) -> None:
        _ip("link", "set", self.name, "master", self.bridge)

    def processes(self) -> list[int]:
        return [int(pid) for pid in _ip("netns", "pids", self.name).split()]

    def kill_all(self) -> None:
        """Kills what runs there, as a power cut would, and waits until it is gone."""
        for process in self.started:  # one that has just been started is not there yet
            process.kill()
            process.wait()
        while found := self.processes():
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


@contextlib.contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """So many hosts; all are gone at the end, whatever happened between."""
    if not 1 <= count <= 13:
        raise ValueError(f"expected 1 to 13 hosts, got {count}")
    # The pid, because several processes of one test run make hosts at the same time.
    bridge = f"ab{os.getpid()}.{next(_NUMBER)}"
    with contextlib.ExitStack() as stack:
        _ip("link", "add", bridge, "type", "bridge")
        stack.callback(_ip, "link", "delete", bridge)
        # 198.18.0.0/15 is set aside for tests; no two interfaces of a machine have the same index.
        index = int(Path(f"/sys/class/net/{bridge}/ifindex").read_text())
        first = (198 << 24) + (18 << 16) + index % 8192 * 16 + 1
        _ip("address", "add", f"{_dotted(first)}/28", "dev", bridge)
        _ip("link", "set", bridge, "up")
        made = []
        for number in range(1, count + 1):
            host = Host(f"{bridge}.{number}", _dotted(first + number), bridge)
            _ip("netns", "add", host.name)
            stack.callback(_remove, host)
            cable = ("type", "veth", "peer", "name", "eth0", "netns", host.name)
            _ip("link", "add", host.name, *cable)
            _ip("link", "set", host.name, "master", bridge, "up")
            _ip("-n", host.name, "address", "add", f"{host.address}/28", "dev", "eth0")
            _ip("-n", host.name, "link", "set", "eth0", "up")
            _ip("-n", host.name, "link", "set", "lo", "up")
            made.append(host)
        yield made


@functools.cache
def why_not() -> str | None:
    """Why there can be no hosts on this machine; None where there can."""
    if os.name != "posix" or os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "network namespaces need the command ip (Debian: iproute2)"
    try:
        with hosts(1) as (host,):
            host.run("true")
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespace can be made here: {getattr(error, 'stderr', None) or error}"
    return None


def _remove(host: Host) -> None:
    host.kill_all()
    # The namespace itself may live on for a moment; the cable goes at once.
    _ip("link", "delete", host.name)
    _ip("netns", "delete", host.name)


def _dotted(address: int) -> str:
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def _ip(*args: str) -> str:
    return subprocess.run(["ip", *args], check=True, capture_output=True, text=True).stdout
