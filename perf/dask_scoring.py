"""Scoring Parquet partitions here and on a Dask cluster of this machine: time, memory, the same bits.

Run as ``python perf/dask_scoring.py [--users N] [--layout by-user|scattered]`` (needs the extra dask).
Each measurement is a process of its own, at three sizes, with a cache of its own; the ratio is of two
measurements of one run. Memory is the peak of the process that was started and, for the cluster,
the peak of the largest worker.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DAYS, PART_ROWS = 75, 500_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=2_000, help="of the largest of three sizes")
    parser.add_argument("--layout", choices=("by-user", "scattered"), default="by-user")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, partitions of {PART_ROWS:,} rows, {options.layout}")
    print(
        f"{'users':>8} {'rows':>12} {'local':>8} {'dask':>8} {'dask/local':>10} {'local MB':>9} "
        f"{'client MB':>9} {'worker MB':>9} bits"
    )
    for users in (options.users // 4, options.users // 2, options.users):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rows = write_tables(folder, users, options.layout == "scattered")
            here, there = (measured(folder, engine) for engine in ("local", "dask"))
            same = "same" if results(folder / "local") == results(folder / "dask") else "DIFFERENT"
            print(
                f"{users:8,} {rows:12,} {here[0]:6.1f} s {there[0]:6.1f} s {there[0] / here[0]:10.2f} "
                f"{here[1]:9.0f} {there[1]:9.0f} {there[2]:9.0f} {same}"
            )


def measured(folder: Path, engine: str) -> tuple[float, float, float]:
    """Seconds, peak MB of the command and of its largest child process."""
    command = [shutil.which("agentbench", path=str(Path(sys.executable).parent)), "score", "humob"]
    command += ["--submission=given", "--dataset=data", f"--engine={engine}", f"--run-dir={engine}"]
    environment = {**os.environ, "AGENTBENCH_CACHE": str(folder / f"cache-{engine}")}
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    own = child = 0.0
    while process.poll() is None:
        own = max(own, peak(process.pid))
        child = max([child, *(peak(pid) for pid in descendants(process.pid))])
        time.sleep(0.05)
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"agentbench score ended with {process.returncode}")
    return seconds, own, child


def peak(pid: int) -> float:
    with contextlib.suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) / 1024 if found else 0.0
    return 0.0


def descendants(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def results(run: Path) -> tuple[object, dict[str, object]]:
    """Values, intervals and the scores of every sample."""
    lines = (run / "records.jsonl").read_text().splitlines()
    records = {record["sample"]: record["metrics"] for record in map(json.loads, lines)}
    return json.loads((run / "scores.json").read_text())["readings"], records


def write_tables(folder: Path, users: int, scattered: bool) -> int:
    """Days of about 20 points among a few places a user; the prediction gets two in three right."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(7)
    writers = {name: [] for name in ("data", "given")}
    for first in range(0, users, 1000):
        count = min(1000, users - first)
        user, day, slot = np.nonzero(rng.random((count, DAYS, 48)) < 20 / 48)
        places = rng.integers(1, 201, size=(count, 6, 2))
        habit = rng.choice(6, size=(count, 48), p=[0.55, 0.25, 0.08, 0.06, 0.04, 0.02])
        usual = habit[user, slot]
        strays = np.where(rng.random(len(user)) < 0.35, rng.integers(0, 6, len(user)), usual)
        for name, place, days in (("data", strays, 0), ("given", usual, 60)):
            x, y = places[user, place].T
            columns = {"uid": user + first, "d": day, "t": slot, "x": x, "y": y}
            writers[name].append(pl.DataFrame(columns).filter(pl.col("d") >= days))
    total = 0
    for name, tables in writers.items():
        table = pl.concat(tables)
        if scattered:
            table = table[rng.permutation(table.height).tolist()]
        total += table.height
        (folder / name).mkdir()
        for number, start in enumerate(range(0, table.height, PART_ROWS)):
            part = table[start : start + PART_ROWS]
            part.write_parquet(folder / name / f"part-{number:04}.parquet")
    return total


if __name__ == "__main__":
    main()
