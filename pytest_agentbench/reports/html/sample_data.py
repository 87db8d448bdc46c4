"""The samples in report.html: columns for the table, and texts for the view of one sample.

Both are plain JSON. What is embedded is bounded: a report is opened by double click and sent by mail,
and records.jsonl has everything.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from pytest_agentbench.base.plain import is_array, jsonable, table_size
from pytest_agentbench.runs.evaluate import FAULTS
from pytest_agentbench.runs.record import STATUSES, Record

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.protocol import Dataset

MOST_BYTES = 2_800_000  # of all texts together
MOST_DETAILED = 2_000  # samples with texts
MOST_SAMPLE_BYTES = 30_000
MOST_NUMBERS = 400  # characters of a list of numbers: plots show it, nobody reads it
MOST_ROWS = 2_000  # characters of rows of numbers with few words between, such as a person's day
PREVIEWED = 10_000  # in larger runs the table has no column of answers
PREVIEW = 90
ERROR_LINE = 160

_PLAIN = (str, int, float, Mapping, list, tuple, set, frozenset)
_METHODS = ("tolist", "to_list", "to_dict", "isoformat")  # those that jsonable knows
_MOST_OF_A_CHARACTER = 6  # bytes: an escape such as \u003c
_LETTERS = re.compile(r"[^\W\d_]")
_UNSAFE = "<>&\u2028\u2029"  # "</script>" would end the element that holds the JSON


def embedded(data: Any) -> str:
    """``data`` as JSON that can stand in a script element, whatever its texts say."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in _UNSAFE:
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    # Lone surrogates, which UTF-8 has no bytes for: Python's escape of them is also JSON's.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def table(records: Sequence[Record], reading: str, metrics: Sequence[str]) -> dict[str, Any]:
    """The columns of the table, each with all its values: compact, and quick to sort."""
    present = {name for record in records for name in record.metrics.get(reading, {})}
    names = [name for name in metrics if name in present]
    # A benchmark may keep values that its table does not name.
    names += sorted(present - set(names))
    columns: list[dict[str, Any]] = [
        {"name": "sample", "values": [record.sample for record in records]}
    ]
    if any(record.epoch > 1 for record in records):
        columns.append(
            {"name": "epoch", "number": True, "values": [record.epoch for record in records]}
        )
    columns.append(
        {
            "name": "status",
            "words": list(STATUSES),
            "values": [STATUSES.index(record.status) for record in records],
        }
    )
    for name in names:
        values = [_digits(record.metrics.get(reading, {}).get(name)) for record in records]
        columns.append({"name": name, "number": True, "values": values})
    seconds = [_digits(record.seconds) for record in records]
    columns.append({"name": "seconds", "number": True, "values": seconds})
    if len(records) <= PREVIEWED:
        answers = [
            _cut(text_of(record.answer), PREVIEW) if record.has_answer else "" for record in records
        ]
        columns.append({"name": "answer", "values": answers})
    if any(record.error for record in records):
        errors = [_cut((record.error or "").strip(), ERROR_LINE) for record in records]
        columns.append({"name": "error", "values": errors})
    return {"rows": len(records), "columns": columns}


def _digits(value: Any) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.6g}")


def _cut(text: str, most: int) -> str:
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[:most]}…"


def without_truth(record: Record) -> Record:
    """The record for people who must not know the truth: an error of the benchmark's own may quote it."""
    for step in FAULTS:
        if (record.error or "").startswith(step):
            return record.changed(error=f"{step}: see records.jsonl")
    return record


