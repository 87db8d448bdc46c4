"""A population as four arrays: the truth, or the answers of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.daily_mobility.intentions import LABELS, SLOTS

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

TRUTH_FILES = {
    "gyration_radius": "gyration_radius.npy",
    "daily_location_numbers": "daily_location_numbers.npy",
    "intention_sequences": "daily_intentions_2d.npy",
    "intention_proportions": "intention_proportions_2d.npy",
}


@dataclass(frozen=True)
class Population:
    """Four arrays, one entry or row a person; in the truth not even in the same order."""

    gyration_radius: Floats  # metres
    daily_location_numbers: Floats
    intention_sequences: npt.NDArray[np.uint8]  # (people, 48) codes 1-7
    intention_proportions: Floats  # (people, 7)

    @classmethod
    def from_answers(cls, answers: Sequence[Mapping[str, Any]]) -> Population:
        """Of checked answers."""
        count = len(answers)
        codes = np.empty((count, SLOTS), np.uint8)
        shares = np.empty((count, len(LABELS)))
        for row, answer in enumerate(answers):
            codes[row] = answer["intention_sequences"]
            shares[row] = answer["intention_proportions"]
        return cls(
            np.array([answer["gyration_radius"] for answer in answers], np.float64),
            np.array([answer["daily_location_numbers"] for answer in answers], np.float64),
            codes,
            shares,
        )

    def part(self, chosen: npt.NDArray[np.bool_]) -> Population:
        """Some of the people; the four arrays must be in one order, as those of answers are."""
        return Population(
            **{field.name: getattr(self, field.name)[chosen] for field in fields(self)}
        )

    def digest(self) -> str:
        """Of the values; those that are loaded have one type, whatever they were stored in."""
        total = hashlib.sha256()
        for field in fields(self):
            array = np.ascontiguousarray(getattr(self, field.name))
            total.update(repr(array.shape).encode())
            total.update(array.tobytes())
        return total.hexdigest()


def load_truth(folder: Path) -> Population:
    """The four arrays of ``groundtruth/``, each checked; they may differ in length."""
    arrays: dict[str, Any] = {
        name: _checked(folder / file, name) for name, file in TRUTH_FILES.items()
    }
    arrays["intention_sequences"] = arrays["intention_sequences"].astype(np.uint8)
    return Population(**arrays)


def _checked(path: Path, name: str) -> Floats:
    width = {"intention_sequences": SLOTS, "intention_proportions": len(LABELS)}.get(name)
    expected = "one number a person" if width is None else f"rows of {width} numbers"
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        reason = error.strerror or error
        raise BenchmarkError(f"{path}: expected {expected}, got {reason}") from None
    except Exception as error:  # NumPy fails in many ways on such files
        raise BenchmarkError(f"{path}: expected {expected} as a .npy file ({error})") from None
    shape = () if width is None else (width,)
    if not isinstance(array, np.ndarray):
        raise BenchmarkError(f"{path}: expected {expected}, got a {type(array).__name__}")
    if (
        array.ndim == 0
        or array.shape[1:] != shape
        or not len(array)
        or array.dtype.kind not in "iuf"
    ):
        raise BenchmarkError(
            f"{path}: expected {expected}, got shape {array.shape} of {array.dtype}"
        )
    values: Floats = array.astype(np.float64)
    fine = np.isfinite(values)
    if name == "intention_sequences":
        fine &= (values >= 1) & (values <= len(LABELS)) & (values == np.floor(values))
        expected = f"codes 1 to {len(LABELS)}"
    elif name == "intention_proportions":  # 1.0000000000000002 is accepted
        expected = "finite shares"
    else:
        fine &= values >= 0
        expected = "finite numbers of at least 0"
    if not fine.all():
        at = tuple(np.argwhere(~fine)[0].tolist())
        raise BenchmarkError(f"{path}: expected {expected}, got {values[at]} at {list(at)}")
    return values
