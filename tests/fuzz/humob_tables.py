"""Fuzzes the readers of humob files, CSV, gzipped CSV and Parquet; see fuzzing.py for how to run it.

The first byte says as what the rest is read. A file is refused with a message, or it is read as the
csv module of Python reads it: nothing is taken for something else.
"""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from pathlib import Path

from fuzz.fuzzing import fuzz

COLUMNS = ("uid", "d", "t", "x", "y")
SUFFIXES = {b"c": ".csv", b"z": ".csv.gz", b"p": ".parquet"}
ROWS = ((7, 3, 0, 1, 200), (7, 60, 47, 999, 999), (12, 75, 5, 20, 30))
_FOLDER = tempfile.TemporaryDirectory(prefix="agentbench-fuzz-")


def seeds() -> list[bytes]:
    lines = [",".join(map(str, row)) for row in ROWS]
    texts = [
        "\n".join([",".join(COLUMNS), *lines, ""]),
        "\r\n".join(["\ufeff" + ",".join(COLUMNS), *lines, "", ""]),
        "\n".join(lines),
        '"y","x","note",t,d,UID\n30,"20","a, ""b""\nc",5,75,12\n',
        " uid,d,t,x,y\n+7, 60,-0,007,1\n",
        "uid;d;t;x;y\n",
        "uid,d,t,x,y\n7,60,3,1e2,20\n7,60,4,1,2\n",
        "",
    ]
    plain = [text.encode() for text in texts] + [texts[0].encode("utf-16"), b"\x1f\x8b"]
    zipped = [gzip.compress(text.encode(), mtime=0) for text in texts[:2]]
    return [
        *(b"c" + text for text in plain),
        *(b"z" + data for data in (*zipped, zipped[0][:-9], zipped[0] + b"more")),
        b"p" + _parquet(),
    ]


def _parquet() -> bytes:
    import polars as pl

    out = io.BytesIO()
    frame = pl.DataFrame(ROWS, schema=COLUMNS, orient="row")
    frame.write_parquet(out, compression="uncompressed", statistics=False)
    return out.getvalue()


def check(data: bytes) -> None:
    from pytest_agentbench.base.errors import BenchmarkError
    from pytest_agentbench.benchmarks.humob.tables import read_table
    from pytest_agentbench.benchmarks.humob.validate import validate

    suffix = SUFFIXES.get(data[:1], ".csv")
    path = Path(_FOLDER.name) / f"team_task1_humob{suffix}"
    path.write_bytes(data[1:])
    try:
        table = read_table(path)
    except BenchmarkError as error:
        assert str(path) in str(error)
    else:
        if suffix != ".parquet":
            read = [(uid, *row) for uid in table.uids.tolist() for row in table.of(uid).tolist()]
            assert textbook_rows(data[1:]) in (read, None)
    assert all(isinstance(problem, str) for problem in validate(path, "2023", "1"))


def textbook_rows(data: bytes) -> list[tuple[int, ...]] | None:
    """The rows, by user, of a file that was accepted; None where quotes in other columns are broken."""
    raw = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    # A lone carriage return beside a number is white space to the reader, and an error to the csv module.
    text = raw.decode("utf-8-sig", "replace").replace("\r", "")
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return None
    while not "".join(lines[-1]).strip():
        lines.pop()
    names: list[str] = list(COLUMNS)
    if not lines[0][0].strip().lstrip("+-").isdigit():
        names = [name.strip(" \t'\"").lower() for name in lines.pop(0)]
    at = [names.index(column) for column in COLUMNS]
    rows = [tuple(int(line[column]) for column in at) for line in lines]
    return sorted(rows, key=lambda row: row[0])


if __name__ == "__main__":
    fuzz(seeds, check)
