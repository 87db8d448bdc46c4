"""Small humob files in a temporary folder, and a cache of their own for every test."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_agentbench.benchmarks.humob.benchmark import Humob
from pytest_agentbench.benchmarks.humob.data import HumobDataset

Rows = Iterable[Sequence[int]]


@pytest.fixture
def csv(tmp_path: Path) -> Callable[..., Path]:
    """Writes rows as CSV, gzipped if the name says so."""

    def write(rows: Rows, name: str = "data.csv", header: str | None = "uid,d,t,x,y") -> Path:
        lines = [] if header is None else [header]
        lines += [",".join(map(str, row)) for row in rows]
        text = "".join(f"{line}\n" for line in lines).encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return path

    return write


@pytest.fixture
def load() -> Callable[..., HumobDataset]:
    """Loads a data set as a run would, with the benchmark's own parameters parsed."""

    def load(
        dataset: str | Path,
        mode: str = "test",
        submission: Path | None = None,
        **parameters: Any,
    ) -> HumobDataset:
        known = {parameter.name: parameter for parameter in Humob.parameters}
        parsed = {name: parameter.default for name, parameter in known.items()}
        parsed |= {name: known[name].parse(value) for name, value in parameters.items()}
        settings: Any = SimpleNamespace(
            dataset=dataset, mode=mode, seed=0, parameters=parsed, submission=submission
        )
        loaded = Humob().load(settings)
        assert isinstance(loaded, HumobDataset)
        return loaded

    return load


@pytest.fixture
def person() -> Callable[..., list[tuple[int, ...]]]:
    """Rows of a user that differ from user to user, from day to day and from slot to slot."""

    def rows(
        uid: int, days: Iterable[int] = range(58, 63), slots: Iterable[int] = (10, 20, 30)
    ) -> list[tuple[int, ...]]:
        slots = list(slots)
        return [
            (uid, d, t, 1 + (uid * 7 + d) % 200, 1 + (uid + t * 3) % 200)
            for d in days
            for t in slots
        ]

    return rows


@pytest.fixture
def masked() -> Callable[..., list[tuple[int, ...]]]:
    """The rows with x = y = 999 from a day on."""

    def hide(rows: Rows, first: int = 60) -> list[tuple[int, ...]]:
        return [tuple(row) if row[1] < first else (*row[:3], 999, 999) for row in rows]

    return hide
