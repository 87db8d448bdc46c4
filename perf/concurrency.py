"""Concurrency against the ideal.

Calls that only wait, 64 at once in one process (`--concurrency 64`) or 32 in each of two (`-n 2`): waits
of one second, or log-normal ones (sigma 0.8) of one second on average. The ideal is what so many callers
need who take the calls in their order and do nothing else. "Start and end" is a session with calls that
do not wait (the shortest of three): starting pytest and its workers, scoring, the report. The ratio is the
rest of the session's time over the ideal.
"""

from __future__ import annotations

import heapq
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import Cell, Session, fastest, pytest_session, show

HEAD = ("waits", "calls", "at once", "ideal s", "session s", "start and end s", "ratio", "MB")
BENCHMARK = """
from pytest_agentbench import Benchmark, Metric, Sample, SampleKey, SampleList
from pytest_agentbench.metrics.bootstrap import mean

class Waits(Benchmark):
    name = "waits"
    description = "wait"
    modes = ("test",)
    readings = ("r",)
    metrics = (Metric("m", "higher"),)
    headline = "m"
    baselines = {"none": print}
    default_baseline = "none"
    def load(self, settings):
        import os
        waits = [float(w) for w in open(os.environ["WAITS"]).read().split()]
        samples = [Sample(SampleKey("wait", str(n)), w, None) for n, w in enumerate(waits)]
        return SampleList(samples, "waits")
    def check(self, sample, answer):
        return answer
    def score_run(self, dataset, records):
        return lambda reading, weights: {"m": mean([1.0] * len(records), weights)}
    def agent_template(self):
        return ""
"""
AGENT = "import asyncio\nasync def agent(wait):\n    await asyncio.sleep(wait)\n    return 1\n"


def rows(quick: bool) -> Iterator[list[Cell]]:
    sizes, mean = ((64,), 0.1) if quick else ((256, 512, 1024), 1.0)
    rng = random.Random(1)
    steady = [mean] * sizes[-1]
    varied = [mean * rng.lognormvariate(-0.32, 0.8) for _ in range(sizes[-1])]
    laws = {f"{mean:g} s": steady, f"{mean:g} s, log-normal": varied}
    if quick:
        laws.popitem()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "waitbench.py").write_text(BENCHMARK)
        (folder / "agent.py").write_text(AGENT)
        for concurrency, workers in ((64, 0), (32, 2)):
            empty = [session(folder, [0.0, 0.0], concurrency, workers)
                     for _ in range(1 if quick else 3)]  # fmt: skip
            fixed = fastest(empty).seconds
            for label, waits in laws.items():
                for size in sizes:
                    ideal = makespan(waits[:size], concurrency * max(1, workers))
                    took = session(folder, waits[:size], concurrency, workers)
                    at_once = f"{max(1, workers)} × {concurrency}"
                    ratio = (took.seconds - fixed) / ideal
                    yield [label, size, at_once, ideal, took.seconds, fixed, ratio, took.mb]


def session(folder: Path, waits: list[float], concurrency: int, workers: int) -> Session:
    (folder / "waits.txt").write_text(" ".join(map(str, waits)))
    args = ["--benchmark=waitbench:Waits", "--agent=agent.py", f"--concurrency={concurrency}"]
    args += [f"-n{workers}"] if workers else []
    return pytest_session(args, folder, WAITS=str(folder / "waits.txt"))


def makespan(waits: list[float], callers: int) -> float:
    """When the last of the callers is done."""
    free = [0.0] * callers
    for wait in waits:
        heapq.heappush(free, heapq.heappop(free) + wait)
    return max(free)


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
