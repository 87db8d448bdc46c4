"""Kill sessions at random points and check that no answer is lost: the promise in figures.

    PYTHONPATH=tests python -m faults.kill_campaign --points 300

Each way of running (one process, workers, questions asked ahead, chunks, an agent in a child) has runs of its own,
which are killed and resumed until the points are used up, and then to their end: by SIGKILL, and where a call
hangs also by SIGTERM, SIGHUP and SIGINT. After every session it is checked that each line that was ever logged is
still there and can be read, that of the calls that the agent has finished (it says so itself, on disk) no more are missing than
were in flight, that no question with a valid answer was asked again, that the exit code tells, and that
nothing stays running.
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
from typing import NamedTuple

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
def _hangs(number):
    with open({folder!r} + "/hanging") as file:
        return file.read() == str(number)
def agent(context):
    _note("asked", context["a"])
    time.sleep(0.005)
    while _hangs(context["a"]):
        time.sleep(0.01)
    _note("answered", context["a"])
    return context["a"] + context["b"]
"""
)


class Way(NamedTuple):
    """A way of running, and who is killed."""

    options: list[str]
    target: str = "controller"
    in_flight: int = 1  # calls at a time, in all processes
    hangs: bool = False  # one call, while all others are quick; then any signal ends the session


WAYS = {
    "controller": Way([]),
    "controller of workers": Way(["-n2"], in_flight=2),
    "controller, asked ahead": Way(["--concurrency=3"], in_flight=3),
    "controller of workers, asked ahead": Way(["-n2", "--concurrency=3"], in_flight=6),
    "controller of a child": Way(["--agent-isolation=process"]),
    "a call hangs": Way([], hangs=True),
    "a call hangs, asked ahead": Way(["--concurrency=4"], in_flight=4, hangs=True),
    "a call hangs in a chunk": Way(["--chunk=60"], hangs=True),
    "a call hangs in a chunk, asked ahead": Way(["--chunk=60", "--concurrency=4"], in_flight=4, hangs=True),
    "a call hangs in a worker": Way(["-n2"], in_flight=2, hangs=True),
    "a call hangs in a worker, asked ahead": Way(["-n2", "--concurrency=4"], in_flight=8, hangs=True),
    "a call hangs in a worker's chunk": Way(["-n2", "--chunk=60"], in_flight=2, hangs=True),
    "worker": Way(["-n2"], "worker"),
    "worker, asked ahead": Way(["-n2", "--concurrency=3"], "worker"),
    "child": Way(["--agent-isolation=process"], "child"),
    "child, asked ahead": Way(["--agent-isolation=process", "--concurrency=3"], "child"),
}  # fmt: skip
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_COMMAND_LINE = {
    "worker": b"exec(eval(sys.stdin.readline()))",
    "child": b"agentbench.agents.process import child",
}
_PATIENCE, _STALLED = 120.0, 1.0


