"""Failures that are alike: the same error, whatever sample, number, address or answer it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_agentbench.runs.record import Record

_FAILED = ("error", "invalid")
_LONGEST = 2000  # characters of a message that are compared
_LONGEST_SHOWN = 300
# What belongs to one sample: quoted texts, hexadecimal names of many kinds, numbers.
_DATA = re.compile(
    r"""(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|(?<!\w)"(?:[^"\\]|\\.)*"(?!\w)|`[^`]*`
    |\b0x[0-9a-fA-F]+\b
    |\b(?=[0-9a-fA-F-]*\d)[0-9a-fA-F]+(?:-[0-9a-fA-F]+){2,}\b
    |\b(?=[a-fA-F]*\d)[0-9a-fA-F]{6,}\b
    |\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?""",
    re.VERBOSE,
)
_SEVERAL = re.compile(r"-?~(?:[\s,.:;+-]*~)*")


def kind(status: str, sample: str, error: str | None) -> str | None:
    """In which way a sample failed, as a text that is the same for failures alike; None for any other status.

    >>> first = kind("error", "uid[1]", "KeyError: 'x1' of uid[1] at 0x7f01")
    >>> first == kind("error", "uid[2]", "KeyError: 'x2' of uid[2] at 0x7f02")
    True
    """
    if status not in _FAILED:
        return None
    text = (error or "")[:_LONGEST]
    own = sample.partition("[")[2].removesuffix("]")
    for name in filter(None, (sample, own)):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "~", text)
    text = _SEVERAL.sub("~", _DATA.sub("~", text))
    return f"{status}: {' '.join(text.split())}"


def kind_of(record: Record) -> str | None:
    return kind(record.status, record.sample, record.error)


class FirstFailures:
    """Whether the first samples of a run have all failed alike, ``most`` of them; with 0 that is never asked."""

    def __init__(self, most: int, before: Iterable[Record] = ()) -> None:
        """``before``: what an earlier session has recorded; where a sample was answered, the agent works."""
        self._most = most
        self._open = most > 0 and not any(record.status == "ok" for record in before)
        self._kind: str | None = None
        self._samples: set[str] = set()
        self._error = ""

    def add(self, status: str, sample: str, error: str | None) -> None:
        """Takes up what came of a sample that was asked."""
        if not self._open or self.reached:
            return
        found = kind(status, sample, error)
        if found is None or (self._kind is not None and found != self._kind):
            self._open = False
            return
        self._kind = found
        self._samples.add(sample)
        self._error = self._error or " ".join((error or "").strip().partition("\n")[0].split())

    @property
    def reached(self) -> bool:
        return self._open and len(self._samples) >= self._most

    @property
    def told(self) -> str | None:
        """Why the run is stopped, if it is."""
        if not self.reached:
            return None
        error = self._error
        shown = error if len(error) <= _LONGEST_SHOWN else f"{error[:_LONGEST_SHOWN]}…"
        return (
            f"the first {len(self._samples)} samples failed in the same way: {shown} "
            "(--max-identical-errors=0 goes on)"
        )
