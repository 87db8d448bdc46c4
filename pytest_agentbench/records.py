"""The record of one sample: all that a question to the agent leaves behind, as plain JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Status = Literal["ok", "invalid", "error", "timeout"]
STATUSES: tuple[Status, ...] = get_args(Status)

_LONGEST_REPR = 10_000
_encode = json.JSONEncoder(allow_nan=False).encode  # json.dumps would make an encoder each time


@dataclass(frozen=True)
class Record:
    """What became of one sample in one epoch."""

    benchmark: str
    sample: str  # "uid[80012]"
    status: Status
    epoch: int = 1
    answer: Any = None  # also an invalid one: nothing that an agent said is lost
    error: str | None = None
    seconds: float = 0.0
    usage: Mapping[str, float] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)  # stdout, stderr, log, messages

    def to_json(self) -> str:
        """One line of ASCII: lone surrogates and line separators in an answer stay escaped."""
        return _encode(vars(self))

    @classmethod
    def from_json(cls, line: str) -> Record:
        """The record in a line of the run log; ``ValueError`` for anything else."""
        data = json.loads(line)
        try:
            record = cls(**data)
        except TypeError as error:
            raise ValueError(f"not a record: {error}") from None
        if record.status not in STATUSES:
            raise ValueError(f"not a record: unknown status {record.status!r}")
        return record


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