@dataclass
class Figures:
    """What a campaign has tried and found; ``lost``, ``asked_again`` and ``left_running`` shall stay 0.

    ``finished`` counts calls of the agent in sessions that were killed, ``in_flight`` those of them that were on their
    way from the agent to the disk.
    """

    points: int = 0
    sessions: int = 0
    logged: int = 0
    finished: int = 0
    in_flight: int = 0
    lost: int = 0
    asked_again: int = 0
    left_running: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.points} kill points in {self.sessions} sessions, {self.logged} records logged, "
            f"of {self.finished} finished calls {self.in_flight} in flight, "
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
        self.name, self.place, self.rng, self.figures = way, place, rng, figures
        self.way = WAYS[way]
        self.log = place / "out" / "records.jsonl"
        self.answers = place / "out" / "answers.jsonl"
        self.kept: dict[str, str] = {}  # sample: status of its last record
        self.waiting: set[str] = set()  # samples whose answers are on disk, and not in the log
        self.lines: list[bytes] = []
        self.seconds = 0.0  # that the last session took to end

    def session(self, kills: int) -> int:
        """One session, killed at most so often; its exit code."""
        self.figures.sessions += 1
        for notes in ("asked", "answered"):
            (self.place / notes).write_text("")
        open_questions = [n for n in range(SAMPLES) if not self._is_answered(f"sum[s{n}]")]
        hangs = kills and self.way.hangs and open_questions
        (self.place / "hanging").write_text(str(self.rng.choice(open_questions)) if hangs else "")
        more = "--resume=out" if self.lines or self.waiting else "--run-dir=out"
        with (self.place / "output").open("wb") as output:
            process = subprocess.Popen(
                [
                    sys.executable, "-m", "pytest", "-p", "pytest_agentbench.plugin", "-p", "xdist.plugin",
                    "-p", "no:cacheprovider", "-p", "without_plots", "--benchmark=manysums:ManySums", "--agent=agent.py",
                    "--max-worker-restart=1000", *self.way.options, more,
                ],
                cwd=self.place, stdout=output, stderr=output, env=_environment(self.place),
            )  # fmt: skip
        started: set[int] = set()
        known = [0, 1]
        if kills and self.way.target == "controller":
            number = self.rng.choice(_SIGNALS) if self.way.hangs else signal.SIGKILL
            # At the start Python itself is interrupted, in any way.
            self._wait(process, self.rng.randint(0 if number == signal.SIGKILL else 1, 60))
            started = _below(process.pid)
            if process.poll() is None:
                self._kill(process.pid, number)
                known.append(-number if number == signal.SIGKILL else 2)
        else:
            for _ in range(min(kills, self.rng.randint(1, 8)) if kills else 0):
                self._wait(process, self.rng.randint(1, 15))
                mark = _COMMAND_LINE.get(self.way.target, b"")
                found = [pid for pid in sorted(_below(process.pid)) if mark in _command(pid)]
                if process.poll() is None and found:
                    self._kill(self.rng.choice(found))
        asked = time.monotonic()
        code = process.wait(_PATIENCE)
        self.seconds = time.monotonic() - asked
        # 3: xdist itself fails where a worker dies in the moment of its start. Nothing is lost then either.
        if code not in (*known, *([3] if self.way.target == "worker" else [])):
            raise RuntimeError((self.place / "output").read_text())
        if code == 2 and "--resume=out" not in (self.place / "output").read_text():
            self.figures.problems.append(f"{self.name}: it does not say how to go on")
        self._check(code, started)
        return code

    def _is_answered(self, sample: str) -> bool:
        return self.kept.get(sample) == "ok" or sample in self.waiting

    def _kill(self, pid: int, number: int = signal.SIGKILL) -> None:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        self.figures.points += 1

    def _wait(self, process: subprocess.Popen[bytes], answers: int) -> None:
        """Until so many more calls are finished, or none is for a while; without any, a moment anywhere in the start."""
        if answers == 0:
            time.sleep(self.rng.uniform(0, 3))
            return
        count = last = self._count()
        wanted = count[1] + answers
        deadline = time.monotonic() + _PATIENCE
        while process.poll() is None and count[1] < wanted and time.monotonic() < deadline:
            time.sleep(self.rng.uniform(0, 0.01))
            count = self._count()
            if count != last:
                last, deadline = count, time.monotonic() + _STALLED

    def _count(self) -> list[int]:
        """Calls that were begun, and those that are finished. The log says less: an item may wait for its turn."""
        return [(self.place / name).read_bytes().count(b"\n") for name in ("asked", "answered")]

    def _check(self, code: int, started: set[int]) -> None:
        figures = self.figures
        deadline = time.monotonic() + 40  # a worker that has lost its controller gives a call 15 s
        while any(map(_runs, started)) and time.monotonic() < deadline:
            time.sleep(0.05)
        figures.left_running += sum(map(_runs, started))
        lines = _lines(self.log)
        figures.lost += sum(old != new for old, new in zip(self.lines, lines, strict=False))
        figures.lost += max(0, len(self.lines) - len(lines))
        records = [json.loads(line) for line in lines]  # each of them whole
        asked = (self.place / "asked").read_text().split()
        valid = {name for name, status in self.kept.items() if status == "ok"} | self.waiting
        figures.asked_again += sum(f"sum[s{number}]" in valid for number in asked)
        now: dict[str, str] = {}
        for record in records:  # an answer that came before the kill is not replaced by its failure
            figures.lost += now.get(record["sample"]) == "ok" != record["status"]
            now[record["sample"]] = record["status"]
        self.kept, self.lines = now, lines
        self.waiting = {json.loads(line)["sample"] for line in _lines(self.answers)}
        figures.lost += sum(not self._is_answered(name) for name in valid)
        whole = Counter(now.values()) == {"ok": SAMPLES}
        # A worker that dies at a sample answered long ago fails the session all the same.
        if (code == 0 and not whole) or (code == 1 and whole and self.way.target != "worker"):
            figures.problems.append(f"{self.name}: exit code {code}, but {Counter(now.values())}")
        if self.way.target == "controller" and code not in (0, 1):
            finished = {f"sum[s{n}]" for n in (self.place / "answered").read_text().split()}
            gone = sum(not self._is_answered(name) for name in finished)
            figures.finished += len(finished)
            figures.in_flight += min(gone, self.way.in_flight)
            figures.lost += max(0, gone - self.way.in_flight)


def _lines(path: Path) -> list[bytes]:
    """The whole lines of a file."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


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


_FIGURES = (
    "points", "sessions", "logged", "finished", "in_flight", "lost", "asked_again", "left_running",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", type=int, default=300, help="in all")
    parser.add_argument("--way", choices=WAYS, action="append", help="default: all of them")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started by a shell in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
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
            for name in _FIGURES:
                setattr(total, name, getattr(total, name) + getattr(found, name))
    sys.stdout.write(f"all: {total}\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
