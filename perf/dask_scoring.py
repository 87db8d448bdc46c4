"""Scoring Parquet partitions here and on a Dask cluster of this machine.

The command `agentbench score humob` on the same partitions (100,000 rows each, 15 days of about 22 points a
user), by both engines, each in processes of its own with an empty cache. The cluster starts processes and sends
messages; what needs the rows it leaves out: answers in the log, tables of days, plots, the floor. "Bits" are
values, intervals and the scores of every user. MB: all processes together.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import humob_files
import polars as pl
from measure import Cell, Session, agentbench, show

PART_ROWS = 100_000
HEAD = ("users", "rows", "local s", "dask s", "dask / local", "local MB", "dask MB", "bits")


def rows(quick: bool) -> Iterator[list[Cell]]:
    for users in (20,) if quick else (1_000, 4_000, 16_000):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            count = write_partitions(folder, users)
            local, dask = (score(folder, engine) for engine in ("local", "dask"))
            same = results(folder / "local") == results(folder / "dask")
            ratio = dask.seconds / local.seconds
            yield [users, count, local.seconds, dask.seconds, ratio, local.mb, dask.mb,
                   "same" if same else "DIFFERENT"]  # fmt: skip


def score(folder: Path, engine: str) -> Session:
    args = ["score", "humob", "--submission=given", "--dataset=data"]
    args += [f"--engine={engine}", f"--run-dir={engine}"]
    return agentbench(args, folder, AGENTBENCH_CACHE=str(folder / f"cache-{engine}"))


def results(folder: Path) -> tuple[object, dict[str, object]]:
    lines = (folder / "records.jsonl").read_text().splitlines()
    records = {record["sample"]: record["metrics"] for record in map(json.loads, lines)}
    return json.loads((folder / "scores.json").read_text())["readings"], records


def write_partitions(folder: Path, users: int) -> int:
    """The tables that the other scripts have as CSV; gives the number of their rows."""
    total = 0
    for path, name in zip(humob_files.write(folder, users), ("given", "data"), strict=True):
        table = pl.read_csv(path)
        total += table.height
        (folder / name).mkdir()
        for number, start in enumerate(range(0, table.height, PART_ROWS)):
            part = folder / name / f"part-{number:04}.parquet"
            table[start : start + PART_ROWS].write_parquet(part)
        path.unlink()
    return total


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
