"""Whatever an agent answers, as lists, texts and numbers.

:func:`unpacked` and :func:`items` take apart what a benchmark checks, and refuse what they cannot.
:func:`jsonable` keeps any value at all as JSON, for the record.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_agentbench.base.errors import (
    LONGEST_SHOWN,
    InvalidAnswer,
    class_name,
    is_harmless,
    named,
    shown,
    told,
)

_PLAIN = {str, int, float, bool, list, dict, type(None)}


def unpacked(value: Any) -> Any:
    """Arrays, scalars and tensors as plain lists and numbers, enumerations as their values."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        return str.__str__(value)  # a subclass may print itself as something else
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if is_array(value):
        try:
            made = value.tolist()
        except Exception as error:  # someone else's object may do anything
            came = f"{type(value).__name__} ({told(error)})"
            raise InvalidAnswer("lists, texts and numbers", described=came) from None
        # What it gives may be somebody's own class as well, but not an array again.
        return made if is_array(made) else unpacked(made)
    return value


def items(value: Any) -> list[Any] | None:
    """The values of a list, tuple or array, each unpacked; None for anything else."""
    values = unpacked(value)
    if isinstance(values, (list, tuple)):
        # By the methods of the built-in classes: the iterator of a subclass may never end.
        kind: Any = list if isinstance(values, list) else tuple
        return [unpacked(item) for item in kind.__iter__(values)]
    return None


def exactly(length: int, value: Any, expected: str) -> list[Any]:
    """:func:`items` of a value that has so many, or :class:`InvalidAnswer`."""
    values = items(value)
    if values is None or len(values) != length:
        came = None if values is None else f"{len(values)} values"
        raise InvalidAnswer(expected, value, described=came)
    return values


def keys_shown(mapping: Mapping[Any, Any]) -> str:
    """The keys of a mapping for a message, shortened."""
    names = [k if isinstance(k, str) else shown(k) for k in itertools.islice(mapping, 50)]
    text = ", ".join(names) or "nothing"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether a value is a finite number that a float can hold; 10**400 is not."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def is_id(value: Any) -> bool:
    """Whether a value names something: a whole number, or a text that is not empty."""
    return isinstance(value, (int, str)) and not isinstance(value, bool) and value != ""


# Metres, places or trips: squares of larger ones, summed over people, may overflow.
LARGEST = 1e12


def is_amount(value: Any) -> bool:
    """Whether a value is a number from 0 to :data:`LARGEST`."""
    return is_finite(value) and 0 <= value <= LARGEST


def limit_words(value: Any) -> str:
    """What a message adds where a number is refused because it is too large."""
    return f" and at most {LARGEST:g}" if is_finite(value) and value > LARGEST else ""


_LONGEST_REPR = 10_000
_KEPT_OF_TOO_MANY = 10_000  # values
_SHORT_NUMBER = 2**63
_TOO_MUCH = "<too deep or too large to be kept>"


def jsonable(value: Any, whole: bool = False) -> Any:
    """``value`` as plain JSON: lists, dicts, texts and numbers of the built-in classes alone.

    What JSON cannot hold is kept as ``{"<type>": what could be kept}``: kept as a text or a list, it
    could be taken for an answer that nobody gave. NumPy's arrays and numbers become lists and numbers.
    What is too deep or too large is cut or, with ``whole``, refused (``ValueError``).
    """
    if _is_plain(value):
        return value
    converter = _Converter()
    converted = converter.convert(value, depth=0)
    if whole and converter.cut:
        raise ValueError(
            f"expected at most {converter.most_values} values and {converter.deepest} levels, got more"
        )
    return converted


def _is_plain(value: Any) -> bool:
    """Whether a value stays what it is: a short number or text, of which most samples have several."""
    if type(value) is int:
        return -_SHORT_NUMBER < value < _SHORT_NUMBER
    return value is None or type(value) is bool or (type(value) is str and value.isascii())


def plain_answer(value: Any) -> Any:
    """:func:`jsonable`, but NaN and infinities stay numbers, for a benchmark to refuse.

    Of an answer that is too large only its beginning is kept: the whole would take seconds everywhere.
    """
    if _is_plain(value):
        return value
    converter = _Converter(finite=False)
    made = converter.convert(value, depth=0)
    if not converter.cut:
        return made
    beginning = _Converter(finite=False)
    beginning.most_values = min(_KEPT_OF_TOO_MANY, converter.most_values)
    return beginning.convert(made, depth=0)


@dataclass
class _Seen:
    """A list or dict that was met before: few of them, each within the other twice, are millions."""

    original: Any  # so that its id stays its own
    converted: Any = None
    values: int = 0
    levels: int = -1  # -1 while it is open: whoever meets it then is inside of it


