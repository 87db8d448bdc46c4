"""JSON with a limit to its levels, the same on every Python: from 3.14 on, Python's own reader takes many thousands."""

from __future__ import annotations

import json
from typing import Any

_DEEPEST = 100  # levels of what we write; code that walks through more may not come back
_AROUND = 20  # an answer has the levels above, and a file has some around it
TOO_DEEP = f"more than {_DEEPEST} levels of lists and objects"


def loads(text: str | bytes, **options: Any) -> Any:
    """``json.loads``; ``ValueError`` also for more levels than we ever write."""
    try:
        data = json.loads(text, **options)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    check_depth(data)
    return data


def check_depth(data: Any) -> None:
    """``ValueError`` for more levels than we ever write."""
    level, depth = [data] if type(data) in (dict, list) else [], 0
    while level:
        depth += 1
        if depth > _DEEPEST + _AROUND:
            raise ValueError(TOO_DEEP)
        found = (one.values() if type(one) is dict else one for one in level)
        level = [one for many in found for one in many if type(one) in (dict, list)]
