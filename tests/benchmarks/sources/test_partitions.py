"""Which files a path means where a table may lie in several."""

from __future__ import annotations

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.sources.partitions import files_of, is_partitioned, table_digest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))

    def make(*names):
        place = tmp_path / f"folder{len(list(tmp_path.iterdir()))}"
        place.mkdir()
        for name in names:
            (place / name).write_text(name)
        return place

    return make


@pytest.mark.parametrize(
    ("names", "partitioned"),
    [
        (["part-0.parquet", "part-1.parquet"], True),
        (["part.0.parquet", "part.10.parquet"], True),
        (["00000000.parquet", "_SUCCESS"], True),
        (["part-00000-4f1c-c000.snappy.parquet"], True),
        (["cityA.parquet", "cityB.parquet"], False),
        (["part-0.parquet", "truth.parquet"], False),
        (["part-0.csv"], False),
        ([], False),
    ],
)
def test_partitions_in_a_folder_are_known_by_their_names(folder, names, partitioned):
    assert is_partitioned(folder(*names)) is partitioned


def test_a_pattern_names_partitions_whatever_they_are_called(folder):
    place = folder("b.parquet", "a.parquet", "c.csv")
    assert files_of(place / "*.parquet") == [place / "a.parquet", place / "b.parquet"]
    assert not is_partitioned(place / "*.xlsx")
    with pytest.raises(
        BenchmarkError, match=r"a pattern of Parquet files, got .*c\.csv among them"
    ):
        files_of(place / "*")


def test_a_file_is_itself_even_if_its_name_looks_like_a_pattern(folder):
    place = folder("data[1].parquet", "data1.parquet")
    assert files_of(place / "data[1].parquet") == [place / "data[1].parquet"]


def test_a_folder_of_anything_else_is_refused(folder):
    with pytest.raises(BenchmarkError, match="expected a file, a folder of Parquet partitions"):
        files_of(folder("cityA.parquet"))


def test_the_digest_is_of_contents_and_not_of_names(folder):
    one, two = (
        folder("part-0.parquet", "part-1.parquet"),
        folder("part-7.parquet", "part-8.parquet"),
    )
    assert table_digest(one) != table_digest(two)
    for path, text in zip(files_of(two), ("part-1.parquet", "part-0.parquet"), strict=True):
        path.write_text(text)
    assert table_digest(one) == table_digest(two)
