"""The estimator of some of a run's records, from that of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_agentbench.metrics.estimator import Absent, Estimator, Values


def part_of(estimate: Estimator, chosen: npt.NDArray[np.bool_]) -> Estimator:
    """The estimator of some of the records, whose weights are those of the chosen ones alone.

    An estimator may have a method ``part(chosen)``, which is faster. To any other the records that are
    left out have weight 0, and a weight of 1 says that a record was there once.

    >>> def total(reading, weights):
    ...     return {"total": (np.ones((1, 3)) if weights is None else weights) @ [1.0, 2.0, 4.0]}
    >>> some = part_of(total, np.array([True, False, True]))
    >>> float(some("r", None)["total"]), some("r", np.array([[0.0, 2.0]]))["total"]
    (5.0, array([8.]))
    """
    own: Callable[[Any], Estimator] | None = getattr(estimate, "part", None)
    if own is not None:
        return own(chosen)

    def part(reading: str, weights: npt.NDArray[np.float64] | None) -> Values:
        given = np.ones((1, int(chosen.sum()))) if weights is None else weights
        spread = np.zeros((len(given), len(chosen)))
        spread[:, chosen] = given
        with np.errstate(invalid="ignore", divide="ignore"):  # a mean over nobody of a kind
            found = estimate(reading, spread)
        if weights is not None:
            return found
        return {
            name: value if isinstance(value, Absent) else np.broadcast_to(value, 1)[0]
            for name, value in found.items()
        }

    return part
