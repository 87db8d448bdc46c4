"""Kill sessions at random points and check that no logged answer is lost: the promise in figures.

    PYTHONPATH=tests python -m faults.kill_campaign --points 300

Each way of running (one process, workers, questions asked ahead, an agent in a child) has runs of its own,
which are killed with SIGKILL and resumed until the points are used up, and then to their end. After every
session it is checked that each line that was ever logged is still there and can be read, that no
question with a valid answer was asked again, that the exit code tells, and that nothing stays running.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from faults.sessions import NOTE, notes_port

TOY = Path(__file__).parents[1] / "toy"
SAMPLES = 120

BENCHMARK = f"""
from pytest_agentbench import Sample, SampleKey
from toybench import Sums, ToySum

class ManySums(ToySum):
    name = "manysums"
    def load(self, settings):
        keys = [SampleKey("sum", f"s{{n}}") for n in range({SAMPLES})]
        data = Sums((Sample(key, {{"a": n, "b": 1}}, n + 1) for n, key in enumerate(keys)), "sums")
        data.seed = settings.seed
        return data
"""
AGENT = (
    "import time"
    + NOTE
    + """
def agent(context):
    _note("asked", context["a"])
    time.sleep(0.005)
    _note("answered", context["a"])
    return context["a"] + context["b"]
