"""Errors that users and agents cause, and values as error messages show them."""

from __future__ import annotations

import itertools
import reprlib
import sys
import types
import urllib.parse
from typing import Any


class BenchmarkError(ValueError):
    """A mistake in what the user gave (a file, a key, a value); the message says which and where."""


def expect(holds: object, where: object, expected: str, got: object) -> None:
    """:class:`BenchmarkError` in the usual words, unless the condition holds."""
    if not holds:
        raise BenchmarkError(f"{where}: expected {expected}, got {shown(got)}")


class InvalidAnswer(ValueError):
    """An answer that cannot be scored: what was expected, and what came instead.

    ``described`` says in words what came, where the value itself would say too much or too little.
    """

    def __init__(self, expected: str, got: object = None, *, described: str | None = None) -> None:
        came = shown(got) if described is None else _cut(described)
        super().__init__(f"expected {expected}, got {came}")


LONGEST_SHOWN = 200
_MOST_PARTS = 2000  # of one value in a message; lists that hold each other have no end

_HARMLESS = {type(None), bool, complex, range, type(...), type(NotImplemented)}
# Of the standard library, found without importing it.
_KNOWN = {"datetime": ("date", "time", "datetime", "timedelta"), "decimal": ("Decimal",)}


def is_harmless(value: object) -> bool:
    """Whether the repr of a value is short and runs no code of an agent."""
    kind = type(value)
    if kind in _HARMLESS:
        return True
    module, name = kind.__module__, class_name(kind)
    if name in _KNOWN.get(module, ()):
        return getattr(sys.modules.get(module), name, None) is kind
    # NumPy's arrays and scalars, except of objects: the repr leaves out what is too much.
    dtype = getattr(value, "dtype", None) if module == "numpy" else None
    return getattr(dtype, "kind", "O") not in ("O", "V")


def class_name(kind: type) -> str:
    """The name of a class, whatever its metaclass says."""
    return str(type.__dict__["__name__"].__get__(kind))


class _Shown(reprlib.Repr):
    """A repr that stops when it is long enough: a value may be huge, or contain itself.

    It calls no method of a foreign class, which may do anything or never end.
    """

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 10
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 50
        self._parts = 0

    def repr1(self, x: Any, level: int) -> str:
        self._parts += 1
        return "..." if self._parts > _MOST_PARTS else self._of(x, level)

    def _of(self, value: Any, level: int) -> str:
        kind = type(value)
        if issubclass(kind, str):
            # One more than is shown: so it is seen that there are more.
            text = repr(str.__str__(value)[: LONGEST_SHOWN + 1])
            return text if str.__len__(value) <= LONGEST_SHOWN else text[:-1]
        if issubclass(kind, (bytes, bytearray)):
            return repr(value[: LONGEST_SHOWN + 1]) if kind in (bytes, bytearray) else named(value)
        if issubclass(kind, int) and kind is not bool:
            whole = int.__int__(value)
            # Python refuses to print integers of thousands of digits in decimal.
            return (
                repr(whole)
                if whole.bit_length() < LONGEST_SHOWN * 3
                else f"an integer of {whole.bit_length()} bits"
            )
        if issubclass(kind, float):
            return repr(float.__float__(value))
        if is_harmless(value):
            return repr(value)
        if issubclass(kind, dict):
            return self._pairs(value, level)
        for base, before, after in _CONTAINERS:
            if issubclass(kind, base):
                return self._items(base, value, level, before, after)
        return named(value)

    def _items(self, base: Any, value: Any, level: int, before: str, after: str) -> str:
        if not base.__len__(value):
            return f"{before}{after}" if base in (list, tuple) else f"{base.__name__}()"
        if level <= 0:
            return f"{before}...{after}"
        some = itertools.islice(base.__iter__(value), self.maxlist)
        texts = [self.repr1(item, level - 1) for item in some]
        if base.__len__(value) > self.maxlist:
            texts.append("...")
        comma = "," if base is tuple and len(texts) == 1 else ""
        return f"{before}{', '.join(texts)}{comma}{after}"

    def _pairs(self, value: dict[Any, Any], level: int) -> str:
        if level <= 0:
            return "{...}"
        pairs = [
            f"{self.repr1(key, level - 1)}: {self.repr1(item, level - 1)}"
            for key, item in itertools.islice(dict.items(value), self.maxdict)
        ]
        return f"{{{', '.join(pairs)}{', ...' if dict.__len__(value) > self.maxdict else ''}}}"


_CONTAINERS: tuple[tuple[Any, str, str], ...] = (
    (list, "[", "]"), (tuple, "(", ")"), (set, "{", "}"), (frozenset, "frozenset({", "})"),
)  # fmt: skip


def named(value: object) -> str:
    """An object by its class alone: its repr is code of somebody else's, which may never end.

    >>> named(len), named(ValueError), named(iter([]))
    ('<function len>', '<class ValueError>', '<a list_iterator>')
    """
    kind = type(value)
    if issubclass(kind, type):
        return f"<class {class_name(value)}>"  # type: ignore[arg-type]
    if kind in (types.FunctionType, types.BuiltinFunctionType):
        return f"<function {value.__name__}>"  # type: ignore[attr-defined]
    return f"<a {class_name(kind)}>"


def shown(value: object) -> str:
    """A value for an error message: short, quickly made, and never an exception.

    >>> shown({"stars": 6, "review": "Fine."})
    "{'stars': 6, 'review': 'Fine.'}"
    """
    if issubclass(type(value), str):  # how long it is tells more than its end
        text = str.__str__(value)
        whole = len(text)
        told = repr(text[:LONGEST_SHOWN])
        return told if whole <= LONGEST_SHOWN else f"{told[:-1]}... ({whole} characters)"
    try:
        text = _Shown().repr(value)
    except Exception as error:  # any object may come
        text = f"a {class_name(type(value))} that raised {type(error).__name__}"
    return _cut(text, count=False)


def _cut(text: str, count: bool = True) -> str:
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]}..." + (f" ({len(text)} characters)" if count else "")


LONGEST_TOLD = 20_000  # characters of an exception's text
_PRINTS_ARGS = (BaseException.__str__, KeyError.__str__)


def told(error: BaseException) -> str:
    """The text of an exception, cut in the middle where it is long; never an exception.

    What the exception was given is shown as in any message: its own repr may have no end.
    """
    try:
        if type(error).__str__ not in _PRINTS_ARGS:
            text = str(error)
            return shortened(str.__str__(text), LONGEST_TOLD)
        args = error.args
        if not args:
            return ""
        if len(args) > 1:
            return shown(args)
        (only,) = args
        is_text = issubclass(type(only), str) and type(error).__str__ is BaseException.__str__
        return shortened(str.__str__(only), LONGEST_TOLD) if is_text else shown(only)
    except (Exception, SystemExit, KeyboardInterrupt) as problem:
        return f"<its text could not be made: {class_name(type(problem))}>"


def shortened(text: str, longest: int) -> str:
    """A text without its middle, where it is longer.

    >>> shortened("x" * 90 + "the end", 20)
    'xxxxxxxxxx… (77 characters left out) …xxxthe end'
    """
    if len(text) <= longest:
        return text
    half = longest // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}… ({left_out} characters left out) …{text[-half:]}"


def without_secrets(url: str) -> str:
    """A URL for a message: without user, password and query, which may hold keys.

    >>> without_secrets("https://me:word@host:8000/answer?key=k")
    'https://host:8000/answer'
    """
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