class _Converter:
    """Walks through any object at all, and stops before it becomes too deep or too large."""

    deepest = 100
    most_values = 1_000_000

    def __init__(self, finite: bool = True) -> None:
        self.cut = False
        self._finite = finite
        self._values = 0
        self._lowest = 0  # the deepest level reached so far
        self._seen: dict[int, _Seen] = {}

    def convert(self, value: Any, depth: int) -> Any:
        self._values += 1
        self._lowest = max(self._lowest, depth)
        if depth > self.deepest or self._values > self.most_values:
            return self._too_much(value)
        try:
            return self._converted(value, depth)
        except (Exception, SystemExit) as error:  # someone else's object may do anything
            return _marked(value, f"<raised {type(error).__name__}>")

    def _too_much(self, value: Any) -> Any:
        self.cut = True
        return _marked(value, _TOO_MUCH)

    def _converted(self, value: Any, depth: int) -> Any:
        if type(value) is float and math.isfinite(value):  # most measured values
            return value
        # Methods of the built-in classes only: those of a subclass may do anything.
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
            kept = not self._finite or math.isfinite(number)
            return number if kept else _marked(value, str(number))
        if isinstance(value, (dict, list, tuple)):
            return self._container(value, depth)
        if isinstance(value, Mapping):
            return {_key(k): self.convert(v, depth + 1) for k, v in self._some(value.items())}
        if isinstance(value, (set, frozenset)):
            kind: Any = set if isinstance(value, set) else frozenset
            items = self._some(kind.__iter__(value))
            return _marked(value, [self.convert(item, depth + 1) for item in items])
        return self._foreign(value, depth)

    def _container(self, value: Any, depth: int) -> Any:
        if type(value) is list:
            size = table_size(value)
            if size and self._values + size <= self.most_values:
                self._values += size
                return [row[:] for row in value]  # plain already: trajectories are long
        seen = self._seen.get(id(value))
        if seen is not None:
            fits = seen.levels >= 0 and depth + seen.levels <= self.deepest
            if not fits or self._values + seen.values > self.most_values:
                return self._too_much(value)
            self._values += seen.values
            self._lowest = max(self._lowest, depth + seen.levels)
            return seen.converted
        self._seen[id(value)] = seen = _Seen(value)
        before, outside, self._lowest = self._values, self._lowest, depth
        if isinstance(value, dict):
            pairs = dict.items(value)
            seen.converted = {_key(k): self.convert(v, depth + 1) for k, v in pairs}
        else:
            items = list.__iter__(value) if isinstance(value, list) else tuple.__iter__(value)
            seen.converted = [self.convert(item, depth + 1) for item in items]
        seen.values, seen.levels = self._values - before, self._lowest - depth
        self._lowest = max(outside, self._lowest)
        return seen.converted

    def _some(self, values: Iterable[Any]) -> Iterable[Any]:
        return itertools.islice(values, max(0, self.most_values - self._values))

    def _foreign(self, value: Any, depth: int) -> Any:
        """NumPy arrays and scalars, data frames, dates: found by their methods, without imports."""
        if is_array(value):
            return self.convert(value.tolist(), depth + 1)
        if not isinstance(value, type):
            for method in ("to_list", "to_dict", "isoformat"):
                convert = getattr(value, method, None)
                if callable(convert):
                    return _marked(value, self.convert(convert(), depth + 1))
        if is_harmless(value):
            return _marked(value, repr(value)[:_LONGEST_REPR])
        if isinstance(value, (bytes, bytearray)):
            return _marked(value, repr(bytes(value[:_LONGEST_REPR]))[:_LONGEST_REPR])
        # Not its repr: it follows whatever the object holds, and may never end.
        held = _held(value)
        return _marked(value, self.convert(held, depth + 1) if held else named(value))


def _held(value: Any) -> Any:
    """What an object of somebody's own class holds: the arguments of an exception, or its attributes."""
    if isinstance(value, BaseException):
        return value.args
    return None if isinstance(value, type) or callable(value) else getattr(value, "__dict__", None)


def table_size(rows: list[Any]) -> int:
    """How many values a list of lists of ordinary whole numbers has; 0 for any other list."""
    if set(map(type, rows)) != {list}:
        return 0
    flat = list(itertools.chain.from_iterable(rows))
    if set(map(type, flat)) != {int} or not -(2**63) <= min(flat) <= max(flat) < 2**63:
        return 0
    return len(rows) + len(flat)


def is_array(value: Any) -> bool:
    """Whether a value is an array, scalar or tensor of any library, whose ``tolist`` gives its values.

    Not so NumPy's times and memoryviews, whose ``tolist`` gives bare numbers.
    """
    return (
        not isinstance(value, (type, memoryview))
        and callable(getattr(value, "tolist", None))
        and getattr(getattr(value, "dtype", None), "kind", None) not in ("m", "M")
    )


def _text(text: str) -> str:
    """The text as it comes back from JSON, where a pair of surrogates is one character."""
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
    if isinstance(key, int) and not isinstance(key, bool):
        whole = int.__int__(key)
        return str(whole) if whole.bit_length() < 10_000 else hex(whole)
    if isinstance(key, float):
        return repr(float.__float__(key))
    return shown(key)


def _marked(value: Any, kept: Any) -> dict[str, Any]:
    return {f"<{class_name(type(value))}>": kept}
