"""A humob table and a submission in Parquet partitions, with mistakes in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pytest_agentbench.benchmarks.humob.data import DEMO_FILE

USERS, PARTS = 60, 3


def write_tables(folder: Path) -> None:
    """``data`` and ``given``: the rows of a user lie in all partitions, in any order."""
    rng = np.random.default_rng(0)
    data = pl.read_csv(DEMO_FILE).filter(pl.col("uid") < 80_000 + USERS)
    given = data.filter(pl.col("d") >= 60)
    strays = rng.integers(0, 4, given.height) * (rng.random(given.height) < 0.3)
    given = given.with_columns(x=(given["x"] + strays).clip(1, 200))
    missing = pl.col("uid") == 80_003
    short = (pl.col("uid") == 80_007) & (pl.col("t") == given.filter(uid=80_007)["t"][0])
    for name, table in (("data", data), ("given", given.filter(~missing & ~short))):
        (folder / name).mkdir()
        mixed = table[rng.permutation(table.height).tolist()]
        for number in range(PARTS):
            mixed[number::PARTS].write_parquet(folder / name / f"part-{number}.parquet")


def without_answers(project: Any, run: Path) -> list[dict[str, Any]]:
    """The records of a run as a cluster leaves them."""
    return [{**record, "answer": None} for record in project.records(run)]
