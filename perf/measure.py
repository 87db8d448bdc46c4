"""What the scripts beside this one share: times taken in turns, memory, Markdown, the machine's name.

A script gives a title and an explanation (its docstring), the head of a table and its rows:
``measure.show(__doc__, HEAD, rows)``. Rows are printed as they come, so what was measured before a
script was stopped is there to read.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))
from metrics import textbook_trajectories as textbook  # noqa: E402, F401 -- the tests' oracle

PACKAGES = ("pytest", "pytest-xdist", "numpy", "numba", "polars", "torch", "sentence-transformers",
            "traj-dist-rs", "dtaidistance", "aeon", "dtw-python", "tslearn")  # fmt: skip
LOOK_SECONDS = 0.005, 0.05  # between two looks at memory: at first, later
T = TypeVar("T")
Cell = str | int | float | None


def show(
    doc: str | None, head: Sequence[str], rows: Callable[[bool], Iterable[Sequence[Cell]]]
) -> None:
    """Print a section: title, explanation, table. ``--quick`` asks for small sizes."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that it works")
    quick = parser.parse_args().quick
    title, _, how = (doc or "").strip().partition("\n")
    print(f"## {title.rstrip('.')}\n\n{how.strip()}\n", flush=True)
    begun = False
    for row in rows(quick):
        if not begun:
            print(line(head))
            print(line(["---" if isinstance(cell, str) else "---:" for cell in row]))
            begun = True
        print(line([shown(cell) for cell in row]), flush=True)


def line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def shown(cell: Cell) -> str:
    """Numbers with three digits that mean something; nothing for what was not measured."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    return f"{cell:,.0f}" if isinstance(cell, int) or abs(cell) >= 100 else f"{cell:.3g}"


def in_turns(runs: Sequence[Callable[[], T]], rounds: int) -> list[list[T]]:
    """What each run gave in each round: they take turns, so a busy moment hits all alike."""
    given: list[list[T]] = [[] for _ in runs]
    for _ in range(rounds):
        for results, run in zip(given, runs, strict=True):
            results.append(run())
    return given


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(*runs: Callable[[], Any], rounds: int = 5) -> list[float]:
    """The shortest time of each run in seconds, taken in turns."""
    timed = [lambda run=run: seconds(run) for run in runs]  # type: ignore[misc]  # bound now
    return [min(times) for times in in_turns(timed, rounds)]


@dataclass(frozen=True)
class Session:
    """A process that was run to its end."""

    seconds: float
    cpu: float  # seconds, children included
    mb: float  # the peaks of all its processes, added: never less than was in use at one time
    output: str


def run(command: Sequence[str], cwd: Path | None = None, **env: str) -> Session:
    """Run a command and measure it; one that fails is an error with the end of what it said."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, env={**os.environ, **env}, stdout=out, stderr=subprocess.STDOUT
        )
        watch = Watch(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - start
        mb = watch.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read()
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}:\n{output[-2000:]}")
    return Session(took, usage.ru_utime + usage.ru_stime, mb, output)


def pytest_session(args: Sequence[str], cwd: Path, **env: str) -> Session:
    """Run pytest with xdist and this package, and none of the other plugins that are installed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args]
    plugins = "xdist.plugin,pytest_agentbench.plugin"
    return run(command, cwd, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTEST_PLUGINS=plugins, **env)


def agentbench(args: Sequence[str], cwd: Path, **env: str) -> Session:
    """Run the command of this environment."""
    program = shutil.which("agentbench", path=str(Path(sys.executable).parent))
    assert program is not None, "expected the package to be installed in this environment"
    return run([program, *args], cwd, **env)


def fastest(sessions: Sequence[Session]) -> Session:
    return min(sessions, key=lambda session: session.seconds)


class Watch(threading.Thread):
    """Looks at the memory of a process and of its children while they run (Linux; else nothing).

    Not getrusage: its maximum is that of the largest process, and is inherited from whoever started
    them.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._ended = threading.Event()
        self._peaks: dict[int, float] = {}
        self.start()

    def run(self) -> None:
        known = {self._pid}
        pause, longest = LOOK_SECONDS
        while not self._ended.wait(pause):
            pause = min(longest, 1.2 * pause)
            tree = set(descendants(self._pid))
            # A child counts from the second look on: until it starts its program, the memory that
            # it shows is its parent's.
            for pid in tree & known:
                self._peaks[pid] = max(peak(pid), self._peaks.get(pid, 0.0))
            known = tree

    def stop(self) -> float:
        self._ended.set()
        self.join()
        return sum(self._peaks.values()) or float("nan")


def descendants(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            pids = children.read_text().split()
        except OSError:  # ended meanwhile
            continue
        for child in pids:
            yield from descendants(int(child))


def status(name: str, pid: int | str = "self") -> float:
    """A line of a process's status in MB: VmRSS (now) or VmHWM (the most so far); 0 without."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def peak(pid: int | str = "self") -> float:
    return status("VmHWM", pid)


def beyond(run: Callable[[], Any]) -> float:
    """The most memory in MB that a call needed beyond what this process had before it (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    except OSError:
        return float("nan")
    before = status("VmRSS")
    run()
    return max(0.0, peak() - before)


def machine() -> list[str]:
    """The lines that say on what and with what something was measured."""
    info = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", info.read_text()) if info.exists() else []
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = []
    for package in ("pytest-agentbench", *PACKAGES):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{package} not installed")
    return [
        f"- machine: {names[0] if names else platform.processor() or platform.machine()}, "
        f"{os.cpu_count()} cores, {memory:.0f} GB; {platform.system()} {platform.release()}",
        f"- {platform.python_implementation()} {platform.python_version()}; {', '.join(versions)}",
        f"- date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}; processes waiting for a "
        f"core before (load average): {os.getloadavg()[0]:.1f}",
    ]
