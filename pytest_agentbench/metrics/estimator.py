"""The type of what scores a run: all metrics of a reading, for the records or for resamples."""

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
    """Stands for a metric that this run cannot have, and says why."""

    reason: str


# Every metric of a reading; with weights (resamples x records), an array of one value a resample.
Values = Mapping[str, "float | npt.NDArray[np.float64] | Absent"]
Estimator = Callable[[str, "Weights | None"], Values]
