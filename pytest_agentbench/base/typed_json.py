"""JSON read as the types that dataclasses declare; what does not fit is said by its key.

:func:`parsed` gives plain values, :func:`typed` a dataclass of them, :func:`explained` the words for a
message. msgspec checks; it does not read the text where that has lone surrogates, which agents do say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from pytest_agentbench.base import bounded_json
from pytest_agentbench.base.errors import shown
from pytest_agentbench.base.plain import keys_shown

# Whole numbers beyond this are no counts, and a float cannot hold each of them.
_LARGEST = 2**53
Number = float | Annotated[int, msgspec.Meta(ge=-_LARGEST, le=_LARGEST)]
Count = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST)]
FromOne = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST)]

_WORDS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "object": "an object", "array": "a list", "null": "null",
}  # fmt: skip
_KINDS = {str: "str", int: "int", float: "float", bool: "bool", dict: "object", list: "array"}
_AT = re.compile(r"(.*?)(?: - at `(key` in `)?\$([^`]*)`)?", re.DOTALL)
_GOT = re.compile(r"Expected `([^`]*)`, got `([^`]*)`")
_BOUND = re.compile(r"Expected `(int|float)` ([<>]=) (-?\d+)")
_MISSING = re.compile(r"Object missing required field `([^`]*)`")


def parsed(text: str | bytes) -> Any:
    """The values of a JSON text; ``ValueError`` for NaN, numbers beyond floats, and too many levels."""
    return bounded_json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _no_number(word: str) -> float:
    raise ValueError(f"{word}, which is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:30]}, which is too large")
    return number


def typed(kind: Any, data: Any) -> Any:
    """Plain values as a dataclass or another type; ``ValueError`` says which key has what instead of what."""
    try:
        return msgspec.convert(data, kind)
    except ValueError as error:
        raise ValueError(explained(error, data)) from None


def explained(error: ValueError, data: Any) -> str:
    """An error of msgspec's in our words, with the full path of the key and its value.

    >>> error = ValueError("Expected `int`, got `str` - at `$.samples[...]`")
    >>> explained(error, {"samples": {"total": 3, "ok": "x"}})
    "`samples.ok`: expected a whole number, got 'x'"
    """
    if isinstance(error, UnicodeEncodeError):
        return "half of a surrogate pair in a text"
    match = _AT.fullmatch(str(error))
    assert match is not None  # it matches any text
    said, of_key, path = match.groups()
    where, value = _place(path or "", data, said)
    if got := _GOT.fullmatch(said):
        if of_key:
            return f"a key of {where}: expected {_worded(got[1])}, got {_worded(got[2])}"
        return f"{where}: expected {_worded(got[1])}, got {shown(value)}"
    if bound := _BOUND.fullmatch(said):
        side = "from" if bound[2] == ">=" else "up to"
        return f"{where}: expected {_WORDS[bound[1]]} {side} {bound[3]}, got {shown(value)}"
    if missing := _MISSING.fullmatch(said):
        keys = keys_shown(value) if isinstance(value, dict) else shown(value)
        return f"{where}: expected the key `{missing[1]}`, got {keys}"
    return f"{where}: {said[:1].lower()}{said[1:]}"


def _worded(kinds: str) -> str:
    names = kinds.split(" | ")
    if "float" in names and "int" in names:
        names.remove("int")
    words = [_WORDS.get(name, name) for name in names]
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _place(pattern: str, data: Any, said: str) -> tuple[str, Any]:
    """The first key that an error of msgspec's means, and its value. It names keys of mappings ``...``."""
    steps = [name or at for name, at in re.findall(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]", pattern)]
    for path, value in _matching(steps, data, ""):
        if "..." not in steps or _is_meant(value, said):
            return (f"`{path}`" if path else "the JSON"), value
    return f"`{pattern.lstrip('.').replace('...', '*')}`", None


def _is_meant(value: Any, said: str) -> bool:
    """Whether an error can be about this value."""
    if got := _GOT.fullmatch(said):
        return _kind(value) == got[2]
    if bound := _BOUND.fullmatch(said):
        least = bound[2] == ">="
        return type(value) is int and (value < int(bound[3]) if least else value > int(bound[3]))
    if missing := _MISSING.fullmatch(said):
        return type(value) is dict and missing[1] not in value
    return False


def _matching(steps: list[str], data: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not steps:
        yield path, data
        return
    step, *rest = steps
    if type(data) is list and step.isdigit() and int(step) < len(data):
        yield from _matching(rest, data[int(step)], f"{path}[{step}]")
    elif type(data) is dict:
        for key in data if step == "..." else [step]:
            if key in data:
                name = key if len(key) <= 80 else f"{key[:80]}…"
                yield from _matching(rest, data[key], f"{path}.{name}".lstrip("."))


def _kind(value: Any) -> str:
    return "null" if value is None else _KINDS.get(type(value), "")
