"""Items: samples a second.

Whole sessions, from the start of the process to its end. "Bare" are parametrised functions with a fixture
and without this plugin's options, one a sample or each looping over 1,000; "echo" is a benchmark of numbers
with an agent that says them again; "submission" is `--benchmark humob --submission` with 15 days a user,
GEO-BLEU and DTW in both readings, log, intervals and report included. `--chunk` is 1, 1,000, or not given:
then it is chosen. "Without pytest" is `agentbench score`, which does the same work. The files of a submission
are in the cache, except in the row "files unread". "×" is the time over that of the bare session above it.
The shortest of three times, taken in turns; sessions of more than about two minutes are run once, of more
than five not at all. MB: all processes of the session.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import humob_files
from measure import Cell, Session, agentbench, fastest, in_turns, pytest_session, show

HEAD = ("samples", "processes", "session", "s", "samples a second", "×", "MB")
BENCHMARK = """
import os
from pytest_agentbench import Benchmark, Dataset, Metric, Sample, SampleKey
from pytest_agentbench.metrics.bootstrap import mean

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
        values = [record.metrics["r"]["m"] for record in records]
        return lambda reading, weights: {"m": mean(values, weights)}
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
BARE_CHUNKS = """
import os
import pytest

SIZE = int(os.environ["SIZE"])

@pytest.fixture(scope="session")
def agent():
    return lambda context: context

@pytest.mark.parametrize("first", range(0, SIZE, 1000))
def test_numbers(agent, first):
    for number in range(first, min(SIZE, first + 1000)):
        assert agent(number) == number
"""
ECHO = ["--benchmark=echobench:Echo", "--agent=agent.py"]
FILES = ["--submission=generated.csv", "--dataset=reference.csv"]
SUBMISSION = ["--benchmark=humob", *FILES]
WITHOUT_PYTEST = ["score", "humob", *FILES]
# Sessions that would take longer are run once only, or not at all.
LONG_SECONDS, LONGEST_SECONDS = 120, 300
# By what they are compared with: the first of each is bare.
SESSIONS = (
    {
        "bare, one a sample": ["test_bare.py"],
        "echo, `--chunk 1`": [*ECHO, "--chunk=1"],
        "submission, `--chunk 1`": [*SUBMISSION, "--chunk=1"],
    },
    {
        "bare, chunks of 1,000": ["test_bare_chunks.py"],
        "echo, `--chunk 1000`": [*ECHO, "--chunk=1000"],
        "submission": SUBMISSION,
        "submission without pytest": WITHOUT_PYTEST,
    },
)


def rows(quick: bool) -> Iterator[list[Cell]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "echobench.py").write_text(BENCHMARK)
        (folder / "agent.py").write_text(AGENT)
        (folder / "test_bare.py").write_text(BARE)
        (folder / "test_bare_chunks.py").write_text(BARE_CHUNKS)
        took: dict[tuple[str, int], float] = {}  # with ten times fewer samples
        for size in (20,) if quick else (1_000, 10_000, 100_000):
            humob_files.write(folder, size)
            unread = session(folder, size, [*SUBMISSION, "-n2"])
            for workers in (0,) if quick else (0, 2):
                extra, processes = ([f"-n{workers}"], "1 + 2") if workers else ([], "1")
                for group in SESSIONS:
                    runs = {
                        what: partial(session, folder, size, [*args, *extra])
                        for what, args in group.items()
                        if not workers or args is not WITHOUT_PYTEST
                    }
                    expected = {what: 10 * took.get((what, workers), 0.0) for what in runs}
                    measured = shortest(runs, expected, rounds=1 if quick else 3)
                    bare = measured.get(next(iter(group)))
                    for what in runs:
                        if what not in measured:
                            about = f"{what}: not run, about {expected[what]:,.0f} s"
                            yield [size, processes, about, None, None, None, None]
                            continue
                        one = measured[what]
                        took[what, workers] = one.seconds
                        ratio = one.seconds / bare.seconds if bare else None
                        yield [
                            size,
                            processes,
                            what,
                            one.seconds,
                            size / one.seconds,
                            ratio,
                            one.mb,
                        ]
            yield [size, "1 + 2", "submission, files unread", unread.seconds, size / unread.seconds,
                   None, unread.mb]  # fmt: skip


def shortest(
    runs: Mapping[str, Callable[[], Session]], expected: Mapping[str, float], rounds: int
) -> dict[str, Session]:
    """The shortest session of each kind; long ones are run once, and the longest not at all."""
    found = {}
    for least, most, times in ((0.0, LONG_SECONDS, rounds), (LONG_SECONDS, LONGEST_SECONDS, 1)):
        names = [name for name in runs if least <= expected[name] < most]
        results = in_turns([runs[name] for name in names], times)
        found.update((n, fastest(each)) for n, each in zip(names, results, strict=True))
    return found


def session(folder: Path, size: int, args: list[str]) -> Session:
    """One session; the folders it leaves are removed, for they are large."""
    places = {"SIZE": str(size), "AGENTBENCH_CACHE": str(folder / "cache")}
    start = agentbench if args[0] == "score" else pytest_session
    done = start(args, folder, **places)
    shutil.rmtree(folder / ".agentbench", ignore_errors=True)
    return done


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
