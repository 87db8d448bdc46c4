"""The scenario key ``llm:``: the models that an agent may ask, and their API keys, which stay hidden."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import urlsplit

from pytest_agentbench.agents.llm.providers import ADDRESSES, with_address
from pytest_agentbench.agents.specs import is_address
from pytest_agentbench.base.errors import shown

DEFAULT_URL = str(ADDRESSES["openai"])
HIDDEN = "***"

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class Secret:
    """A text that no repr, log line or traceback with locals shows."""

    __slots__ = ("_text", "named")

    def __init__(self, text: str, named: str = "api_key") -> None:
        """``named``: where it was given, for people."""
        self._text = text
        self.named = named

    def reveal(self) -> str:
        return self._text

    def as_json(self) -> str:
        """``${NAME}`` if that is all there is: the name of a variable is no secret."""
        return self._text if not _REFERENCE.sub("", self._text) else HIDDEN

    def __repr__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


@dataclass(frozen=True)
class Entry:
    """One model behind one OpenAI-compatible endpoint."""

    model: str
    base_url: str = DEFAULT_URL
    api_key: Secret | None = None
    temperature: float | None = None
    timeout: float = 120.0  # seconds for one request, all of it
    requests_per_minute: float | None = None
    concurrency: int | None = None  # requests in flight at once
    price_input: float | None = None  # of a million tokens
    price_output: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)  # sent with every request
    embedding_model: str | None = None  # asked at base_url/embeddings

    @property
    def where(self) -> str:
        """The endpoint for people: without a query, which may hold a key."""
        return self.base_url.partition("?")[0]

    def as_json(self) -> dict[str, Any]:
        """For the manifest: all but the secrets and what is at its default."""
        values = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        shown = {name: value for name, value, default in values if value not in (default, {})}
        shown["base_url"] = self.where
        if self.api_key is not None:
            shown["api_key"] = self.api_key.as_json()
        return shown

    def expanded(self, environment: Mapping[str, str] = os.environ, sends: bool = True) -> Entry:
        """The entry with the values of the variables that it names as ``${NAME}``.

        Where nothing is sent to it, address and key need not be known.
        """

        def expand(key: str, text: str) -> str:
            def value(match: re.Match[str]) -> str:
                found = environment.get(match[1], "")
                if not found and not sends and key != "model":
                    return match[0]
                if not found:
                    raise ValueError(
                        f"{key} of {self.model} names the environment variable {match[1]}, "
                        f"which is not set; export {match[1]}=…"
                    )
                return found

            return _REFERENCE.sub(value, text)

        key = self.api_key
        if key is not None:
            named = key.as_json() if key.as_json() != HIDDEN else key.named
            key = Secret(expand("api_key", key.reveal()), named)
        url = _url(expand("base_url", self.base_url), f"base_url of {self.model}")
        return replace(self, model=expand("model", self.model), base_url=url, api_key=key)


def parse_llm(value: Any) -> tuple[Entry, ...]:
    """The entries of the scenario key ``llm:``; ValueError says which key of which is wrong.

    >>> parse_llm({"model": "m", "base_url": "http://localhost:8000/v1"})[0].model
    'm'
    """
    listed = [value] if isinstance(value, (Mapping, Entry)) else value
    if not isinstance(listed, (list, tuple)) or not listed:
        raise ValueError(
            f"expected a list of models ({{model: …, base_url: …}}), got {shown(value)}"
        )
    return tuple(_entry(given, f"entry {number}") for number, given in enumerate(listed, 1))


def _entry(given: Any, where: str) -> Entry:
    if isinstance(given, Entry):
        return given
    if not isinstance(given, Mapping):
        raise ValueError(f"{where}: expected a mapping with the key model, got {_kind(given)}")
    given = with_address(given, where)
    unknown = [key for key in given if key not in _PARSERS]
    if unknown:
        known = ", ".join([*_PARSERS, "provider"])
        raise ValueError(f"{where}: expected the keys {known}, got {shown(unknown[0])}")
    if given.get("model") is None:
        raise ValueError(f"{where}: expected the key model, got {', '.join(given) or 'nothing'}")
    if (given.get("price_input") is None) != (given.get("price_output") is None):
        raise ValueError(f"{where}: expected price_input and price_output together, got one")
    return Entry(
        **{
            key: _PARSERS[key](text, f"{where}: {key}")
            for key, text in given.items()
            if text is not None
        }
    )


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: expected a text, got {_kind(value)}")
    return value.strip()


def _secret(value: Any, where: str) -> Secret:
    text = _text(value, where)
    if not text.isascii() or not text.isprintable():
        # A header could not carry it, and the error of the HTTP library would show it.
        raise ValueError(f"{where}: expected printable ASCII characters, got others")
    return Secret(text)


def _url(value: Any, where: str) -> str:
    text = _text(value, where)
    if _REFERENCE.search(text):
        return text  # checked when it is expanded
    if not is_address(text):
        raise ValueError(f"{where}: expected http://… or https://…, got {text!r}")
    if urlsplit(text).username is not None:
        raise ValueError(f"{where}: expected no password in the address; use api_key")
    return text


def _number(least: float, expected: str) -> Callable[[Any, str], float]:
    def parse(value: Any, where: str) -> float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not least <= value < float("inf"):
            raise ValueError(f"{where}: expected {expected}, got {shown(value)}")
        return value  # type: ignore[no-any-return]

    return parse


def _count(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{where}: expected a whole number from 1, got {shown(value)}")
    return value


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    with contextlib.suppress(TypeError, ValueError, RecursionError):  # a date, .nan: no JSON
        if isinstance(value, Mapping) and json.loads(json.dumps(value, allow_nan=False)) == value:
            return dict(value)
    raise ValueError(f"{where}: expected a mapping such as {{top_p: 0.9}}, got {shown(value)}")


def _kind(value: Any) -> str:
    """What came, by its type alone: it may be a key in the wrong place."""
    return "an empty text" if value == "" else f"a {type(value).__name__}"


_PARSERS: Mapping[str, Callable[[Any, str], Any]] = {
    "model": _text,
    "base_url": _url,
    "api_key": _secret,
    "temperature": _number(0, "a number from 0"),
    "timeout": _number(1e-3, "a number of seconds above 0"),
    "requests_per_minute": _number(1e-3, "a number above 0"),
    "concurrency": _count,
    "price_input": _number(0, "the price of a million tokens"),
    "price_output": _number(0, "the price of a million tokens"),
    "parameters": _mapping,
    "embedding_model": _text,
}
