"""Rows of JSON Lines, CSV and Parquet files and of hub data sets, in batches, read with ``datasets``.

Everything is streamed: neither memory nor the hub client's cache holds a whole source.
"""

from __future__ import annotations

import csv
import glob
import importlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_agentbench.base import bounded_json
from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.base.files import file_digest

INSTALL = 'pip install "pytest-agentbench[hub]"'
BATCH = 10_000  # rows
LONGEST_FIELD = 1 << 26  # of a CSV file; Python's own limit is 128 KB

_KINDS = {
    ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet",
    ".tsv": "csv",
}  # fmt: skip
# The loader of ``datasets`` for each kind. JSON Lines and CSV are read as lines of text. The loader "json"
# gives all rows the columns and types of the first ones, but those of real files differ from line to line
# (Yelp's attributes, Amazon's details); the loader "csv" makes numbers of ids.
_LOADERS = {"json": "text", "csv": "text", "parquet": "parquet"}
_HUB = re.compile(
    r"(?P<repository>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?(,(?P<config>[^,:]+))?(:(?P<split>[\w.]+))?"
)
_EXPECTED = (
    "JSON Lines, CSV or Parquet (.jsonl, .json, .csv, .tsv, .parquet, also .gz; a folder, a pattern in "
    "quotes or hf://datasets/…), or a hub data set (hub:owner/name[@revision][,config][:split])"
)

Row = dict[str, Any]


@dataclass(frozen=True)
class RowSource:
    """Files of one kind, or a data set of the hub."""

    given: str
    kind: str | None = None  # of files: json, csv or parquet
    files: tuple[str, ...] = ()
    separator: str = ","
    repository: str | None = None
    revision: str | None = None
    config: str | None = None
    split: str | None = None

    def lines_for_card(self) -> list[str]:
        """What was read, without the places where it lies here."""
        if self.repository is not None or self.files[0].startswith("hf://"):
            return [f"`{self.given}`"]
        return [
            f"`{Path(file).name}`, {Path(file).stat().st_size:,} bytes, sha256 `{file_digest(Path(file))}`"
            for file in self.files
        ]


def find_source(given: str, option: str) -> RowSource:
    """The source that a person names; nothing is read yet."""
    if given.startswith("hub:"):
        match = _HUB.fullmatch(given.removeprefix("hub:"))
        if match is None:
            raise BenchmarkError(f"{option}: expected {_EXPECTED}, got {shown(given)}")
        return _of_hub(given, match)
    if given.startswith("hf://"):
        return _of_files(given, (given,), option)
    files = _local_files(given)
    if files:
        return _of_files(given, files, option)
    match = _HUB.fullmatch(given)
    if match is not None and _suffix(given) is None and not Path(given).parent.exists():
        return _of_hub(given, match)
    raise BenchmarkError(f"{option}: expected {_EXPECTED}, got {shown(given)}, where there is none")


def _of_hub(given: str, match: re.Match[str]) -> RowSource:
    return RowSource(
        given, repository=match["repository"], revision=match["revision"],
        config=match["config"], split=match["split"],
    )  # fmt: skip


def _local_files(given: str) -> tuple[str, ...]:
    path = Path(given).expanduser()
    if path.is_file():
        return (str(path),)
    if path.is_dir():
        found = [file for file in path.iterdir() if file.is_file() and _suffix(file.name)]
    else:
        found = [Path(name) for name in glob.glob(str(path), recursive=True)]  # noqa: PTH207 -- may be absolute
        found = [file for file in found if file.is_file()]
    return tuple(str(file) for file in sorted(found))


def _suffix(name: str) -> str | None:
    """The suffix that says what kind of file it is, without that of its compression."""
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    return suffix if suffix in _KINDS else None


def _of_files(given: str, files: tuple[str, ...], option: str) -> RowSource:
    suffixes = {name: _suffix(name) for name in files}
    for name, suffix in suffixes.items():
        if suffix is None:
            raise BenchmarkError(f"{option}: expected {_EXPECTED}, got {shown(name)}")
    found = sorted({str(suffix) for suffix in suffixes.values()})
    kinds = {_KINDS[suffix] for suffix in found}
    if len(kinds) > 1 or {".csv", ".tsv"} <= set(found):
        raise BenchmarkError(
            f"{option}: expected files of one kind in {given}, got {', '.join(found)}; "
            f"a pattern such as '{given}/*{found[0]}' chooses"
        )
    separator = "\t" if found == [".tsv"] else ","
    return RowSource(given, kinds.pop(), files, separator)


