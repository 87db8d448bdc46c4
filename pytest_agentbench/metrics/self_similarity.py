"""How alike the texts of a set are: the mean cosine of each to all others (high: they repeat each other).

A set of reviews by different people about different things has some value; texts of one writer who
always says the same have a higher one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_agentbench.metrics.words import Words

Floats = npt.NDArray[np.float64]


def to_others(vectors: npt.ArrayLike) -> Floats:
    """For each row, its mean cosine to all other rows: -1 to 1. The mean is that of all pairs.

    A row without a direction (all zeros) is at right angles to every other. One row has no other.

    >>> to_others([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]])
    array([0.5, 0.5, 0. ])
    """
    rows = np.asarray(vectors, np.float64)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError(f"expected a matrix of at least two rows, got shape {rows.shape}")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    own = (lengths[:, 0] > 0).astype(np.float64)  # the cosine of a row to itself
    # The sum of all rows is multiplied once, instead of every row with every other.
    cosines: Floats = (units @ units.sum(axis=0) - own) / (len(rows) - 1)
    return np.clip(cosines, -1.0, 1.0)


def words_to_others(texts: Words) -> Floats:
    """:func:`to_others` for texts as vectors of word counts: 0 to 1.

    >>> from pytest_agentbench.metrics.words import numbered
    >>> words_to_others(numbered(["good tea", "Tea, good!", "bad coffee"])).round(3)
    array([0.5, 0.5, 0. ])
    """
    size = len(texts.lengths)
    if size < 2:
        raise ValueError(f"expected at least two texts, got {size}")
    known = int(texts.codes.max(initial=0)) + 1
    cells, counted = np.unique(texts.owner * known + texts.codes, return_counts=True)
    owner, code, count = cells // known, cells % known, counted.astype(np.float64)
    squares = np.bincount(owner, count**2, minlength=size)
    units = count / np.sqrt(squares[owner])
    together = np.bincount(code, units, minlength=known)
    products = np.bincount(owner, units * together[code], minlength=size)
    cosines: Floats = (products - (squares > 0)) / (size - 1)
    return np.clip(cosines, 0.0, 1.0)
