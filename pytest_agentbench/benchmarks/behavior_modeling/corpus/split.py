"""Where the corpus is cut in time: the store holds what came before, the truths come after."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def choose_cut(
    enough: NDArray[np.float64], last: NDArray[np.float64], wanted: int
) -> tuple[float, int]:
    """The latest cut that leaves ``wanted`` people to ask about, and how many it leaves.

    A person can be asked about if their last review is at or after the cut, and they had enough
    reviews before it: ``enough < cut <= last``. Where no cut leaves so many, the one that leaves most.

    >>> choose_cut(np.array([1.0, 2.0, 8.0]), np.array([5.0, 9.0, 9.5]), wanted=2)
    (9.0, 2)
    >>> choose_cut(np.array([1.0, 2.0, 8.0]), np.array([5.0, 9.0, 9.5]), wanted=3)
    (9.0, 2)
    """
    cuts = np.unique(last)[::-1]  # the latest first; between two of them nothing changes for better
    after = last.size - np.searchsorted(np.sort(last), cuts, side="left")
    too_new = enough.size - np.searchsorted(np.sort(enough), cuts, side="left")
    left = after - too_new
    sufficient = np.flatnonzero(left >= wanted)
    index = int(sufficient[0]) if sufficient.size else int(np.argmax(left))
    return float(cuts[index]), int(left[index])
