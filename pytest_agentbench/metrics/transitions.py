"""Transitions: what follows what in neighbouring slots of a day."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def pair_counts(codes: NDArray[Any], kinds: int) -> NDArray[np.uint8]:
    """Return how often each kind follows each, a row a person; codes are 0 to ``kinds`` - 1.

    Column ``a * kinds + b`` counts b right after a. At most 256 slots.

    >>> pair_counts(np.array([[0, 0, 1, 0], [1, 1, 1, 1]]), kinds=2).tolist()
    [[1, 1, 1, 0], [0, 0, 0, 3]]
    """
    people, slots = codes.shape
    counts = np.zeros((people, kinds * kinds), np.uint8)
    everybody = np.arange(people)
    for slot in range(slots - 1):  # slot by slot, to save memory
        counts[everybody, codes[:, slot].astype(np.intp) * kinds + codes[:, slot + 1]] += 1
    return counts


def changes(kinds: int) -> NDArray[np.intp]:
    """Return the columns of :func:`pair_counts` in which something changes.

    >>> changes(2).tolist()
    [1, 2]
    """
    return np.flatnonzero(~np.eye(kinds, dtype=bool).ravel())
