"""Items a second against bare parametrised functions with a fixture, serial and with two workers.

python perf/items.py [SIZE ...]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BENCHMARK = """
import os
from pytest_agentbench import Benchmark, Dataset, Metric, Sample, SampleKey
from pytest_agentbench.statistics import mean

class Numbers(Dataset):
    digest = "numbers"
    description = "numbers"
    def __init__(self, size):
        self.keys = [SampleKey("number", str(n)) for n in range(size)]
    def sample(self, index):
        return Sample(self.keys[index], index, index)

class Echo(Benchmark):
    name = "echo"
    description = "say the number"
    modes = ("test",)
    readings = ("r",)
    metrics = (Metric("m", "higher"),)
    headline = "m"
    baselines = {"echo": abs}
    default_baseline = "echo"
    def load(self, settings):
        return Numbers(int(os.environ["SIZE"]))
    def check(self, sample, answer):
        return answer
    def score_sample(self, sample, answer):
        return {"r": {"m": float(answer == sample.truth)}}
    def score_run(self, dataset, records):
        return lambda reading, weights: {"m": mean([r.metrics["r"]["m"] for r in records], weights)}
    def agent_template(self):
        return ""
"""
AGENT = "def agent(context):\n    return context\n"
BARE = """
import os
import pytest

@pytest.fixture(scope="session")
def agent():
    return lambda context: context

@pytest.mark.parametrize("number", range(int(os.environ["SIZE"])))
def test_number(agent, number):
    assert agent(number) == number
"""


def measure(folder: Path, size: int, args: list[str]) -> tuple[float, float]:
    """Seconds and peak memory in MB of the session (of the controller, with workers)."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args]
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, env={**os.environ, "SIZE": str(size)}
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or [1000, 10_000]
    ours = ["--benchmark=echobench:Echo", "--agent=agent.py"]
    print("items    workers  bare            ours            ratio  in chunks of 1,000")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "echobench.py").write_text(BENCHMARK)
        (folder / "agent.py").write_text(AGENT)
        (folder / "test_bare.py").write_text(BARE)
        for size in sizes:
            for workers in (0, 2):
                extra = [f"-n{workers}"] if workers else []
                bare, bare_memory = measure(folder, size, ["test_bare.py", *extra])
                own, own_memory = measure(folder, size, [*ours, *extra])
                chunked, _ = measure(folder, size, [*ours, "--chunk=1000", *extra])
                print(
                    f"{size:7} {workers:7}  {bare:6.1f} s {bare_memory:4.0f} MB"
                    f" {own:6.1f} s {own_memory:4.0f} MB {own / bare:6.2f} {chunked:6.1f} s"
                )


if __name__ == "__main__":
    main()
