"""The record of one sample: all that is kept of a question and its answer, as plain JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import msgspec

from pytest_agentbench.base import typed_json
from pytest_agentbench.base.bounded_json import check_depth
from pytest_agentbench.base.plain import jsonable
from pytest_agentbench.base.typed_json import FromOne, Number
from pytest_agentbench.runs.logged import Logged

Status = Literal["ok", "invalid", "error", "timeout"]
Metrics = Mapping[str, Mapping[str, Number]]  # {reading: {metric: value}}
STATUSES: tuple[Status, ...] = get_args(Status)

_LONG_LINE = 500  # characters; of a longer line, the answer stays in the log
_encode = json.JSONEncoder(allow_nan=False).encode  # json.dumps would make an encoder each time
_encode_short = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().raw_decode  # no search for spaces around our own texts
_NOTHING: Mapping[str, Any] = {}  # in the place of as many empty ones as there are records


class AnswerText(str):
    """An answer as compact ASCII JSON: decoded when it is read."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Fields:
    """What a record keeps in memory: ``answer`` may be the place in the log where it is."""

    benchmark: str
    sample: str  # "uid[80012]"
    status: Status
    epoch: FromOne = 1
    answer: Any = None  # also an invalid one: nothing an agent said is lost
    error: str | None = None
    seconds: Number = 0.0
    usage: Mapping[str, Number] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)  # stdout, stderr, log, messages


_SLOTS: dict[str, Any] = {one.name: _Fields.__dict__[one.name] for one in fields(_Fields)}
_kept = _SLOTS["answer"]  # behind the property of the same name
_MOVES = tuple((name, slot.__get__, slot.__set__) for name, slot in _SLOTS.items())
_SHORT = tuple(name for name in _SLOTS if name != "answer")


class Record(_Fields):
    """What became of one sample in one epoch."""

    __slots__ = ("_basis",)

    @property
    def answer(self) -> Any:
        """What the agent said: from memory, or from the log if it is long."""
        kept = _kept.__get__(self)
        if type(kept) is Logged:
            return kept.answer(self.sample, self.epoch)
        return json.loads(kept) if type(kept) is AnswerText else kept

    @answer.setter
    def answer(self, value: Any) -> None:  # while it is made: it is frozen
        _kept.__set__(self, value)

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer, without reading it."""
        return _kept.__get__(self) is not None

    @property
    def basis(self) -> bytes:
        """What the benchmark made the metrics of, for its tables and plots.

        No field: it is not logged, and what a log says of it is not believed.
        """
        found: bytes = getattr(self, "_basis", b"")
        return found

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
        """This record with other values in some fields; an answer that is in the log stays there."""
        record = object.__new__(Record)
        for name, kept, keep in _MOVES:
            keep(record, fields[name] if name in fields else kept(self))
        object.__setattr__(record, "_basis", fields.get("basis", self.basis))
        return record

    def to_parts(self) -> tuple[str, str]:
        """The JSON of all fields but the answer, and that of the answer, which may be long."""
        kept = _kept.__get__(self)
        text = str(kept) if type(kept) is AnswerText else _encode_short(self.answer)
        return _encode({name: getattr(self, name) for name in _SHORT}), text

    @classmethod
    def from_parts(cls, fields: str, answer: str, place: Logged | None = None) -> Record:
        """The record; a long answer stays at its place in the log, if it has one."""
        record = cls._read(fields)
        is_long = answer != "null" and _stays_in_log(len(fields) + len(answer), place)
        _kept.__set__(record, place if is_long else _decode(answer)[0])
        return record

    @property
    def is_plain(self) -> bool:
        """Whether it is the same as what is read back from its JSON: one of a valid answer, without texts of an agent's."""
        kept_as_text = type(_kept.__get__(self)) is AnswerText
        return self.status == "ok" and not (self.error or self.evidence or kept_as_text)

    def stay(self, length: int, place: Logged | None) -> None:
        """Takes the place of what would be read back from a line of this length: a long answer stays in the log."""
        if _stays_in_log(length, place) and self.has_answer:
            _kept.__set__(self, place)
        self._share()

    @classmethod
    def from_json(cls, line: str | bytes, place: Logged | None = None) -> Record:
        """The record in a line of the run log; ``ValueError`` for anything else.

        Keys of a later version are passed over. A long answer stays at the line's place in the log, if it has one.
        """
        record = cls._read(line)
        if _stays_in_log(len(line), place) and record.has_answer:
            _kept.__set__(record, place)
        return record

    @classmethod
    def _read(cls, line: str | bytes) -> Record:
        try:
            record = _decode_line(line)
            check_depth(_kept.__get__(record))
            check_depth(record.evidence)
        except (ValueError, RecursionError):
            # Half a pair of surrogates, which msgspec does not read, or something to be explained.
            record = typed_json.typed(cls, typed_json.parsed(line))
        record._share()
        return record

    def _share(self) -> None:
        """Uses one object for what is the same in many records."""
        _SLOTS["benchmark"].__set__(self, sys.intern(self.benchmark))
        _SLOTS["status"].__set__(self, sys.intern(self.status))
        for name in ("usage", "evidence"):
            if not getattr(self, name):
                _SLOTS[name].__set__(self, _NOTHING)


def _stays_in_log(length: int, place: Logged | None) -> bool:
    return place is not None and length > _LONG_LINE


_decode_line = msgspec.json.Decoder(Record).decode


def as_metrics(found: Any) -> Metrics:
    """What a benchmark has measured, as finite numbers by reading and metric: nothing else can be read back.

    ``ValueError`` for anything else.
    """
    if type(found) is dict and all(map(_is_measured, found.items())):  # the usual case
        return {reading: dict(values) for reading, values in found.items()}
    metrics: Metrics = typed_json.typed(Metrics, jsonable(found))
    return metrics


def _is_measured(one: tuple[Any, Any]) -> bool:
    reading, values = one
    return (
        _is_name(reading)
        and type(values) is dict
        and all(map(_is_name, values))
        and all(type(value) is float and math.isfinite(value) for value in values.values())
    )


def _is_name(key: Any) -> bool:
    return type(key) is str and key.isascii()


def joined(fields: str, answer: str) -> str:
    """The line of the run log, made of its two parts."""
    return f'{fields[:-1]}, "answer": {answer}}}'
