"""What scores a run: the values of all metrics, or one of each for every resample of the records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Weights = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Absent:
    """The value of a metric that this run cannot have, and why."""

    reason: str


# Every metric of a reading; with weights (resamples x records), an array of one value a resample.
Values = Mapping[str, "float | npt.NDArray[np.float64] | Absent"]
Estimator = Callable[[str, "Weights | None"], Values]
