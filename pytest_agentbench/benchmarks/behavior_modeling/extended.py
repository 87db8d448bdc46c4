"""The reading ``extended``: what people ask beside the published metrics, never mixed into them.

Rankings (MRR, NDCG), stars, and whether generated reviews are too kind or too alike. A failed sample
counts as the worst in rankings and star errors. Calibration and the comparison with real reviews are
about reviews that were written: they take valid answers only, and the real reviews of the same samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION, REVIEW
from pytest_agentbench.benchmarks.protocol import Metric
from pytest_agentbench.metrics import (
    discounted_gain,
    distinct,
    reciprocal_rank,
    self_similarity,
    star_calibration,
    star_distance,
)
from pytest_agentbench.metrics.bootstrap import sums
from pytest_agentbench.metrics.estimator import Absent, Values
from pytest_agentbench.metrics.words import numbered

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.behavior_modeling.measured import Measured

Floats = npt.NDArray[np.float64]
Columns = dict[str, npt.ArrayLike]

READING = "extended"
RANKINGS = ("mrr", *(f"ndcg_{n}" for n in discounted_gain.CUTS))
SIDES = ("real", "generated")
_GAPS = tuple(f"gap_{star}" for star in star_calibration.STARS)
# What generated reviews are compared with real ones in: name, lowest, highest, unit, in words.
PAIRS = (
    ("stars", 1, 5, "", "mean stars"),
    ("sentiment", -1, 1, "", "mean sentiment (VADER's compound)"),
    ("words", 0, None, "", "mean number of words"),
    ("distinct_2", 0, 1, "", "different pairs of words among all"),
    ("word_similarity", 0, 1, "", "likeness of the reviews, by word counts"),
    ("topic_similarity", -1, 1, "", "likeness of the reviews, by embeddings"),
)
_POOLED = ("distinct_2", "word_similarity", "topic_similarity")


def _pair_metrics() -> list[Metric]:
    found = []
    for name, low, high, unit, words in PAIRS:
        pooled = name in _POOLED
        for side in SIDES:
            found.append(
                Metric(
                    f"{name}_{side}", "none", low, high, unit, f"{words}: {side}", pooled, REVIEW
                )
            )
        span = None if high is None else high - low
        low_end = None if span is None else -span
        found.append(
            Metric(
                f"{name}_difference", "zero", low_end, span, unit,
                f"{words}: generated - real", pooled, REVIEW,
            )
        )  # fmt: skip
    return found


METRICS = (
    Metric("mrr", "higher", 0, 1, description="1 / place of the true item", target=RECOMMENDATION),
    Metric("ndcg_5", "higher", 0, 1, description="discounted gain in the first 5", target=RECOMMENDATION),
    Metric("ndcg_10", "higher", 0, 1, description="discounted gain in the first 10", target=RECOMMENDATION),
    Metric("star_mae", "lower", 0, 4, description="mean absolute error of the stars", target=REVIEW),
    Metric("star_rmse", "lower", 0, 4, description="root mean square error of the stars", target=REVIEW),
    Metric("star_exact", "higher", 0, 1, description="share of reviews with the true star", target=REVIEW),
    Metric(
        "star_calibration_error", "lower", 0, 4,
        description="mean truth of a given star against that star", target=REVIEW,
    ),
    *_pair_metrics(),
)  # fmt: skip


def columns(count: int) -> dict[str, Floats]:
    """The columns of so many records, as failed ones have them."""
    found = {name: np.zeros(count) for name in (*RANKINGS, "star_exact", *_GAPS)}
    found["star_distance"] = np.full(count, star_distance.LARGEST_DISTANCE)
    for name, *_ in PAIRS:
        for side in SIDES:
            found[f"{name}_{side}"] = np.zeros(count)
    return found | {f"pairs_{side}": np.zeros(count) for side in SIDES}


def ranking(ranked: Sequence[str], truth: str) -> dict[str, float]:
    """The metrics of one ranked list."""
    found = {"mrr": reciprocal_rank.reciprocal_rank(ranked, truth)}
    return found | {
        f"ndcg_{n}": discounted_gain.ndcg(ranked, truth, n) for n in discounted_gain.CUTS
    }


def pair(name: str, generated: npt.ArrayLike, real: npt.ArrayLike) -> Columns:
    return {f"{name}_generated": generated, f"{name}_real": real}


def stars(given: Sequence[float], true: Sequence[float]) -> Columns:
    """The columns that need the stars of the reviews."""
    gaps = star_calibration.gaps(given, true)
    found: Columns = dict(zip(_GAPS, gaps.T, strict=True))
    found["star_distance"] = star_distance.distances(given, true)
    found["star_exact"] = star_distance.exact(given, true)
    return found | pair("stars", given, true)


def texts(generated: Sequence[str], real: Sequence[str]) -> Columns:
    """The columns that need the words of the reviews."""
    found: Columns = {}
    for side, listed in (("generated", generated), ("real", real)):
        words = numbered(listed)
        shares, pairs = distinct.distinct_shares(words)
        found |= {f"distinct_2_{side}": shares, f"pairs_{side}": pairs}
        found[f"words_{side}"] = words.lengths
        if len(listed) > 1:
            found[f"word_similarity_{side}"] = self_similarity.words_to_others(words)
    return found


def topics(generated: Floats, real: Floats) -> Columns:
    """The columns that need the embeddings of the reviews."""
    if len(generated) < 2:
        return {}
    return pair(
        "topic_similarity", self_similarity.to_others(generated), self_similarity.to_others(real)
    )


def estimate(measured: Measured, weights: Floats | None) -> Values:
    """Every metric of the reading, for the records or for resamples of them."""
    result: dict[str, Any] = {}
    every, written = ~measured.recommendation, ~measured.recommendation & measured.valid
    ranked = _Sums(measured, measured.recommendation, weights, RANKINGS)
    missing = measured.nothing(measured.recommendation, RECOMMENDATION)
    for name in RANKINGS:
        result[name] = missing or ranked.mean(name)
    given = _Sums(
        measured, every, weights, ("star_distance", "star_exact"), squared="star_distance"
    )
    missing = measured.nothing(every, REVIEW)
    result["star_mae"] = missing or given.mean("star_distance")
    result["star_rmse"] = missing or _plain(star_distance.root_of_mean(given.mean("squared")))
    result["star_exact"] = missing or given.mean("star_exact")
    missing = measured.nothing(written, REVIEW)
    if missing is not None:
        result |= {metric.name: missing for metric in METRICS if metric.name not in result}
        return result
    compared = [f"{name}_{side}" for name, *_ in PAIRS for side in SIDES]
    sums = _Sums(measured, written, weights, (*_GAPS, *compared, "pairs_real", "pairs_generated"))
    gaps = np.stack([np.asarray(sums.of(name)) for name in _GAPS], axis=-1)
    with np.errstate(invalid="ignore"):  # a resample may have no review
        error = star_calibration.calibration_error(gaps, sums.counted)
    result["star_calibration_error"] = _plain(error)
    for name, *_ in PAIRS:
        values: dict[str, Any] = {side: _side(measured, sums, name, side) for side in SIDES}
        result |= {f"{name}_{side}": value for side, value in values.items()}
        absent = next((value for value in values.values() if isinstance(value, Absent)), None)
        result[f"{name}_difference"] = absent or values["generated"] - values["real"]
    return result


def _side(measured: Measured, sums: _Sums, name: str, side: str) -> Any:
    """One side's value of what is compared."""
    column = f"{name}_{side}"
    if name in measured.absent:
        return Absent(measured.absent[name])
    if name == "distinct_2":
        if not measured.columns[f"pairs_{side}"].any():
            return Absent(f"no {side} review has two words")
        return sums.ratio(column, f"pairs_{side}")
    if not name.endswith("_similarity"):
        return sums.mean(column)
    if sums.written < 2:
        return Absent("one review alone is like no other")
    if sums.whole is None:
        return sums.mean(column)
    # Of each text we know its mean likeness to all others. A resample draws both texts of every
    # pair, so to first order it moves twice as far as the mean of those does (Hoeffding 1948).
    centre = math.fsum(sums.whole[column]) / sums.written
    return 2 * sums.mean(column) - centre


