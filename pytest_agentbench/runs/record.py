"""The record of one sample: all that is kept of a question and its answer, as plain JSON."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import msgspec

from pytest_agentbench.base import typed_json
from pytest_agentbench.base.bounded_json import check_depth
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.typed_json import FromOne, Number

Status = Literal["ok", "invalid", "error", "timeout"]
Metrics = Mapping[str, Mapping[str, Number]]  # {reading: {metric: value}}
STATUSES: tuple[Status, ...] = get_args(Status)

_LONG_TEXT = 1000  # characters of JSON; a longer answer is compressed
_encode = json.JSONEncoder(allow_nan=False).encode  # json.dumps would make an encoder each time
_encode_short = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().raw_decode  # no search for spaces around our own texts


class AnswerText(str):
    """An answer as compact ASCII JSON: decoded when it is read."""

    __slots__ = ()


class _Packed(bytes):
    """The JSON of a long answer, compressed: a large run holds all its records in memory."""


def _packed(text: str) -> _Packed:
    return _Packed(zlib.compress(text.encode("ascii"), 1))


class _Answer:
    """The field ``answer``: one that is kept as JSON is decoded when it is read."""

    def __get__(self, record: Record | None, owner: type[Record]) -> Any:
        if record is None:
            return None  # the default
        try:
            value = record.__dict__["answer"]
        except KeyError:
            # msgspec asks whether it is set yet; from 3.14 on, Python prints any other error.
            raise AttributeError("answer") from None
        if not isinstance(value, (_Packed, AnswerText)):
            return value
        try:
            return json.loads(zlib.decompress(value) if isinstance(value, _Packed) else value)
        except RecursionError:  # the stack is deeper here than where the line was read
            raise BenchmarkError(
                f"{record.sample}: its answer has too many levels of lists"
            ) from None

    def __set__(self, record: Record, value: Any) -> None:
        record.__dict__["answer"] = value


@dataclass(frozen=True)
class Record:
    """What became of one sample in one epoch."""

    benchmark: str
    sample: str  # "uid[80012]"
    status: Status
    epoch: FromOne = 1
    answer: Any = _Answer()  # also an invalid one: nothing an agent said is lost
    error: str | None = None
    seconds: Number = 0.0
    usage: Mapping[str, Number] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)  # stdout, stderr, log, messages
    # What the benchmark made the metrics of, for its tables and plots. No field: it is not logged, and what a
    # log says of it is not believed.
    basis: ClassVar[bytes] = b""

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer, without decoding it."""
        return vars(self)["answer"] is not None

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What was said to the model and by it."""
        return [one for one in self._listed("messages") if isinstance(one, dict)]

    @property
    def missing(self) -> list[str]:
        """What the agent asked its framework for and did not get."""
        return [one for one in self._listed("missing") if isinstance(one, str)]

    def _listed(self, kind: str) -> list[Any]:
        found = self.evidence.get(kind)
        return found if isinstance(found, list) else []

    def to_json(self) -> str:
        """One line of ASCII: lone surrogates and line separators in an answer stay escaped."""
        return joined(*self.to_parts())

    def changed(self, **fields: Any) -> Record:
        """This record with other values in some fields; a compressed answer stays compressed."""
        record = object.__new__(Record)
        vars(record).update(vars(self), **fields)
        return record

    def to_parts(self) -> tuple[str, str]:
        """The JSON of all fields but the answer, and that of the answer, which may be long."""
        fields = dict(vars(self))
        answer = fields.pop("answer")
        fields.pop("basis", None)
        text = str(answer) if isinstance(answer, AnswerText) else _encode_short(self.answer)
        return _encode(fields), text

    @classmethod
    def from_parts(cls, fields: str, answer: str) -> Record:
        """The record; a long answer stays compressed until it is read."""
        if len(answer) <= _LONG_TEXT:
            return cls._of(_decode(joined(fields, answer))[0])
        return cls._of({**_decode(fields)[0], "answer": _packed(answer)})

    @classmethod
    def from_json(cls, line: str | bytes) -> Record:
        """The record in a line of the run log; ``ValueError`` for anything else.

        Keys of a later version are passed over.
        """
        try:
            record = _decode_line(line)
            check_depth(record.answer)
            check_depth(record.evidence)
        except (ValueError, RecursionError):
            # Half a pair of surrogates, which msgspec does not read, or something to be explained.
            record = typed_json.typed(cls, typed_json.parsed(line))
        if len(line) > _LONG_TEXT and record.has_answer:
            return record.changed(answer=_packed(_encode_short(record.answer)))
        return record

    @classmethod
    def _of(cls, data: Any) -> Record:
        try:
            record = cls(**data)
        except TypeError as error:
            raise ValueError(f"not a record: {error}") from None
        if record.status not in STATUSES:
            raise ValueError(f"not a record: unknown status {record.status!r}")
        return record


_decode_line = msgspec.json.Decoder(Record).decode


def joined(fields: str, answer: str) -> str:
    """The line of the run log, made of its two parts."""
    return f'{fields[:-1]}, "answer": {answer}}}'
