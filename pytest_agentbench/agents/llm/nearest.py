"""A request that was never recorded, and how it differs from the nearest one that was."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_agentbench.agents.llm.cache import Cache, Question
from pytest_agentbench.agents.llm.text_requests import shown

_MOST_LINES, _LONGEST_LINE = 12, 160
_COMPARED = 20_000  # characters


def unrecorded(cache: Cache, path: str, body: Mapping[str, Any], question: Question) -> str:
    """Why a replay has no reply for a request, and what to do."""
    sample, epoch = question
    where = f"sample {sample}, epoch {epoch}" if sample else "a thread outside any sample"
    text = f"llm {body.get('model')}: --llm-cache replay has no recorded reply for this request of {where}"
    advice = "record it with --llm-cache read-write"
    given = cache.times(path, body, question)
    if given:
        return f"{text}: it was recorded {given} times, and this is call {given + 1}; {advice}"
    lines = cache.requests(sample)
    near = [line for line in lines if line.get("path") == path and line.get("epoch") == epoch]
    if not near:
        return f"{text}: nothing of that sample and epoch is recorded; {advice}"
    found = difference(body, [line["request"] for line in near])
    return f"{text}; {advice}. The nearest recorded request (-) and this one (+):\n{found}"


def difference(asked: Mapping[str, Any], recorded: Sequence[Mapping[str, Any]]) -> str:
    """The lines that differ: ``-`` as recorded in the nearest of these requests, ``+`` as asked now."""
    wanted = _lines(asked)
    text = "\n".join(wanted)[:_COMPARED]

    def likeness(one: list[str]) -> float:
        # By characters regardless of their order, which is fast, and by lines.
        letters = difflib.SequenceMatcher(None, text, "\n".join(one)[:_COMPARED], autojunk=False)
        lines = difflib.SequenceMatcher(None, wanted, one, autojunk=False)
        return letters.quick_ratio() + lines.ratio()

    nearest = max(map(_lines, recorded), key=likeness)
    differing = [line for line in difflib.ndiff(nearest, wanted) if line.startswith(("- ", "+ "))]
    left_out = len(differing) - _MOST_LINES
    kept = [*_around(differing[:_MOST_LINES])]
    return "\n".join([*kept, f"… ({left_out} more lines)"] if left_out > 0 else kept)


def _lines(body: Mapping[str, Any]) -> list[str]:
    """A request as lines that say where they belong: ``model: "m"``, ``messages[1] user: Hello``."""
    found = []
    for key in sorted(body, key=lambda key: (key != "model", key == "messages", key)):
        value = body[key]
        if key == "messages" and isinstance(value, list):
            for number, message in enumerate(value):
                known = isinstance(message, Mapping)
                head = f"messages[{number}] {message.get('role') if known else '?'}"
                content = shown(message) if known else json.dumps(message)
                found += [f"{head}: {line}" for line in content.splitlines() or [""]]
        else:
            found.append(f"{key}: {json.dumps(value, sort_keys=True)}")
    return found


def _around(differing: list[str]) -> list[str]:
    """Lines cut to what surrounds their first difference from the line before or after."""
    found = []
    for number, line in enumerate(differing):
        others = [
            other for other in differing[max(0, number - 1) : number + 2] if other[0] != line[0]
        ]
        same = max((_common(line[2:], other[2:]) for other in others), default=0)
        start = max(0, same - 60) if len(line) > _LONGEST_LINE else 0
        head = line[2:].partition(": ")[0] + ": …" if start else ""
        body = line[2 + start :]
        cut = body if len(body) <= _LONGEST_LINE else f"{body[:_LONGEST_LINE]}…"
        found.append(f"{line[0]} {head}{cut}")
    return found


def _common(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
