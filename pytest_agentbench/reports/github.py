"""What GitHub shows of a run: the summary of a step, and a line for each failed gate."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

MOST_BYTES = 1024 * 1024  # GitHub refuses the summary of a step that is larger


_CUT = "\n\n*The rest was cut: a summary may have 1 MiB.*\n"


def append_summary(path: Path, text: str) -> None:
    """Appends to a step's summary, and stays below what GitHub takes: more would be no summary at all."""
    there = path.stat().st_size if path.exists() else 0
    data = text.encode()
    room = MOST_BYTES - there - (1 if there else 0)
    if len(data) > room:
        room -= len(_CUT.encode())
        if room <= 0:
            return
        data = data[: data.rfind(b"\n", 0, room) + 1] + _CUT.encode()
    with path.open("ab") as file:
        file.write((b"\n" if there else b"") + data)


def github_errors(scores: Mapping[str, Any], name: str | None = None) -> list[str]:
    """A line for each failed gate that GitHub shows beside the run; print them when GITHUB_ACTIONS is set."""
    lines = []
    for gate in scores.get("gates") or ():
        if gate["passed"] is False:
            said = gate["reason"] or f"got {gate['value']:.6g} against {gate['threshold']:.6g}"
            title = f"gate failed: {name or scores['benchmark']}"
            message = _data(f"{gate['gate']}: {said}")
            lines.append(f"::error title={_property(title)}::{message}")
    return lines


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
