"""What GitHub shows of a run: the summary of a step, and a line for each failed gate."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_agentbench.runs.scores_file import Scores

MOST_BYTES = 1024 * 1024  # GitHub refuses a larger summary
_CUT = "\n\n*The rest was cut: a summary may have 1 MiB.*\n"


def append_summary(path: Path, text: str) -> None:
    """Appends to the summary of a step, cut where the file would grow beyond what GitHub takes."""
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


def github_errors(scores: Scores, name: str | None = None) -> list[str]:
    """A line for each failed gate; GitHub shows it beside the run when it is printed there."""
    title = _property(f"gate failed: {name or scores.benchmark}")
    return [
        f"::error title={title}::{_data(f'{gate.gate}: {gate.failure}')}"
        for gate in scores.gates
        if gate.failure is not None
    ]


# A line that GitHub's runner obeys: "::stop-commands::x" would switch our own error lines off.
_COMMANDS = re.compile(r"(?:^|(?<=[\r\n\x0b\x0c\x85\u2028\u2029]))\s*::|##\[")


def harmless(text: str) -> str:
    """A text of an agent's, of which GitHub's runner obeys nothing.

    >>> print(harmless("::error::forged"))
    :\\:error::forged
    """
    return _COMMANDS.sub(lambda found: found[0].replace("::", ":\\:").replace("##[", "#\\#["), text)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
