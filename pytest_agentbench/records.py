"""The record of one sample: all that a question to the agent leaves behind, as plain JSON."""

from __future__ import annotations

import itertools
import json
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Status = Literal["ok", "invalid", "error", "timeout"]
STATUSES: tuple[Status, ...] = get_args(Status)

_LONGEST_REPR = 10_000
_LONG_TEXT = 1000  # characters of JSON from which on an answer is worth packing
_encode = json.JSONEncoder(allow_nan=False).encode  # json.dumps would make an encoder each time
_encode_short = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().raw_decode  # of texts of ours, which have nothing around them


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

    @property
    def has_answer(self) -> bool:
        """Whether an answer was kept; it is not decoded for that."""
        return vars(self)["answer"] is not None

    def to_json(self) -> str:
        """One line of ASCII: lone surrogates and line separators in an answer stay escaped."""
        return joined(*self.to_parts())

    def changed(self, **fields: Any) -> Record:
        """This record with other values in some fields: an answer that is packed stays so."""
        record = object.__new__(Record)
        vars(record).update(vars(self), **fields)
        return record

    def to_parts(self) -> tuple[str, str]:
        """The JSON of all but the answer, and that of the answer, which may be long."""
        fields = dict(vars(self))
        del fields["answer"]
        return _encode(fields), _encode_short(self.answer)

    @classmethod
    def from_parts(cls, fields: str, answer: str) -> Record:
        """The record; a long answer stays packed until somebody asks for it."""
        if len(answer) <= _LONG_TEXT:
            return cls._of(_decode(joined(fields, answer))[0])
        return cls._of({**_decode(fields)[0], "answer": _packed(answer)})

    @classmethod
    def from_json(cls, line: str) -> Record:
        """The record in a line of the run log; ``ValueError`` for anything else."""
        try:
            data = json.loads(line)
        except RecursionError as error:
            raise ValueError(f"not a record: {error}") from None
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


def jsonable(value: Any, whole: bool = False) -> Any:
    """``value`` as plain JSON.

    What JSON cannot hold is kept rather than lost, as ``{"<type>": what could be kept}``: were it kept as a
    text or a list, it could be taken for an answer that nobody gave. Arrays and numbers of NumPy are
    lists and numbers. What is too deep or too large is cut, or with ``whole`` refused (``ValueError``).
    """
    converter = _Converter()
    converted = converter.convert(value, depth=0)
    if whole and converter.cut:
        raise ValueError(
            f"expected at most {converter.most_values} values and {converter.deepest} levels, got more"
        )
    return converted


class _Converter:
    """Walks an answer, which may be any object at all, and stops before it becomes a danger."""

    deepest = 100
    most_values = 1_000_000

    def __init__(self) -> None:
        self.cut = False
        self._values = 0

    def convert(self, value: Any, depth: int) -> Any:
        self._values += 1
        if depth > self.deepest or self._values > self.most_values:
            self.cut = True
            return _marked(value, "<too deep or too large to be kept>")
        try:
            return self._converted(value, depth)
        except (Exception, SystemExit) as error:  # someone else's object may do anything
            return _marked(value, f"<raised {type(error).__name__}>")

    def _converted(self, value: Any, depth: int) -> Any:
        if type(value) is float and math.isfinite(value):  # most of what is measured
            return value
        # The methods of the built-in classes: those of a class derived from one may do anything.
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return _text(str.__str__(value))
        if isinstance(value, int):
            # Python refuses to print integers of thousands of digits in decimal.
            whole = int.__int__(value)
            return whole if whole.bit_length() < 10_000 else _marked(value, hex(whole))
        if isinstance(value, float):
            number = float.__float__(value)
            return number if math.isfinite(number) else _marked(value, str(number))
        if isinstance(value, dict):
            return {_key(k): self.convert(v, depth + 1) for k, v in dict.items(value)}
        if isinstance(value, Mapping):
            return {_key(k): self.convert(v, depth + 1) for k, v in self._some(value.items())}
        if isinstance(value, list):
            size = _table_size(value) if type(value) is list else 0
            if size and self._values + size <= self.most_values:
                self._values += size
                return [row[:] for row in value]  # it is plain, and a trajectory has many rows
            return [self.convert(item, depth + 1) for item in list.__iter__(value)]
        if isinstance(value, tuple):
            return [self.convert(item, depth + 1) for item in tuple.__iter__(value)]
        if isinstance(value, (set, frozenset)):
            return _marked(value, [self.convert(item, depth + 1) for item in self._some(value)])
        return self._foreign(value, depth)

    def _some(self, values: Iterable[Any]) -> Iterable[Any]:
        return itertools.islice(values, max(0, self.most_values - self._values))

    def _foreign(self, value: Any, depth: int) -> Any:
        """NumPy arrays and scalars, data frames, dates: asked by method, so nothing is imported."""
        if is_array(value):
            return self.convert(value.tolist(), depth + 1)
        if not isinstance(value, type):
            for method in ("to_list", "to_dict", "isoformat"):
                convert = getattr(value, method, None)
                if callable(convert):
                    return _marked(value, self.convert(convert(), depth + 1))
        return _marked(value, repr(value)[:_LONGEST_REPR])


def _table_size(rows: list[Any]) -> int:
    """How many values a list of lists of ordinary whole numbers has; 0 for any other list."""
    if set(map(type, rows)) != {list}:
        return 0
    flat = list(itertools.chain.from_iterable(rows))
    if set(map(type, flat)) != {int} or not -(2**63) <= min(flat) <= max(flat) < 2**63:
        return 0
    return len(rows) + len(flat)


def is_array(value: Any) -> bool:
    """Whether a value is an array, a scalar or a tensor of some library, whose ``tolist`` says the same.

    NumPy's times become numbers by it, and the bytes that a memoryview is of.
    """
    return (
        not isinstance(value, (type, memoryview))
        and callable(getattr(value, "tolist", None))
        and getattr(getattr(value, "dtype", None), "kind", None) not in ("m", "M")
    )


def _text(text: str) -> str:
    """The text as JSON gives it back: two surrogates that belong together are one character there."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _key(key: Any) -> str:
    if isinstance(key, str):
        return _text(str.__str__(key))
    if isinstance(key, int) and not isinstance(key, bool) and key.bit_length() >= 10_000:
        return hex(key)
    return repr(key)[:_LONGEST_REPR]


def _marked(value: Any, kept: Any) -> dict[str, Any]:
    return {f"<{type(value).__name__}>": kept}
