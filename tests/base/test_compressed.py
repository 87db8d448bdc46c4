"""Files that would fill the memory are refused before they do; whatever else is compressed is read."""

from __future__ import annotations

import gzip
import io
import os
import time
import zlib

import polars as pl
import pytest

from pytest_agentbench.base import compressed
from pytest_agentbench.base.errors import BenchmarkError


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(compressed, "HARMLESS", 1 << 20)


@pytest.fixture
def bomb(tmp_path):
    """200 kB that stand for 200 MB."""
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(200):
            file.write(b"0" * (1 << 20))
    assert path.stat().st_size < 300_000
    return path


def read_lines(path):
    with gzip.open(path) as stream:
        return list(compressed.lines(path, stream))


def test_a_bomb_is_refused_before_it_is_whole(bomb):
    started = time.process_time()
    for read in (
        lambda: compressed.check_gzip(bomb),
        lambda: compressed.unzipped(bomb, bomb.read_bytes()),
        lambda: read_lines(bomb),
    ):
        with pytest.raises(
            BenchmarkError, match=r"bomb\.gz: expected .*(unpack it|lines of at most)"
        ):
            read()
    assert time.process_time() - started < 3


def test_many_lines_are_counted_as_well(tmp_path, small_limits):
    path = tmp_path / "lines.gz"
    path.write_bytes(gzip.compress(b"0\n" * (1 << 20)))
    with pytest.raises(BenchmarkError, match=r"MB and more in \d+ bytes"):
        read_lines(path)


@pytest.mark.parametrize("members", [1, 3])
def test_ordinary_files_are_read_whole(tmp_path, small_limits, members):
    data = os.urandom(1 << 19) * 3
    path = tmp_path / "data.gz"
    path.write_bytes(gzip.compress(data) * members + b"\0" * 7)
    compressed.check_gzip(path)
    assert compressed.unzipped(path, path.read_bytes()) == data * members


def test_damaged_files_are_for_their_reader(tmp_path, small_limits):
    path = tmp_path / "data.gz"
    whole = gzip.compress(os.urandom(1 << 20))
    for spoiled, error in ((whole[:-20], EOFError), (whole[:-8] + b"\1" * 8, zlib.error)):
        path.write_bytes(spoiled)
        compressed.check_gzip(path)
        with pytest.raises(error):
            compressed.unzipped(path, spoiled)


def test_a_table_with_more_rows_than_its_bytes_can_hold_is_refused(tmp_path, small_limits):
    path = tmp_path / "bomb.parquet"
    pl.select(pl.repeat(0, 3_000_000).alias("uid")).write_parquet(path, compression="zstd")
    assert path.stat().st_size < 20_000
    with pytest.raises(BenchmarkError, match=r"bomb\.parquet: .* got 3000000 rows in"):
        compressed.check_parquet(path)
    out = io.BytesIO()
    pl.DataFrame({"uid": range(300_000)}).write_parquet(out)
    path.write_bytes(out.getvalue())
    compressed.check_parquet(path)
    path.write_bytes(b"no table")
    compressed.check_parquet(path)
