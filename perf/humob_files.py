"""HuMob files for the scripts beside this one: a truth and a submission that gets two in three right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

FIRST_UID, FIRST_DAY, DAYS = 80_000, 60, 15
AT_ONCE = 10_000


def write(folder: Path, users: int) -> tuple[Path, Path]:
    """Days of about 22 points among six places a user, as generated.csv and reference.csv."""
    paths = folder / "generated.csv", folder / "reference.csv"
    with paths[0].open("wb") as generated, paths[1].open("wb") as reference:
        for first in range(0, users, AT_ONCE):
            rng = np.random.default_rng(first)
            count = min(AT_ONCE, users - first)
            observed = rng.random((count, DAYS, 48)) < 22 / 48
            user, day, slot = np.nonzero(observed)
            places = rng.integers(1, 201, size=(count, 6, 2), dtype=np.int16)
            habit = rng.choice(6, size=(count, 48), p=[0.55, 0.25, 0.08, 0.06, 0.04, 0.02])
            usual = habit[user, slot]
            strays = np.where(rng.random(len(user)) < 0.35, rng.integers(0, 6, len(user)), usual)
            for file, place in ((generated, usual), (reference, strays)):
                x, y = places[user, place].T
                uid = FIRST_UID + first + user
                columns = {"uid": uid, "d": FIRST_DAY + day, "t": slot, "x": x, "y": y}
                pl.DataFrame(columns).write_csv(file, include_header=first == 0)
    return paths
