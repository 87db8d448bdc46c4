"""The record of one sample: all that a question to the agent leaves behind, as plain JSON."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Status = Literal["ok", "invalid", "error", "timeout"]
STATUSES: tuple[Status, ...] = get_args(Status)

_LONGEST_REPR = 10_000
_LONG_TEXT = 1000  # characters of JSON from which on an answer is worth packing
_encode = json.JSONEncoder(allow_nan=False).encode  # json.dumps would make an encoder each time
_encode_short = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class _Packed(bytes):
    """The JSON of a long answer, compressed: a large run holds all its records in memory."""


def _packed(text: str) -> _Packed:
    return _Packed(zlib.compress(text.encode("ascii"), 1))


class _Answer:
    """The field ``answer``: one that came as JSON is decoded when it is asked for."""

    def __get__(self, record: Record | None, owner: type[Record]) -> Any:
        if record is None:
            return None  # the default
        value = record.__dict__["answer"]
        return json.loads(zlib.decompress(value)) if isinstance(value, _Packed) else value

    def __set__(self, record: Record, value: Any) -> None:
        record.__dict__["answer"] = value


@dataclass(frozen=True)
class Record:
    """What became of one sample in one epoch."""

    benchmark: str
    sample: str  # "uid[80012]"
    status: Status
    epoch: int = 1
    answer: Any = _Answer()  # also an invalid one: nothing an agent said is lost
    error: str | None = None
    seconds: float = 0.0
    usage: Mapping[str, float] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)  # stdout, stderr, log, messages

    def to_json(self) -> str:
        """One line of ASCII: lone surrogates and line separators in an answer stay escaped."""
        return joined(*self.to_parts())

    def to_parts(self) -> tuple[str, str]:
        """The JSON of all but the answer, and that of the answer, which may be long."""
        fields = dict(vars(self))
        del fields["answer"]
        return _encode(fields), _encode_short(self.answer)

    @classmethod
    def from_parts(cls, fields: str, answer: str) -> Record:
        """The record; a long answer stays packed until somebody asks for it."""
        kept = _packed(answer) if len(answer) > _LONG_TEXT else json.loads(answer)
        return cls._of({**json.loads(fields), "answer": kept})

    @classmethod
    def from_json(cls, line: str) -> Record:
        """The record in a line of the run log; ``ValueError`` for anything else."""
        data = json.loads(line)
        if len(line) > _LONG_TEXT and isinstance(data, dict) and "answer" in data:
            data["answer"] = _packed(_encode_short(data["answer"]))
        return cls._of(data)

    @classmethod
    def _of(cls, data: Any) -> Record:
        try:
            record = cls(**data)
        except TypeError as error:
            raise ValueError(f"not a record: {error}") from None
        if record.status not in STATUSES:
            raise ValueError(f"not a record: unknown status {record.status!r}")
        return record


def joined(fields: str, answer: str) -> str:
    """The line of the run log, of its parts."""
    return f'{fields[:-1]}, "answer": {answer}}}'


def jsonable(value: Any) -> Any:
    """``value`` as plain JSON. What JSON cannot hold is kept as text rather than lost."""
    return _Converter().convert(value, depth=0)


class _Converter:
    """Walks an answer, which may be any object at all, and stops before it becomes a danger."""

    deepest = 100
    most_values = 10_000_000

    def __init__(self) -> None:
        self._values = 0

    def convert(self, value: Any, depth: int) -> Any:
        self._values += 1
        if depth > self.deepest or self._values > self.most_values:
            return "<too deep or too large to be kept>"
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str(value)
        if isinstance(value, int):
            # Python refuses to print integers of thousands of digits in decimal.
            return int(value) if value.bit_length() < 10_000 else hex(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else str(float(value))
        if isinstance(value, Mapping):
            return {str(key): self.convert(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self.convert(item, depth + 1) for item in value]
        return self._foreign(value, depth)

    def _foreign(self, value: Any, depth: int) -> Any:
        """NumPy arrays and scalars, data frames, dates: asked by method, so nothing is imported."""
        try:
            for method in ("tolist", "to_list", "to_dict", "isoformat"):
                convert = getattr(value, method, None)
                if callable(convert) and not isinstance(value, type):
                    return self.convert(convert(), depth + 1)
            return repr(value)[:_LONGEST_REPR]
        except Exception as error:  # someone else's object may do anything
            return f"<{type(value).__name__} that raised {type(error).__name__}>"
