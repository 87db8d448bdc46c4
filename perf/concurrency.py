"""Concurrency against the ideal: 1,000 calls that wait, K at a time, alone and with two workers.

    python perf/concurrency.py [SAMPLES]

Prints the ratio of the session's time to the ideal: what K callers need who take the calls in their
order and do nothing else. The start of pytest and the report at the end are measured with one call
that does not wait, and shown apart.
"""

from __future__ import annotations

import heapq
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BENCHMARK = """
from pytest_agentbench import Benchmark, Metric, Sample, SampleKey, SampleList
from pytest_agentbench.statistics import mean

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


def measure(folder: Path, waits: list[float], concurrency: int, workers: int) -> float:
    (folder / "waits.txt").write_text(" ".join(map(str, waits)))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--benchmark=waitbench:Waits",
        "--agent=agent.py",
    ]
    command += [f"--concurrency={concurrency}", "-p", "no:cacheprovider"]
    command += [f"-n{workers}"] if workers else []
    started = time.perf_counter()
    subprocess.run(
        command, cwd=folder, check=True, stdout=subprocess.DEVNULL,
        env={**os.environ, "WAITS": str(folder / "waits.txt")},
    )  # fmt: skip
    return time.perf_counter() - started


def makespan(waits: list[float], callers: int) -> float:
    """When the last of the callers is done."""
    free = [0.0] * callers
    for wait in waits:
        heapq.heappush(free, heapq.heappop(free) + wait)
    return max(free)


def main() -> None:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rng = random.Random(1)
    steady = [1.0] * samples
    varied = [rng.lognormvariate(-0.32, 0.8) for _ in range(samples)]  # mean 1, sigma 0.8
    print(f"{samples} samples")
    print("waits                  calls at once   ideal     took  of it start and end   ratio")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "waitbench.py").write_text(BENCHMARK)
        (folder / "agent.py").write_text(AGENT)
        for label, waits in (("1 s", steady), ("log-normal, sigma 0.8", varied)):
            for concurrency, workers in ((64, 0), (32, 2)):
                together = concurrency * max(1, workers)
                ideal = makespan(waits, together)
                fixed = measure(folder, [0.0, 0.0], concurrency, workers)
                took = measure(folder, waits, concurrency, workers)
                at_once = f"{concurrency} x {max(1, workers)}"
                print(
                    f"{label:22} {at_once:>13} {ideal:7.1f} s {took:6.1f} s {fixed:19.1f} s"
                    f" {(took - fixed) / ideal:7.2f}"
                )


if __name__ == "__main__":
    main()
