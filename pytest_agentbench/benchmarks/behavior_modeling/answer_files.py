"""Files of answers, opened: JSON or JSON Lines, either of them gzipped. A pickle is never opened."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_agentbench.base.compressed import unzipped
from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.base.files import refuse_pickle

_GZIP = b"\x1f\x8b"
_LINES = (".jsonl", ".ndjson")
_EVALUATION = ("metrics", "recommendation_metrics", "simulation_metrics")


@dataclass(frozen=True)
class Entry:
    """One entry of a file: its place, and its value or why it has none."""

    where: str  # "answers.jsonl, line 3"
    value: Any = None
    fault: str | None = None


@dataclass(frozen=True)
class AnswerFile:
    """The entries of a file, in their order."""

    format: str  # "JSON" or "JSON Lines"
    entries: Sequence[Entry]


def read(path: Path, is_answer: Callable[[Any], bool]) -> AnswerFile:
    """The entries of a file; ``is_answer`` recognises one, to find the list of them in an object."""
    text = _text(path)
    if not text.strip():
        raise BenchmarkError(f"{path}: expected answers, got an empty file")
    name = path.name.removesuffix(".gz")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        entries = _lines(path, text)
        # Single lines of a damaged JSON file may be JSON by accident; the first one is not.
        if name.endswith(_LINES) or (entries and isinstance(entries[0].value, (dict, list))):
            return AnswerFile("JSON Lines", entries)
        raise BenchmarkError(f"{path}: expected JSON or JSON Lines, but {error}") from None
    if name.endswith(_LINES):
        return AnswerFile("JSON Lines", _lines(path, text))
    return AnswerFile("JSON", _entries(path, content, is_answer))


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        refuse_pickle(path, content)
        if content.startswith(_GZIP):
            content = unzipped(path, content)
            refuse_pickle(path, content)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BenchmarkError(
            f"{path}: expected JSON or JSON Lines, got bytes that are no text ({error}); write it "
            "with json.dump"
        ) from None
    except OSError as error:
        raise BenchmarkError(f"{path}: expected a file of answers, but {error}") from None
    except (EOFError, zlib.error) as error:
        raise BenchmarkError(f"{path}: cannot be unzipped to its end ({error})") from None


def _lines(path: Path, text: str) -> list[Entry]:
    entries = []
    for number, line in enumerate(text.split("\n"), 1):  # a text may hold other line separators
        if line.strip():
            where = f"{path}, line {number}"
            try:
                entries.append(Entry(where, json.loads(line)))
            except (ValueError, RecursionError) as error:
                entries.append(Entry(where, fault=f"expected JSON, but {error}"))
    return entries


def _entries(path: Path, content: Any, is_answer: Callable[[Any], bool]) -> list[Entry]:
    if isinstance(content, list):
        return [Entry(f"{path}, entry {n}", value) for n, value in enumerate(content)]
    if not isinstance(content, dict):
        raise BenchmarkError(f"{path}: expected a list of answers, got {shown(content)}")
    if is_answer(content):
        return [Entry(f"{path}, entry 0", content)]
    lists = [
        name for name, value in content.items()
        if isinstance(value, list) and any(map(is_answer, value))
    ]  # fmt: skip
    if len(lists) == 1:
        values = content[lists[0]]
        return [Entry(f"{path}, entry {n} of {shown(lists[0])}", v) for n, v in enumerate(values)]
    if lists:
        named = ", ".join(map(shown, lists[:5]))
        raise BenchmarkError(f"{path}: expected one list of answers, got several: {named}")
    refuse_evaluation(path, content)
    raise BenchmarkError(
        f"{path}: expected a list of answers, got an object with {shown(list(content)[:20])}"
    )


def refuse_evaluation(path: Path, value: Any) -> None:
    """:class:`BenchmarkError` for scores, which the published tools save more often than answers."""
    if isinstance(value, dict) and any(name in value for name in _EVALUATION):
        raise BenchmarkError(
            f"{path}: expected answers, got an evaluation of them with {shown(list(value)[:20])}; "
            "give the outputs that were evaluated, as run_simulation() returns them"
        )
