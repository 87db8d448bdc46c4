"""What agents do to a model's reply before they read it, by agentsociety's names."""

from __future__ import annotations

import ast
import re
from typing import Any

_FENCE = re.compile(r"```(?:json)?")


def clean_json_response(response: str) -> str:
    """The reply without the fences of a code block.

    >>> clean_json_response('```json\\n{"a": 1}\\n```')
    '{"a": 1}'
    """
    return _FENCE.sub("", response).strip()


def prettify_document(document: str) -> str:
    """The text on one line, with single spaces."""
    return " ".join(document.split())


def extract_json(output_str: str) -> str:
    """From the first brace to the last."""
    return output_str[output_str.find("{") : output_str.rfind("}") + 1]


def extract_dict_from_string(input_string: str) -> list[dict[Any, Any]]:
    """The dicts that stand in a text as Python writes them; what cannot be read is left out.

    >>> extract_dict_from_string("first {'a': {'b': 1}}, then {broken, and {'c': [2]}")
    [{'a': {'b': 1}}, {'c': [2]}]
    """
    found, start = [], input_string.find("{")
    while start >= 0:
        end = start
        value = None
        while value is None and (end := input_string.find("}", end + 1)) >= 0:
            value = _literal(input_string[start : end + 1])
        if value is not None:
            found.append(value)
        start = input_string.find("{", start + 1 if value is None else end)
    return found


def _literal(text: str) -> dict[Any, Any] | None:
    try:
        value = ast.literal_eval(text)
    except (MemoryError, RecursionError, SyntaxError, TypeError, ValueError):
        return None
    return value if isinstance(value, dict) else None
