"""How far given stars are from true ones: absolute error, its root mean square, the exact share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_agentbench.metrics.divergence import round_half_up

Floats = npt.NDArray[np.float64]

LARGEST_DISTANCE = 4.0  # one star where five are true


def distances(given: npt.ArrayLike, true: npt.ArrayLike) -> Floats:
    """Stars between the two, each 0 to 4, lower is better; their mean is the mean absolute error.

    >>> distances([3.5, 1.0], [5.0, 1.0])
    array([1.5, 0. ])
    """
    found: Floats = np.abs(np.asarray(given, np.float64) - np.asarray(true, np.float64))
    return found


def root_of_mean(mean_square: npt.ArrayLike) -> Floats:
    """The root mean square error, 0 to 4 stars, lower is better, of the mean of the squared distances.

    >>> float(root_of_mean(np.mean(distances([1.0, 5.0], [4.0, 1.0]) ** 2)))
    3.5355339059327378
    """
    root: Floats = np.sqrt(np.asarray(mean_square, np.float64))
    return root


def exact(given: npt.ArrayLike, true: npt.ArrayLike) -> Floats:
    """1.0 where both round (halves up) to the same whole star, else 0.0; higher is better.

    >>> exact([3.5, 4.4, 2.0], [4.0, 4.0, 3.0])
    array([1., 1., 0.])
    """
    same: Floats = (round_half_up(given) == round_half_up(true)).astype(np.float64)
    return same
