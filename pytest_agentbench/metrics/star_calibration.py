"""Calibration of given stars: whether what is called four stars is worth four stars on average.

The expected calibration error (Naeini, Cooper and Hauskrecht, AAAI 2015) with the given whole star as
the bin and stars in place of probabilities.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_agentbench.metrics.divergence import round_half_up

Floats = npt.NDArray[np.float64]

STARS = (1, 2, 3, 4, 5)


def gaps(given: npt.ArrayLike, true: npt.ArrayLike) -> Floats:
    """For each review, true - given stars in the column of the given star (rounded, halves up).

    >>> gaps([4.0, 1.6], [5.0, 1.0])
    array([[ 0. ,  0. ,  0. ,  1. ,  0. ],
           [ 0. , -0.6,  0. ,  0. ,  0. ]])
    """
    first, second = np.asarray(given, np.float64), np.asarray(true, np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"expected two equal rows, got {first.shape} and {second.shape}")
    if len(first) and not 1 <= first.min() <= first.max() <= 5:
        raise ValueError(f"expected stars from 1 to 5, got {first.min():g} to {first.max():g}")
    table: Floats = np.zeros((len(first), len(STARS)))
    table[np.arange(len(first)), round_half_up(first).astype(int) - 1] = second - first
    return table


def calibration_error(sums: npt.ArrayLike, reviews: npt.ArrayLike) -> Floats:
    """The mean over reviews of how far the mean truth of their star is from its mean given value.

    0 to 4 stars, lower is better. ``sums`` are the sums of the columns of :func:`gaps`, on the last
    axis, and ``reviews`` how many reviews they are of. Errors of one star cancel each other, those
    of different stars do not: always giving the mean truth has no calibration error.

    >>> table = gaps([4.0, 4.0, 1.0], [5.0, 3.0, 3.0])
    >>> float(calibration_error(table.sum(axis=0), 3))
    0.6666666666666666
    """
    error: Floats = np.abs(np.asarray(sums, np.float64)).sum(axis=-1) / reviews
    return error