def details(dataset: Dataset, records: Sequence[Record], truth: bool = True) -> dict[str, Any]:
    """For each row that has them, its texts ``[label, text, characters left out]``."""
    chosen = _chosen(records)
    most = min(MOST_SAMPLE_BYTES, MOST_BYTES // max(1, len(chosen)))
    return {
        str(row): _fitted(
            _texts(dataset, dataset.index_of.get(records[row].sample), records[row], truth), most
        )
        for row in chosen
    }


def _chosen(records: Sequence[Record]) -> list[int]:
    """All rows of a run of ordinary size; else the failed ones first, then some of all the rest."""
    if len(records) <= MOST_DETAILED:
        return list(range(len(records)))
    failed = [row for row, record in enumerate(records) if record.status != "ok"]
    rest = [row for row, record in enumerate(records) if record.status == "ok"]
    failed = failed[: MOST_DETAILED // 2] if rest else failed[:MOST_DETAILED]
    spread = np.linspace(0, len(rest) - 1, min(len(rest), MOST_DETAILED - len(failed)))
    return sorted({*failed, *(rest[int(at)] for at in spread)})


def _texts(
    dataset: Dataset, index: int | None, record: Record, truth: bool
) -> list[tuple[str, str]]:
    texts, context = [], []
    if record.error:
        texts.append(("error", record.error))
    texts.append(("answer", text_of(record.answer) if record.has_answer else "(none)"))
    if index is not None:
        sample = dataset.sample(index)
        if truth and _is_plain(sample.truth):
            texts.append(("truth", text_of(sample.truth)))
        context = [("context", text_of(sample.context))]
    if record.metrics:
        texts.append(("metrics", text_of(record.metrics)))
    if record.usage:
        texts.append(("usage", text_of(record.usage)))
    texts += [(str(name), text_of(value)) for name, value in record.evidence.items() if value]
    return texts + context  # last: it is the longest, and the same in every run


def _is_plain(value: Any) -> bool:
    """Whether the value itself can be shown; a benchmark's own object is no text for people."""
    return isinstance(value, _PLAIN) or any(hasattr(value, method) for method in _METHODS)


def text_of(value: Any) -> str:
    """A value for people: a text as it is, a mapping with a line for each key, the rest as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {_line(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, Mapping) for v in value):
        return "\n\n".join(text_of(item) for item in value)  # messages
    return _line(value)


def _line(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is not None and not _is_plain(value):
        return f"({type(value).__name__})"
    text = json_text(value)
    most = MOST_NUMBERS if '"' not in text else MOST_ROWS
    left = len(text) - most
    if left > 0 and _mostly_numbers(text[:MOST_ROWS]):
        return f"{text[:most]}… ({left:,} more characters)"
    return text


def _mostly_numbers(text: str) -> bool:
    return len(_LETTERS.findall(text)) < len(text) / 3


def json_text(value: Any) -> str:
    """What json.dumps writes, in less time for trajectories: the rule, and long."""
    rows = value.tolist() if is_array(value) else value
    if isinstance(rows, list) and table_size(rows):
        return msgspec.json.encode(rows).decode().replace(",", ", ")
    try:  # what JSON cannot hold goes the slow way
        return json.dumps(value, ensure_ascii=False, default=jsonable)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(jsonable(value), ensure_ascii=False)


def _fitted(texts: Sequence[tuple[str, str]], most: int) -> list[list[Any]]:
    """The texts, cut where they need more bytes than they may; short ones leave theirs to the rest."""
    if sum(_MOST_OF_A_CHARACTER * len(text) + 2 for _, text in texts) <= most:  # the usual case
        return [[label, text, 0] for label, text in texts]
    # A character costs a byte at least: no more than ``most`` of them can be kept, or need be looked at.
    starts = [text[:most] for _, text in texts]
    costs = [len(embedded(start).encode()) for start in starts]
    allowed = dict.fromkeys(range(len(texts)), 0)
    left = most
    for place, at in enumerate(_by_size(costs)):
        allowed[at] = min(costs[at], left // (len(costs) - place))
        left -= allowed[at]
    result = []
    for at, (label, text) in enumerate(texts):
        kept = starts[at]
        if allowed[at] < costs[at]:
            kept = kept[: int(len(kept) * allowed[at] / costs[at])]
        result.append([label, kept, len(text) - len(kept)])
    return result


def _by_size(costs: Sequence[int]) -> Iterable[int]:
    return sorted(range(len(costs)), key=lambda at: costs[at])
