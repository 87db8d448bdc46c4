"""What the checks of answers share: values of any library as plain ones, and words for messages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.benchmarks.protocol import LONGEST_SHOWN, InvalidAnswer, shown
from pytest_agentbench.records import is_array


class Words(str):
    """A description of what came, for a message that would quote a plain string."""

    __slots__ = ()
    __repr__ = str.__str__


_PLAIN = {str, int, float, bool, list, dict, type(None)}


def unpacked(value: Any) -> Any:
    """Arrays, scalars and tensors as plain lists and numbers, enumerations as their values."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str):
        return str.__str__(value)  # what a class of its own calls itself is something else
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if is_array(value):
        try:
            return value.tolist()
        except Exception as error:  # someone else's object may do anything
            got = Words(f"{type(value).__name__} ({error})")
            raise InvalidAnswer("lists, texts and numbers", got) from None
    return value


def items(value: Any) -> list[Any] | None:
    """The values of a list, tuple or array, each unpacked; None for anything else."""
    values = unpacked(value)
    if isinstance(values, (list, tuple)):
        # As many as it says: a class of somebody's own may never end.
        return [unpacked(item) for item in itertools.islice(values, len(values))]
    return None


def keys_shown(mapping: Mapping[Any, Any]) -> str:
    """The keys of a mapping in a message, cut."""
    names = [k if isinstance(k, str) else shown(k) for k in itertools.islice(mapping, 50)]
    text = ", ".join(names) or "nothing"
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether a value is a number that a float can hold; 10**400 is not."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


# Of metres, places or trips: the squares of larger ones, summed over people, may be no numbers any more.
LARGEST = 1e12


def is_amount(value: Any) -> bool:
    """Whether a value is a number from 0 to :data:`LARGEST`."""
    return is_finite(value) and 0 <= value <= LARGEST


def limit_words(value: Any) -> str:
    """What a message adds where a value is refused for its size."""
    return f" and at most {LARGEST:g}" if is_finite(value) and value > LARGEST else ""
