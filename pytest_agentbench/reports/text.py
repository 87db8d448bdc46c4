"""Numbers and tables as plain text, for every report that people read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_agentbench.runs.scores_file import Score

# What moves the cursor, colours, ends a line or turns the direction: a name of a stranger's may hold it.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_LONGEST_CELL = 200


def visible(text: str, but: str = "") -> str:
    r"""A text for a terminal, with the escapes of what cannot be seen in it.

    >>> print(visible("\x1b[2Jmine\n"))
    \x1b[2Jmine\n
    """

    def escaped(match: re.Match[str]) -> str:
        return match[0] if match[0] in but else match[0].encode("unicode_escape").decode()

    return _UNSEEN.sub(escaped, text)


def number(value: float | None) -> str:
    """A score for people: four digits that matter, never in exponents.

    >>> number(0.08773), number(117.98123), number(None)
    ('0.0877', '117.98', '-')
    """
    if value is None:
        return "-"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}"


def signed(value: float | None) -> str:
    """A difference, with its sign.

    >>> signed(0.5), signed(-0.25), signed(0.0)
    ('+0.5000', '-0.2500', '0.0000')
    """
    if value is None:
        return "-"
    return f"+{number(value)}" if value > 0 else number(value if value else 0.0)


def interval(low: float | None, high: float | None, sign: bool = False) -> str:
    """``0.0620 .. 0.1162``; nothing where there is none."""
    if low is None or high is None:
        return ""
    shown = signed if sign else number
    return f"{shown(low)} .. {shown(high)}"


def with_interval(score: Score) -> str:
    """``0.0877 [0.0620 .. 0.1162]``, or why there is no value."""
    if score.value is None:
        return f"absent ({score.reason or 'not scored'})"
    ends = interval(score.low, score.high)
    return f"{number(score.value)} [{ends}]" if ends else number(score.value)


def columns(rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> list[str]:
    """Rows as aligned lines; columns in ``left`` start at the left, the others are numbers.

    >>> columns([["metric", "value"], ["dtw", "1.5"]])
    ['metric  value', 'dtw       1.5']
    """
    rows = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if n in left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
            if width
        ).rstrip()
        for row in rows
    ]


def _cell(text: str) -> str:
    seen = visible(text)
    return seen if len(seen) <= _LONGEST_CELL else f"{seen[:_LONGEST_CELL]}…"
