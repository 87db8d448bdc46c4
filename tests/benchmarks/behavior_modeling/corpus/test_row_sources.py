"""Rows of files and hub data sets, read by the real ``datasets``; a local folder stands in for the hub's."""

from __future__ import annotations

import importlib.util

import pytest
import review_corpus as corpora

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling.corpus import row_sources
from pytest_agentbench.benchmarks.behavior_modeling.corpus.row_sources import batches, find_source

ROWS = [
    {"id": "0143", "text": 'one, "two"\nthree', "stars": 4},
    {"id": "0007", "text": "NA \u2028 line", "stars": 5},
]
TEXTS = [{**row, "stars": str(row["stars"])} for row in ROWS]


def read(given):
    return [row for rows in batches(find_source(str(given), "--items"), "--items") for row in rows]


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".ndjson.gz", ".parquet"])
def test_values_keep_their_types(tmp_path, suffix):
    assert read(corpora.write(ROWS, tmp_path / f"rows{suffix}")) == ROWS


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_values_of_csv_files_are_texts_and_ids_keep_their_zeros(tmp_path, suffix):
    assert read(corpora.write(TEXTS, tmp_path / f"rows{suffix}")) == TEXTS


def test_tabs_byte_order_marks_empty_values_and_blank_lines(tmp_path):
    (tmp_path / "rows.tsv").write_bytes(b"\xef\xbb\xbfid\tname\r\n1\t\r\n\r\n2\tA, B\r\n")
    assert read(tmp_path / "rows.tsv") == [{"id": "1", "name": None}, {"id": "2", "name": "A, B"}]
    (tmp_path / "rows.jsonl").write_bytes(b'\xef\xbb\xbf{"id": 1}\n\n{"id": "2", "more": {}}')
    assert read(tmp_path / "rows.jsonl") == [{"id": 1}, {"id": "2", "more": {}}]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_folder_and_a_pattern_are_read_in_the_order_of_names(tmp_path, suffix):
    for name, row in zip(("b", "a"), TEXTS, strict=True):
        corpora.write([row], tmp_path / "many" / f"{name}{suffix}")
    (tmp_path / "many" / "notes.txt").write_text("not a row")
    assert read(tmp_path / "many") == read(tmp_path / "many" / f"*{suffix}") == TEXTS[::-1]


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ("hub:McAuley-Lab/Amazon", ("McAuley-Lab/Amazon", None, None, None)),
        ("hub:o/n,raw_Books:full", ("o/n", None, "raw_Books", "full")),
        ("hub:o/n@v1.2:train", ("o/n", "v1.2", None, "train")),
        ("nobody-here/name", ("nobody-here/name", None, None, None)),
    ],
)
def test_names_of_hub_data_sets(given, parts):
    source = find_source(given, "--reviews")
    assert (source.repository, source.revision, source.config, source.split) == parts
    assert source.lines_for_card() == [f"`{given}`"]


def test_files_on_the_hub_are_read_like_others():
    source = find_source("hf://datasets/o/n/raw/meta.jsonl", "--items")
    assert (source.kind, source.files) == ("json", ("hf://datasets/o/n/raw/meta.jsonl",))


def test_a_data_set_is_loaded_by_name_with_the_split_that_is_asked_for(tmp_path, monkeypatch):
    # ``datasets`` takes a folder of that name for the data set: the same code, without the network.
    monkeypatch.chdir(tmp_path)
    corpora.write(ROWS, tmp_path / "owner" / "one" / "train.parquet")
    assert read("hub:owner/one") == ROWS
    corpora.write(ROWS, tmp_path / "owner" / "two" / "train.parquet")
    corpora.write(ROWS[:1], tmp_path / "owner" / "two" / "test.parquet")
    assert read("hub:owner/two:test") == ROWS[:1]
    with pytest.raises(
        BenchmarkError, match=r"expected a split, as in hub:owner/two:train; it has train, test"
    ):
        read("hub:owner/two")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.jsonl", '{"a": 1}\n{"a"\n', r"rows\.jsonl, line 2: expected one JSON object a line, but"),
        ("rows.json", "[1, 2]\n", r"rows\.json, line 1: expected one JSON object a line, got \[1, 2\]"),
        ("rows.csv", "a,b\n1\n", r"rows\.csv, line 2: expected 2 values \(a, b\), got 1"),
        ("rows.parquet", "no", r"--items .*rows\.parquet: could not be read \(\w+: "),
        ("rows.xlsx", "no", "expected JSON Lines, CSV or Parquet"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises(BenchmarkError, match=said):
        read(tmp_path / name)


def test_files_of_two_kinds_in_a_folder_are_refused(tmp_path):
    corpora.write(TEXTS, tmp_path / "a.csv")
    corpora.write(TEXTS, tmp_path / "b.jsonl")
    with pytest.raises(
        BenchmarkError, match=r"expected files of one kind in .*, got \.csv, \.jsonl"
    ):
        read(tmp_path)


def test_without_datasets_the_extra_is_named(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        row_sources, "find_spec", lambda name: None if name == "datasets" else real(name)
    )
    with pytest.raises(BenchmarkError, match=r'datasets, .*pip install "pytest-agentbench\[hub\]"'):
        read(corpora.write(ROWS, tmp_path / "rows.jsonl"))