class _Sums:
    """Sums of columns over the records that count: of all of them, or of every resample at once."""

    def __init__(
        self,
        measured: Measured,
        counted: npt.NDArray[np.bool_],
        weights: Floats | None,
        names: Sequence[str],
        squared: str | None = None,
    ) -> None:
        chosen = {name: np.where(counted, measured.columns[name], 0.0) for name in names}
        if squared is not None:
            chosen["squared"] = chosen[squared] ** 2
        self.written = int(counted.sum())
        self.whole = None if weights is None else chosen
        if weights is None:
            self.counted: Any = self.written
            self._sums: dict[str, Any] = {n: math.fsum(values) for n, values in chosen.items()}
        else:
            # One product for all columns: the weights, which are large, are read once.
            table = np.stack([counted.astype(np.float64), *chosen.values()], axis=1)
            self.counted, *columns = sums(table, weights).T
            self._sums = dict(zip(chosen, columns, strict=True))

    def of(self, name: str) -> Any:
        return self._sums[name]

    def mean(self, name: str) -> Any:
        return self._divided(self._sums[name], self.counted)

    def ratio(self, name: str, by: str) -> Any:
        return self._divided(self._sums[name], self._sums[by])

    def _divided(self, first: Any, second: Any) -> Any:
        if self.whole is None:
            return first / second if second else math.nan
        with np.errstate(invalid="ignore", divide="ignore"):  # a resample may have nobody of a kind
            return first / second


def _plain(value: Floats) -> Any:
    """A number where there is one: weights give an array."""
    return float(value) if value.ndim == 0 else value
