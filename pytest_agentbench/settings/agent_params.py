"""Parameters of an agent: ``agent_params`` of a scenario, ``--agent-param KEY=VALUE`` on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from pytest_agentbench.base.errors import shown

_SECRET = re.compile(r"(api_?key|token|secret|password)$", re.IGNORECASE)
_BEGINS_JSON = ("[", "{", '"')


def parse(value: Any) -> dict[str, Any]:
    """A mapping, or texts ``KEY=VALUE``.

    >>> parse(["style=short", "most=3", "tags=[1, 2]", "strict=true", "note=a: b"])
    {'style': 'short', 'most': 3, 'tags': [1, 2], 'strict': True, 'note': 'a: b'}
    """
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        return dict(map(_pair, value))
    if not isinstance(value, Mapping):
        raise TypeError
    found: dict[str, Any] = json.loads(json.dumps(value))  # a date or a set is TypeError
    return found


def merged(weaker: Mapping[str, Any] | None, given: Any, parsed: Mapping[str, Any]) -> Any:
    """Texts ``KEY=VALUE`` change single parameters; a mapping stands for all of them."""
    return parsed if weaker is None or isinstance(given, Mapping) else {**weaker, **parsed}


def without_secrets(value: Any) -> Any:
    """Parameters for the manifest: those that are called a key or the like are hidden."""
    if isinstance(value, list):
        return [without_secrets(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: "***" if _SECRET.search(str(key)) and isinstance(one, str) else without_secrets(one)
        for key, one in value.items()
    }


def _pair(text: str) -> tuple[str, Any]:
    key, mark, value = text.partition("=")
    key = key.strip()
    if not mark or not key.isidentifier():
        raise ValueError(
            f"expected KEY=VALUE with the name of a parameter, such as style=short, got {shown(text)}"
        )
    return key, _value(key, value.strip())


def _value(key: str, text: str) -> Any:
    """JSON, or else the text itself: ``no`` and ``1:30`` stay what was typed."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        if text.startswith(_BEGINS_JSON):
            raise ValueError(
                f'{key}: expected JSON, such as ["a", "b"], {{"a": 1}} or "a text", got {shown(text)}'
            ) from None
    return text


def _refuse(constant: str) -> NoReturn:
    """NaN and Infinity, which are no JSON."""
    raise ValueError(constant)
