"""Values of people, any number each, pooled in bins: what a resample of the people needs is a sum of rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_agentbench.metrics.divergence import jensen_shannon

Floats = npt.NDArray[np.float64]
Codes = Callable[[list[Any]], npt.NDArray[np.intp]]


def count_table(values: Sequence[Sequence[Any]], codes: Codes, size: int) -> Floats:
    """Return a row of counts for each person: how many of the person's values are in each bin.

    ``codes`` gives the bins, 0 to ``size`` - 1, of all values at once.

    >>> parity = lambda values: np.array(values, int) % 2
    >>> count_table([[3, 4, 5], [], [8]], parity, 2).tolist()
    [[1.0, 2.0], [0.0, 0.0], [1.0, 0.0]]
    """
    owner = np.repeat(np.arange(len(values)), [len(own) for own in values])
    together = list(itertools.chain.from_iterable(values))
    cells = owner * size + (codes(together) if together else np.empty(0, np.intp))
    counts = np.bincount(cells.astype(np.intp), minlength=len(values) * size)
    return counts.reshape(len(values), size).astype(np.float64)


def pooled_divergence(real: Floats, generated: Floats) -> Floats:
    """Return the Jensen-Shannon divergence, base 2, of pooled counts along the last axis.

    A side without any value has all its mass in a bin of its own: 1 where the other has values, 0 where
    it has none either.

    >>> pooled_divergence(np.array([1.0, 1.0]), np.array([[2.0, 2.0], [4.0, 0.0], [0.0, 0.0]])).round(6).tolist()
    [0.0, 0.311278, 1.0]
    """
    return jensen_shannon(_with_nothing(real), _with_nothing(generated))


def _with_nothing(counts: Floats) -> Floats:
    nothing = (counts.sum(axis=-1, keepdims=True) == 0).astype(np.float64)
    return np.concatenate([counts, nothing], axis=-1)
