"""Numbers and tables as plain text, for every report that people read."""

from __future__ import annotations

import math
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


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "call"), counted(1200, "call"), counted(3, "retry", "retries")
    ('1 call', '1,200 calls', '3 retries')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def short(count: int) -> str:
    """A large number, three digits of it.

    >>> short(9_876), short(34_512), short(210_000), short(2_345_678), short(45_000_000_000)
    ('9,876', '34.5k', '210k', '2.35M', '45G')
    """
    if count < 10_000:
        return f"{count:,}"
    value, unit = next(
        (count / size, unit)
        for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k"))
        if count >= 0.9995 * size
    )
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    text = f"{value:,.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if digits else text}{unit}"


def money(value: float | None) -> str:
    """A cost: two decimals, or more where it is small, never in exponents.

    >>> money(1234.5), money(0.4219), money(0.00417), money(0.0000417), money(0.0), money(None)
    ('1,234.50', '0.42', '0.0042', '0.000042', '0', '-')
    """
    if value is None:
        return "-"
    if not value:
        return "0"
    small = 0 if abs(value) >= 0.1 else -math.floor(math.log10(abs(value))) - 1
    return f"{value:,.{min(2 + small, 12)}f}"


def seconds(value: float) -> str:
    """How long a call took.

    >>> seconds(0.0042), seconds(0.812), seconds(2.44), seconds(31.2)
    ('0.004 s', '0.81 s', '2.4 s', '31 s')
    """
    digits = 3 if value < 0.1 else 2 if value < 1 else 1 if value < 10 else 0
    return f"{value:.{digits}f} s"


def duration(value: float) -> str:
    """How long something will take, by its two largest units.

    >>> duration(0.4), duration(59.6), duration(310), duration(7_900), duration(200_000)
    ('1 s', '1 min', '5 min', '2 h 12 min', '2 d 7 h')
    """
    whole = max(1, round(value))
    if whole < 60:
        return f"{whole} s"
    minutes = round(value / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"


def rate(value: float) -> str:
    """How many a second, a minute or an hour.

    >>> rate(1234.5), rate(3.21), rate(0.7), rate(0.01)
    ('1,234/s', '3.2/s', '42/min', '36/h')
    """
    many, unit = value, "s"
    if value < 1:
        many, unit = (60 * value, "min") if 60 * value >= 1 else (3600 * value, "h")
    return f"{many:,.{0 if many >= 9.95 else 1}f}/{unit}"


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