def batches(source: RowSource, option: str) -> Iterator[list[Row]]:
    """The rows of a source in its own order; values of CSV files are texts, an empty one is None."""
    if find_spec("datasets") is None:
        raise BenchmarkError(
            f"{option} {source.given}: reading it needs the package datasets, which is not installed; "
            f"install it with: {INSTALL}"
        )
    datasets: Any = importlib.import_module("datasets")
    try:
        if source.kind == "json":
            yield from _json_lines(datasets, source, option)
        elif source.kind == "csv":
            yield from _csv(datasets, source, option)
        elif source.kind is not None:
            yield from _tables(_stream(datasets, source))
        else:
            yield from _tables(_hub(datasets, source, option))
    except (BenchmarkError, MemoryError):
        raise
    except Exception as error:  # of any library below ``datasets``
        said = " ".join(str(error).split())[:300]
        raise BenchmarkError(
            f"{option} {source.given}: could not be read ({type(error).__name__}: {said})"
        ) from None


def _stream(datasets: Any, source: RowSource, **options: Any) -> Any:
    return datasets.load_dataset(
        _LOADERS[source.kind or ""],
        data_files=list(source.files),
        split="train",
        streaming=True,
        **options,
    )


def _json_lines(datasets: Any, source: RowSource, option: str) -> Iterator[list[Row]]:
    numbered = enumerate(_lines(_stream(datasets, source)), 1)
    while part := list(itertools.islice(numbered, BATCH)):
        yield [
            _object(line, f"{option} {source.given}, line ", number)
            for number, line in part
            if line and not line.isspace()
        ]


def _object(text: str, where: str, number: int) -> Row:
    try:
        found = bounded_json.loads(text.lstrip("\ufeff"))
    except ValueError as error:
        raise BenchmarkError(
            f"{where}{number}: expected one JSON object a line, but {error}"
        ) from None
    if not isinstance(found, dict):
        raise BenchmarkError(
            f"{where}{number}: expected one JSON object a line, got {shown(found)}"
        )
    return found


def _csv(datasets: Any, source: RowSource, option: str) -> Iterator[list[Row]]:
    """Every value as its text: an id such as 0143039954 is no number."""
    csv.field_size_limit(LONGEST_FIELD)
    lines = _lines(_stream(datasets, source, keep_linebreaks=True))
    rows = csv.reader(lines, delimiter=source.separator)
    header: list[str] = []
    batch: list[Row] = []
    for values in rows:
        header = header or [name.lstrip("\ufeff") for name in values]
        if not values or [values[0].lstrip("\ufeff"), *values[1:]] == header:
            continue  # every file begins with it
        if len(values) != len(header):
            raise BenchmarkError(
                f"{option} {source.given}, line {rows.line_num}: expected {len(header)} values "
                f"({', '.join(header)}), got {len(values)}"
            )
        batch.append(dict(zip(header, (value or None for value in values), strict=True)))
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def _lines(stream: Any) -> Iterator[str]:
    for batch in stream.with_format("arrow").iter(BATCH):
        yield from batch["text"].to_pylist()


def _hub(datasets: Any, source: RowSource, option: str) -> Any:
    """A data set of the hub. One with a loading script is refused by ``datasets``: name its files."""
    loaded = datasets.load_dataset(
        source.repository, source.config, revision=source.revision, split=source.split,
        streaming=True,
    )  # fmt: skip
    if not isinstance(loaded, dict):
        return loaded
    if len(loaded) > 1:
        raise BenchmarkError(
            f"{option} {source.given}: expected a split, as in {source.given}:{next(iter(loaded))}; "
            f"it has {', '.join(loaded)}"
        )
    return next(iter(loaded.values()))


def _tables(stream: Any) -> Iterator[list[Row]]:
    for batch in stream.iter(BATCH):
        names = list(batch)
        columns = (batch[name] for name in names)
        yield [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
