"""What passes between us and an agent in another process: plain JSON, and calls of the tools.

A *tool* is an object in the context that an agent may ask questions: anything with an attribute
``agentbench_methods``, the names of the methods that agents may call. A tool is the value of a key of a
dict, however deep, and has the dotted name of its keys there (``uir``, ``map.city``). It stays in our
process; its methods are called by message. A tool that is a dict as well also travels as that dict.
"""

from __future__ import annotations

import json
import marshal
import struct
from collections.abc import Callable, Mapping
from itertools import chain
from operator import countOf
from typing import Any

LARGEST = 1 << 28  # bytes in one message; no context or answer comes near
_HEAD = struct.Struct(">I")
_MARSHALLED = b"\0"  # no JSON begins with it
_SCALARS = {type(None), bool, int, float, str}
_PLAIN = {*_SCALARS, list, dict}
_DEEPEST = 20
LLM = "agentbench.llm"  # the name of the model among the tools; it belongs to no context


class Garbled(Exception):
    """Bytes that cannot be a message."""


def encoded(message: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """One line of ASCII; lone surrogates and line separators stay escaped."""
    # Looking for cycles takes a third of the time. Without it a cycle is a RecursionError.
    text = json.dumps(
        message, default=default or plain, separators=(",", ":"), check_circular=False
    )
    return text.encode("ascii")


def packed(message: Any) -> bytes:
    """A message to a child, for :func:`unpacked`: with marshal if it is plain, else as JSON.

    With marshal a call with thousands of rows takes two thirds of the time.

    ``marshal`` is for plain values between interpreters of one version, and never for what a child
    sends: reading it is safe only from a side that is trusted.
    """
    if _is_plain(message):
        return _MARSHALLED + marshal.dumps(message)
    return encoded(message)


def unpacked(payload: bytes) -> Any:
    """What :func:`packed` was given."""
    if payload.startswith(_MARSHALLED):
        return marshal.loads(memoryview(payload)[1:])  # noqa: S302 -- from our parent
    return decoded(payload)


def _is_plain(message: Any) -> bool:
    """Whether JSON would give exactly this back. Level by level, so that long tables take little time.

    Marshal cannot tell by itself: it writes the values of NumPy as raw bytes.
    """
    level = [message]
    for _ in range(_DEEPEST):
        # Most levels are of one kind, and counting is several times faster than collecting.
        one = bool(level) and countOf(map(type, level), type(level[0])) == len(level)
        kinds = {type(level[0])} if one else set(map(type, level))
        if kinds <= _SCALARS:
            return True
        if not kinds <= _PLAIN:
            return False
        dicts = [value for value in level if type(value) is dict] if dict in kinds else []
        lists = level if kinds == {list} else [value for value in level if type(value) is list]
        if not all(set(map(type, value)) <= {str} for value in dicts):
            return False
        level = list(chain.from_iterable(lists))
        level += chain.from_iterable(value.values() for value in dicts)
    return False


def framed(payload: bytes) -> bytes:
    """A payload behind its length."""
    if len(payload) > LARGEST:
        raise ValueError(f"expected at most {LARGEST} bytes in a message, got {len(payload)}")
    return _HEAD.pack(len(payload)) + payload


def take_frame(buffer: bytearray) -> bytes | None:
    """The first whole payload in the buffer, taken out of it; None while it is not complete."""
    if len(buffer) < _HEAD.size:
        return None
    (length,) = _HEAD.unpack_from(buffer)
    if length > LARGEST:
        raise Garbled(f"expected at most {LARGEST} bytes in a message, got {length}")
    end = _HEAD.size + length
    if len(buffer) < end:
        return None
    payload = bytes(memoryview(buffer)[_HEAD.size : end])
    del buffer[:end]
    return payload


def decoded(payload: bytes) -> Any:
    """The message in a payload; :class:`Garbled` for anything else, however strange."""
    try:
        return json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise Garbled(f"expected JSON, got {shown(payload)} ({error})") from None


def shown(data: bytes, longest: int = 200) -> str:
    """Bytes for an error message, cut."""
    text = repr(data[:longest].decode("utf-8", "backslashreplace"))
    return text if len(data) <= longest else f"{text}... ({len(data)} bytes)"


def plain(value: Any) -> Any:
    """NumPy's values and dates as JSON; found by method, so that nothing is imported."""
    for method in ("tolist", "isoformat"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    raise TypeError(
        f"expected JSON or, as the value of a dict's key, a tool with agentbench_methods; "
        f"got {type(value).__module__}.{type(value).__qualname__}"
    )


class Tools:
    """The tools of one context, each by its dotted name, and the keys that lead to it."""

    def __init__(self) -> None:
        self._tools: dict[str, Any] = {}
        self._places: dict[str, tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._tools)

    def described(self) -> list[dict[str, Any]]:
        """For the other side: where each tool belongs and what it offers."""
        return [
            {"name": name, "at": list(self._places[name]), "methods": _methods(tool)}
            for name, tool in self._tools.items()
        ]

    def add(self, place: tuple[str, ...], tool: Any) -> None:
        name = ".".join(place)
        if name in self._tools:
            raise ValueError(f"expected one tool called {name!r} in a context, got two")
        self._tools[name] = tool
        self._places[name] = place

    def answer(self, call: Mapping[str, Any]) -> bytes:
        """The result of a call, encoded: ``{"result": …}`` or ``{"error": {"type": …, "args": …}}``.

        The call may be anything that an agent made up. Only methods that the tool lists are called.
        """
        number = {"id": call["id"]} if "id" in call else {}
        try:
            result = self._method(call)(*call.get("args") or (), **call.get("kwargs") or {})
            return encoded({"result": result, **number})
        except Exception as error:
            kind = next(k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins")
            told: dict[str, Any] = {"type": kind, "args": [str(arg) for arg in error.args]}
            for name in ("status", "transient"):
                if isinstance(value := getattr(error, name, None), int):
                    told[name] = value
            return encoded({"error": told, **number})

    def _method(self, call: Mapping[str, Any]) -> Callable[..., Any]:
        name, _, method = str(call.get("call")).rpartition(".")
        if name not in self._tools or method not in _methods(self._tools[name]):
            offered = [f"{name}.{m}" for name, tool in self._tools.items() for m in _methods(tool)]
            raise AttributeError(
                f"expected a call of {', '.join(offered) or 'nothing: this context has no tools'}; "
                f"got {call.get('call')!r}"
            )
        function: Callable[..., Any] = getattr(self._tools[name], method)
        return function


def split(context: Any) -> tuple[Any, Tools]:
    """The context without its tools (None, or their data, in their place), and the tools.

    Lists are not searched: histories of thousands of rows would cost more than the call itself.
    """
    tools = Tools()
    return _without_tools(context, (), tools), tools


def _without_tools(value: Any, place: tuple[str, ...], tools: Tools) -> Any:
    if not isinstance(value, Mapping):
        return value
    found = {}
    for key, item in value.items():
        if type(item) in (str, list, int, float):
            found[key] = item
            continue
        here = (*place, str(key))
        if not isinstance(item, type) and hasattr(item, "agentbench_methods"):
            tools.add(here, item)
            found[key] = dict(item) if isinstance(item, Mapping) else None
        else:
            found[key] = _without_tools(item, here, tools)
    return found


def _methods(tool: Any) -> list[str]:
    return [str(name) for name in tool.agentbench_methods]