"""
)
# name: (options, who is killed)
WAYS = {
    "controller": ([], "controller"),
    "controller of workers": (["-n2"], "controller"),
    "controller, asked ahead": (["--concurrency=3"], "controller"),
    "controller of workers, asked ahead": (["-n2", "--concurrency=3"], "controller"),
    "controller of a child": (["--agent-isolation=process"], "controller"),
    "worker": (["-n2"], "worker"),
    "worker, asked ahead": (["-n2", "--concurrency=3"], "worker"),
    "child": (["--agent-isolation=process"], "child"),
    "child, asked ahead": (["--agent-isolation=process", "--concurrency=3"], "child"),
}
_COMMAND_LINE = {
    "worker": b"exec(eval(sys.stdin.readline()))",
    "child": b"agentbench.agents.process import child",
}
_PATIENCE = 120.0


@dataclass
class Figures:
    """What a campaign has tried and found; ``lost`` and ``asked_again`` shall stay 0."""

    points: int = 0
    sessions: int = 0
    logged: int = 0
    lost: int = 0
    asked_again: int = 0
    left_running: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.points} kill points in {self.sessions} sessions, {self.logged} records logged, "
            f"lost: {self.lost}, asked again: {self.asked_again}, left running: {self.left_running}"
        )


def campaign(way: str, points: int, seed: int, folder: Path) -> Figures:
    """Kills one way of running ``points`` times, with a new run whenever one is whole."""
    rng = random.Random(f"{seed} {way}")
    figures = Figures()
    number = 0
    while figures.points < points:
        number += 1
        place = folder / f"{way.replace(' ', '_').replace(',', '')}-{number}"
        place.mkdir(parents=True)
        (place / "manysums.py").write_text(BENCHMARK)
        (place / "agent.py").write_text(AGENT.format(folder=str(place), port=notes_port()))
        run = KilledRun(way, place, rng, figures)
        while figures.points < points and run.session(points - figures.points) != 0:
            pass
        if number - figures.points > 5:  # one may be over before its turn comes, but not all
            raise RuntimeError(f"{way}: {number} runs went by, and hardly anybody could be killed")
        if run.session(0) != 0:
            figures.problems.append(f"{way}: resumed to its end, it did not pass")
        figures.logged += len(run.kept)
        if Counter(run.kept.values()) != {"ok": SAMPLES}:
            figures.problems.append(f"{way}: {Counter(run.kept.values())} at the end")
    return figures


class KilledRun:
    """One run of the benchmark, over many sessions."""

    def __init__(self, way: str, place: Path, rng: random.Random, figures: Figures) -> None:
        self.way, self.place, self.rng, self.figures = way, place, rng, figures
        self.options, self.target = WAYS[way]
        self.log = place / "out" / "records.jsonl"
        self.kept: dict[str, str] = {}  # sample: status of its last record
        self.lines: list[bytes] = []

    def session(self, kills: int) -> int:
        """One session, killed at most so often; its exit code."""
        self.figures.sessions += 1
        (self.place / "asked").write_text("")
        more = "--resume=out" if self.lines else "--run-dir=out"
        with (self.place / "output").open("wb") as output:
            process = subprocess.Popen(
                [
                    sys.executable, "-m", "pytest", "-p", "pytest_agentbench.plugin", "-p", "xdist.plugin",
                    "-p", "no:cacheprovider", "-p", "without_bokeh", "--benchmark=manysums:ManySums", "--agent=agent.py",
                    "--max-worker-restart=1000", *self.options, more,
                ],
                cwd=self.place, stdout=output, stderr=output, env=_environment(self.place),
            )  # fmt: skip
        started: set[int] = set()
        if kills and self.target == "controller":
            self._wait(process, self.rng.randint(0, 30))
            started = _below(process.pid)
            if process.poll() is None:
                self._kill(process.pid)
        else:
            for _ in range(min(kills, self.rng.randint(1, 8)) if kills else 0):
                self._wait(process, self.rng.randint(1, 15))
                mark = _COMMAND_LINE.get(self.target, b"")
                found = [pid for pid in sorted(_below(process.pid)) if mark in _command(pid)]
                if process.poll() is None and found:
                    self._kill(self.rng.choice(found))
        code = process.wait(_PATIENCE)
        # 3: xdist itself fails where a worker dies in the moment of its start. Nothing is lost then either.
        if code not in (0, 1, -signal.SIGKILL, *([3] if self.target == "worker" else [])):
            raise RuntimeError((self.place / "output").read_text())
        self._check(code, started)
        return code

    def _kill(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.figures.points += 1

    def _wait(self, process: subprocess.Popen[bytes], records: int) -> None:
        """Until so many more records are logged; without any, a moment anywhere in the start."""
        if records == 0:
            time.sleep(self.rng.uniform(0, 3))
            return
        wanted = self._count() + records
        deadline = time.monotonic() + _PATIENCE
        while process.poll() is None and self._count() < wanted and time.monotonic() < deadline:
            time.sleep(self.rng.uniform(0, 0.01))

    def _count(self) -> int:
        return self.log.read_bytes().count(b"\n") if self.log.exists() else 0

    def _check(self, code: int, started: set[int]) -> None:
        figures = self.figures
        lines = self.log.read_bytes().split(b"\n")[:-1] if self.log.exists() else []
        figures.lost += sum(old != new for old, new in zip(self.lines, lines, strict=False))
        figures.lost += max(0, len(self.lines) - len(lines))
        records = [json.loads(line) for line in lines]  # each of them whole
        asked = (self.place / "asked").read_text().split()
        valid = {name for name, status in self.kept.items() if status == "ok"}
        figures.asked_again += sum(f"sum[s{number}]" in valid for number in asked)
        now: dict[str, str] = {}
        for record in records:  # an answer that came before the kill is not replaced by its failure
            figures.lost += now.get(record["sample"]) == "ok" != record["status"]
            now[record["sample"]] = record["status"]
        figures.lost += sum(now.get(name) != "ok" for name in valid)
        self.kept, self.lines = now, lines
        whole = Counter(now.values()) == {"ok": SAMPLES}
        # A worker that dies at a sample answered long ago fails the session all the same.
        if (code == 0 and not whole) or (code == 1 and whole and self.target != "worker"):
            figures.problems.append(f"{self.way}: exit code {code}, but {Counter(now.values())}")
        deadline = time.monotonic() + 20
        while any(map(_runs, started)) and time.monotonic() < deadline:
            time.sleep(0.05)
        figures.left_running += sum(map(_runs, started))


def _environment(place: Path) -> dict[str, str]:
    names = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    path = os.pathsep.join([str(place), str(TOY)])
    return {**names, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def _below(pid: int) -> set[int]:
    """The processes that a process has started, and those that these have started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return set()
    found = {int(child) for child in children}
    return found.union(*map(_below, found))


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _runs(pid: int) -> bool:
    return bool(_command(pid))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", type=int, default=300, help="in all")
    parser.add_argument("--way", choices=WAYS, action="append", help="default: all of them")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    sys.stdout.write(f"seed {given.seed}\n")
    total, good = Figures(), True
    with tempfile.TemporaryDirectory() as folder:
        ways = given.way or list(WAYS)
        for way in ways:
            share = -(-given.points // len(ways))
            found = campaign(way, share, given.seed, Path(folder))
            sys.stdout.write(f"{way}: {found}\n")
            sys.stdout.flush()
            for problem in found.problems:
                sys.stdout.write(f"  {problem}\n")
            good &= not (found.problems or found.lost or found.asked_again or found.left_running)
            for name in ("points", "sessions", "logged", "lost", "asked_again", "left_running"):
                setattr(total, name, getattr(total, name) + getattr(found, name))
    sys.stdout.write(f"all: {total}\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
