"""Compressed files, measured before they fill the memory: few bytes may stand for any number of others."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from pytest_agentbench.base.errors import BenchmarkError

# Up to so many bytes nobody asks how well they were compressed.
HARMLESS = 100 << 20
# Tables of numbers are compressed to a tenth, texts to a third; gzip can reach 1,030.
RATIO = 200
# Parquet writes a column in which one value is repeated in a few bytes.
PARQUET_RATIO = 1000
_BLOCK = 1 << 20


def check_gzip(path: Path) -> None:
    """:class:`BenchmarkError` for a file that grows beyond measure. Damaged ones are left to their reader."""
    if path.stat().st_size * 1100 < HARMLESS:
        return
    try:
        with path.open("rb") as file:
            for _ in _blocks(path, iter(lambda: file.read(_BLOCK), b"")):
                pass
    except (EOFError, zlib.error):
        return


def unzipped(path: Path, content: bytes) -> bytes:
    """The content of a gzip file; EOFError or ``zlib.error`` where it is cut off or damaged."""
    parts = (content[start : start + _BLOCK] for start in range(0, len(content), _BLOCK))
    return b"".join(_blocks(path, parts))


def _blocks(path: Path, parts: Iterable[bytes]) -> Iterator[bytes]:
    most = max(HARMLESS, RATIO * path.stat().st_size)
    count = 0
    member = zlib.decompressobj(wbits=31)
    for part in parts:
        left = part
        while left:
            if member.eof:  # another gzip member, or the zeros that some programs put at the end
                left = left.lstrip(b"\0")
                if not left:
                    break
                member = zlib.decompressobj(wbits=31)
            block = member.decompress(left, _BLOCK)
            count += len(block)
            if count > most:
                raise BenchmarkError(_too_much(path, f"{count >> 20} MB and more"))
            yield block
            left = member.unused_data if member.eof else member.unconsumed_tail
    if not member.eof:
        raise EOFError("Compressed file ended before the end-of-stream marker was reached")


def lines(path: Path, stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a stream; :class:`BenchmarkError` for one without an end, or if they are too many."""
    most = max(HARMLESS, RATIO * path.stat().st_size)
    count = 0
    while line := stream.readline(HARMLESS + 1):
        count += len(line)
        if len(line) > HARMLESS:
            raise BenchmarkError(
                f"{path}: expected lines of at most {HARMLESS >> 20} MB, got a longer one"
            )
        if count > most:
            raise BenchmarkError(_too_much(path, f"{count >> 20} MB and more"))
        yield line


def check_parquet(path: Path) -> None:
    """:class:`BenchmarkError` for a table that says to have far more rows than its bytes can hold."""
    import polars as pl

    try:
        table = pl.scan_parquet(path, glob=False)
        rows = int(table.select(pl.len()).collect().item())
        size = rows * max(1, len(table.collect_schema())) * 8
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return  # its reader says what is wrong
    if size > max(HARMLESS, PARQUET_RATIO * path.stat().st_size):
        raise BenchmarkError(_too_much(path, f"{rows} rows"))


def _too_much(path: Path, what: str) -> str:
    return (
        f"{path}: expected a file that was compressed to a part of its size, got {what} in "
        f"{path.stat().st_size} bytes, which would fill the memory; if that is right, unpack it (gunzip; "
        f"CSV instead of Parquet) and name the result"
    )
