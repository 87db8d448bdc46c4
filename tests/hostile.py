"""Answers that nobody should give, for agents in real runs; answer_strategies.py makes more of them."""

from __future__ import annotations

import datetime
import decimal
import enum
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


class Silent:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Never:
    """Raises whatever is asked of it."""

    def _raise(self, *args: Any) -> Any:
        raise ZeroDivisionError("never")

    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __len__ = __iter__ = __contains__ = _raise
    __float__ = __int__ = __index__ = __getitem__ = __str__ = __repr__ = __bool__ = _raise
    tolist = isoformat = to_dict = keys = items = _raise

    def __hash__(self) -> int:
        return 1


class NeverList(list):
    def _raise(self, *args: Any) -> Any:
        raise ZeroDivisionError("never")

    __iter__ = __eq__ = __getitem__ = __repr__ = _raise
    __hash__ = None


class EndlessList(list):
    def __iter__(self) -> Any:
        return itertools.repeat([1, 1])


class Exits(list):
    def __iter__(self) -> Any:
        raise SystemExit(0)


class Liar(Sequence):
    """Says that it is long, and has nothing."""

    def __len__(self) -> int:
        return 48

    def __getitem__(self, index: Any) -> Any:
        raise KeyError(index)


class LyingDict(Mapping):
    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Any:
        return iter(("stars", "review", "item_list"))

    def __getitem__(self, key: str) -> Any:
        raise OverflowError(key)


class BadText(str):
    def _raise(self, *args: Any) -> Any:
        raise ZeroDivisionError("never")

    __str__ = __repr__ = strip = __eq__ = _raise
    __hash__ = str.__hash__


class BadNumber(float):
    def _raise(self, *args: Any) -> Any:
        raise ZeroDivisionError("never")

    __float__ = __lt__ = __le__ = __ge__ = __gt__ = __eq__ = __repr__ = _raise
    __hash__ = float.__hash__


class BadKey:
    def __str__(self) -> str:
        return "stars"

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


class Mood(str, enum.Enum):
    GOOD = "sleep"


class Number(enum.IntEnum):
    ONE = 1


def endless() -> list:
    """Holds itself."""
    value: list = []
    value.append(value)
    return value


def deep(levels: int) -> list:
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


def bomb(levels: int = 40) -> list:
    """A few lists, and 2**40 values to whoever follows them all."""
    value: list = ["x"]
    for _ in range(levels):
        value = [value, value]
    return value


def scalars() -> list[Any]:
    """What may stand where a number, a text or a list is expected."""
    return [
        None, True, False, 0, -1, 1, 3, 2**31, 2**63, 10**30, 10**400, 10**5000, -(10**5000),
        0.0, -0.0, 0.5, 3.0, 1e300, 1.7e308, 5e-324, float("nan"), float("inf"), float("-inf"), 1e400,
        "", " ", "12", "3.0", "4_5", "٤", "nan", "1e400", "sleep", "00:00", "24:00", "\ud800", "\0", "é\u2028\x85",
        b"12", bytearray(b"12"), [], {}, (), set(), {1, 2}, [[]], [None], {"a": None}, {None: 1}, {1: 2}, {(1, 2): 3},
        np.int64(3), np.uint8(3), np.float32(0.5), np.float64("nan"), np.bool_(True), np.str_("x"), np.array(3),
        np.array([1.5]), np.zeros((2, 2)), np.zeros(0), np.array(["a"], object), np.array(["2020-01-01"], "M8[ns]"),
        np.array([3], "m8[ns]"), np.timedelta64(3, "ns"), np.array([3, 3], "m8[ns]"), complex(1, 2), decimal.Decimal("4.5"), datetime.date(2020, 1, 1), Mood.GOOD, Number.ONE,
        object(), object, len, iter([1]), (n for n in "ab"), range(3), memoryview(b"ab"), Ellipsis, NotImplemented,
        Silent(), Never(), NeverList([1]), Exits([1]), Liar(), LyingDict(),
        BadText("x"), BadNumber(3.0), {BadKey(): 4}, endless(), deep(150), deep(5000), ValueError("an exception"),
    ]  # fmt: skip


def large() -> list[Any]:
    """What is large; a few of them in a run."""
    return ["x" * 10_000_000, "\ud800" * 100_000, list(range(100_000)), [[1, 1]] * 50_000, bomb()]
