"""How far one review text is from another: sentiment, emotion, topic (0 is the same, lower is better).

Pure functions on what text models and VADER give for the texts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

EMOTION_CHARACTERS = 300  # the emotion of a text is that of its beginning
LARGEST_SENTIMENT_ERROR = 1.0
LARGEST_TOPIC_ERROR = 1.0


def sentiment_errors(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """For each pair of texts, half the absolute difference of their sentiments (-1 to 1): 0 to 1.

    >>> sentiment_errors([-1.0, 0.5], [1.0, 0.5])
    array([1., 0.])
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"expected as many texts on both sides, got {len(a)} and {len(b)}")
    errors: Floats = np.abs(a - b) / 2.0
    return errors


def emotion_errors(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """For each row, the mean over labels of the absolute difference of two probabilities.

    >>> emotion_errors([[1.0, 0.0, 0.0, 0.0]], [[0.0, 1.0, 0.0, 0.0]])
    array([0.5])
    """
    a, b = _pair(first, second)
    errors: Floats = np.abs(a - b).mean(axis=1)
    return errors


def largest_emotion_error(labels: int) -> float:
    """The error of two distributions over so many labels that share nothing.

    >>> largest_emotion_error(4)
    0.5
    """
    return 2.0 / labels


def topic_errors(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """For each row, half the cosine distance of two embeddings: 0 to 1.

    An embedding without a direction (all zeros) is as far from everything as one at right angles.

    >>> topic_errors([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    array([0. , 1. , 0.5])
    """
    a, b = _pair(first, second)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = np.einsum("ij,ij->i", a, b)
    cosines = np.divide(products, lengths, out=np.zeros(len(a)), where=lengths > 0)
    errors: Floats = (1.0 - np.clip(cosines, -1.0, 1.0)) / 2.0
    return errors


def _pair(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape:
        raise ValueError(f"expected two matrices of one shape, got {a.shape} and {b.shape}")
    return a, b
