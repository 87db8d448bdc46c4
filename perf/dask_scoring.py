"""Scoring Parquet partitions here and on a Dask cluster of this machine.

The command `agentbench score humob` on 20,000 users in the same partitions (100,000 rows each, 15 days of about 22
points a user): by the engine `local` with an empty cache; in one process and one thread that does all tasks of the
cluster without Dask; on clusters of 1, 2 and 4 processes of one thread, which were running before or which the
command starts and ends. Seconds by phase: start (imports, cluster, connection, check of the workers), count (round
one), score (round two, records logged), end (intervals, report, the cluster's end). Ideal: the seconds of the one
process with those of its tasks divided by the processes; everything else stays. Imports and compiled loops, which
every process needs before its first task, are undivided for a started cluster and left out for one that runs, which
has them since the first of the measured runs. More processes than cores cannot gain. Best of 3, taken in turns.
Processor seconds and MB: all processes together, without the scheduler of a cluster that runs. "Bits" are values,
intervals and the scores of every user, compared with the engine `local`.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import humob_files
import polars as pl
from measure import Cell, Session, agentbench, descendants, fastest, in_turns, peak, run, show

PART_ROWS = 100_000
PROCESSES = (1, 2, 4)
FILES = ("humob", "--submission=given", "--dataset=data")
HEAD = ("way", "start s", "count s", "score s", "end s", "all s", "ideal s", "ideal / all",
        "processor s", "MB", "bits")  # fmt: skip


@dataclass(frozen=True)
class Phased:
    """A run of the command by dask_phases.py."""

    seconds: float  # all but what was done twice
    cpu: float
    mb: float
    counting: float  # when it began, and so on
    scoring: float
    scored: float
    divisible: float
    setup: float

    def ideal(self, processes: int, running: bool) -> float:
        """What this one process would need if its tasks were divided without any cost."""
        undivided = self.seconds - self.divisible - (self.setup if running else 0.0)
        return undivided + self.divisible / processes

    def row(self, way: str, ideal: float | None, bits: str) -> list[Cell]:
        ends = (0.0, self.counting, self.scoring, self.scored, self.seconds)
        spans = [end - begin for begin, end in itertools.pairwise(ends)]
        share = None if ideal is None else ideal / self.seconds
        return [way, *spans, self.seconds, ideal, share, self.cpu, self.mb, bits]


def rows(quick: bool) -> Iterator[list[Cell]]:
    rounds = 1 if quick else 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_partitions(folder, 20 if quick else 20_000)
        os.environ["AGENTBENCH_CACHE"] = str(folder / "cache")  # for the workers of a cluster, too
        local = fastest([score_here(folder / f"local-{number}") for number in range(rounds)])
        yield [
            "local",
            None,
            None,
            None,
            None,
            local.seconds,
            None,
            None,
            local.cpu,
            local.mb,
            None,
        ]
        for processes in PROCESSES:
            with Cluster(processes) as there:
                turns = in_turns(
                    [
                        lambda: phased(folder, "one", 1),
                        lambda: phased(folder, "running", processes, there),  # noqa: B023 -- called at once
                        lambda: phased(folder, "started", processes),  # noqa: B023
                    ],
                    rounds,
                )
            one, running, started = (min(runs, key=lambda run: run.seconds) for runs in turns)
            if processes == PROCESSES[0]:
                yield one.row("one process, no Dask", None, bits(folder, "one-1"))
            for how, run in (("running", running), ("started", started)):
                ideal = one.ideal(processes, how == "running")
                same = bits(folder, f"{how}-{processes}")
                yield run.row(f"Dask, {processes} {how}", ideal, same)


class Cluster:
    """A scheduler in this process with workers of one thread, which run until the end of the block."""

    def __init__(self, processes: int) -> None:
        import distributed

        self._cluster = distributed.LocalCluster(
            n_workers=processes,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.ERROR,
        )
        self.address: str = self._cluster.scheduler_address
        self._workers = [pid for pid in descendants(os.getpid()) if pid != os.getpid()]

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.close()

    def mb(self) -> float:
        return sum(map(peak, self._workers))

    def cpu(self) -> float:
        """Processor seconds of the workers so far."""
        ticks = 0
        for pid in self._workers:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


def phased(folder: Path, how: str, processes: int, there: Cluster | None = None) -> Phased:
    """A run of the command in the folder ``how-processes``, the last one of which stays."""
    out = folder / f"{how}-{processes}"
    shutil.rmtree(out, ignore_errors=True)
    program = str(Path(__file__).with_name("dask_phases.py"))
    args = [*FILES, "--engine=dask", f"--run-dir={out.name}"]
    if there is not None:
        args.append(f"--scheduler={there.address}")
    before = there.cpu() if there else 0.0
    threads = {"POLARS_MAX_THREADS": "1"} if how == "one" else {}
    session = run(
        [sys.executable, program, how, str(processes), *args],
        folder,
        PHASES_BEGAN=str(time.time()),
        **threads,
    )
    said = json.loads(session.output.strip().splitlines()[-1])
    seconds = session.seconds - said.pop("twice")
    mb, cpu = (there.mb(), there.cpu() - before) if there else (0.0, 0.0)
    return Phased(seconds, session.cpu + cpu, session.mb + mb, **said)


def score_here(out: Path) -> Session:
    args = ["score", *FILES, f"--run-dir={out.name}"]
    return agentbench(args, out.parent, AGENTBENCH_CACHE=str(out.with_suffix(".cache")))


def bits(folder: Path, name: str) -> str:
    return "same" if results(folder / name) == results(folder / "local-0") else "DIFFERENT"


def results(folder: Path) -> tuple[object, dict[str, object]]:
    lines = (folder / "records.jsonl").read_text().splitlines()
    records = {record["sample"]: record["metrics"] for record in map(json.loads, lines)}
    return json.loads((folder / "scores.json").read_text())["readings"], records


def write_partitions(folder: Path, users: int) -> None:
    """The tables that the other scripts have as CSV."""
    for path, name in zip(humob_files.write(folder, users), ("given", "data"), strict=True):
        table = pl.read_csv(path)
        (folder / name).mkdir()
        for number, start in enumerate(range(0, table.height, PART_ROWS)):
            part = folder / name / f"part-{number:04}.parquet"
            table[start : start + PART_ROWS].write_parquet(part)
        path.unlink()


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
