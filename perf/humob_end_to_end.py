"""Time and memory from two CSV files of 20,000 users x 15 days to GEO-BLEU and DTW.

Run as ``python perf/humob_end_to_end.py [--users N]``. Each measurement is a process of its own and
includes all imports and the loading of compiled code; no table comes from a cache.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, pathlib, resource, sys, time
start = time.perf_counter()
from pytest_agentbench.benchmarks.humob.submission import score_files
files = map(pathlib.Path, sys.argv[1:3])
scores = score_files(*files, readings=sys.argv[3].split(","))
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
cpu = time.process_time()
print(json.dumps({"seconds": seconds, "cpu": cpu, "peak_mb": peak, "scores": scores}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("generated.csv", "reference.csv")]
        # In a process of its own: children inherit the peak of the memory they are started from.
        writer = multiprocessing.get_context("spawn").Process(
            target=write_files, args=(options.users, *files)
        )
        writer.start()
        writer.join()
        sizes = " and ".join(f"{file.stat().st_size / 1e6:.0f} MB" for file in files)
        print(f"{options.users:,} users x 15 days, {sizes}, {os.cpu_count()} cores")
        for readings in ("2023", "2025", "2023,2025"):
            for _ in range(options.runs):
                print(f"readings {readings}: {measured(files, readings)}")


def measured(files: list[Path], readings: str) -> str:
    command = [sys.executable, "-c", CHILD, *map(str, files), readings]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout)
    geobleu, dtw = result["scores"][readings[:4]].values()
    return (
        f"{result['seconds']:.2f} s ({result['cpu']:.2f} s CPU), at most {result['peak_mb']:.0f} MB "
        f"({readings[:4]}: geobleu {geobleu:.6f}, dtw {dtw:.3f})"
    )


def write_files(users: int, generated: Path, reference: Path) -> None:
    """Days of about 22 points among a few places a user; the prediction gets two in three right."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(7)
    observed = rng.random((users, 15, 48)) < 22 / 48
    user, day, slot = np.nonzero(observed)
    places = rng.integers(1, 201, size=(users, 6, 2), dtype=np.int16)
    habit = rng.choice(6, size=(users, 48), p=[0.55, 0.25, 0.08, 0.06, 0.04, 0.02])
    chosen = habit[user, slot]
    strays = rng.random(len(user)) < 0.35
    for path, keep in ((reference, ~strays), (generated, np.ones(len(user), bool))):
        place = np.where(keep, chosen, rng.integers(0, 6, len(user)))
        x, y = places[user, place].T
        columns = {"uid": user + 80_000, "d": day + 60, "t": slot, "x": x, "y": y}
        pl.DataFrame(columns).write_csv(path)


if __name__ == "__main__":
    main()
