"""A HuMob submission from CSV to scores.

Two CSV files (the truth and a submission: 15 days a user, about 22 points a day) are read, checked and
scored by `score_files`, in both readings (2023 and 2025), with GEO-BLEU and DTW. Each row is a fresh
process, imports included; nothing comes from a cache but compiled code. "Reading" is a process that
only reads both files with polars. The textbook's time is projected from 20 of the days, scored in the
same run. The shortest of three times, taken in turns.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import humob_files
import polars as pl
from measure import Cell, fastest, in_turns, run, seconds, show, textbook

HEAD = ("users", "files MB", "s", "of CPU s", "µs a user-day", "reading s", "/ reading",
        "textbook s", "textbook / this", "MB", "reading MB")  # fmt: skip
SCORE = Path(__file__).with_name("score_files.py")
READ = """
import sys
import polars
for path in sys.argv[1:]:
    polars.read_csv(path)
"""


def rows(quick: bool) -> Iterator[list[Cell]]:
    sizes, rounds = ((20, 40, 80), 1) if quick else ((5_000, 10_000, 20_000), 3)
    with tempfile.TemporaryDirectory() as name:
        for users in sizes:
            files = humob_files.write(Path(name), users)
            programs = [str(SCORE)], ["-c", READ]
            commands = [[sys.executable, *program, *map(str, files)] for program in programs]
            ours, reading = map(fastest, in_turns([partial(run, c) for c in commands], rounds))
            days = users * humob_files.DAYS
            book = textbook_seconds_a_day(*files, days=2 if quick else 20) * days
            yield [
                users, sum(file.stat().st_size for file in files) / 1e6,
                ours.seconds, ours.cpu, 1e6 * ours.seconds / days,
                reading.seconds, ours.seconds / reading.seconds,
                book, book / ours.seconds, ours.mb, reading.mb,
            ]  # fmt: skip


def textbook_seconds_a_day(generated: Path, reference: Path, days: int) -> float:
    """Of the first user-days of both files: GEO-BLEU and DTW of both editions."""
    tables = [pl.read_csv(file, n_rows=60 * days).rows() for file in (generated, reference)]
    sides = [
        [[row[3:] for row in day] for _, day in itertools.groupby(table, key=lambda row: row[:2])]
        for table in tables
    ]
    pairs = list(zip(*sides, strict=True))[:days]

    def score() -> None:
        for edition in ("2023", "2025"):
            for gen, ref in pairs:
                textbook.geobleu(gen, ref, edition)
                textbook.dtw(gen, ref, edition)

    return seconds(score) / days


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
