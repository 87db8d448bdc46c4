"""Emotion without a classifier: how close a text is to sentences that express each label.

A stand-in for the published classifier where its weights cannot be had. The labels are the published
ones. A text's distribution is softmax(T * cosine) over the centroids of the labels' sentences.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

TEMPERATURE = 25.0
SENTENCES = {
    "anger": (
        "I am furious about how they treated me.",
        "This is outrageous, I want my money back right now.",
        "What a rip-off, they lied to us and did not even apologise.",
        "The rude staff made my blood boil.",
        "I hate this thing, it is garbage and I feel cheated.",
        "Unacceptable, nobody answered and I am sick of it.",
        "How dare they sell something this badly made?",
        "It makes me so mad that I wasted my evening on this.",
    ),
    "joy": (
        "I love it, I could not be happier.",
        "We had a wonderful time and laughed all evening.",
        "What a delight, every bite was delicious.",
        "Absolutely fantastic, it made my day.",
        "This book was pure fun from the first page to the last.",
        "Such friendly people, we left with a big smile.",
        "It works perfectly and I am thrilled with it.",
        "Amazing, the best present I have ever got.",
    ),
    "optimism": (
        "I am looking forward to coming back and trying more.",
        "It has promise, and I expect the next one to be even better.",
        "A few small things to improve, but I believe they will get there.",
        "I hope this will last for years, so far so good.",
        "Give it a chance, it grows on you.",
        "This story gave me hope that people can change.",
        "I am confident that it will help anybody who keeps at it.",
        "They are new and learning, I wish them all the best.",
    ),
    "sadness": (
        "I am so disappointed, I had wanted to like it.",
        "It broke after a week and now I am left with nothing.",
        "The ending made me cry, it was heartbreaking.",
        "Sadly the place is not what it used to be.",
        "I felt lonely and let down the whole time.",
        "What a pity, a good idea and such a dull result.",
        "It was a gloomy, depressing meal and we hardly spoke.",
        "I miss how it was before, it only makes me sad now.",
    ),
}


def sentences() -> list[str]:
    """All prototype sentences, label after label."""
    return [sentence for label in SENTENCES.values() for sentence in label]


def distributions(texts: npt.ArrayLike, prototypes: npt.ArrayLike) -> Floats:
    """Label probabilities of embedded texts, given the embeddings of :func:`sentences`."""
    units = _units(prototypes)
    per_label = len(units) // len(SENTENCES)
    centroids = _units(units.reshape(len(SENTENCES), per_label, -1).mean(axis=1))
    scores = TEMPERATURE * (_units(texts) @ centroids.T)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _units(vectors: npt.ArrayLike) -> Floats:
    matrix = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(matrix, axis=-1, keepdims=True)
    units: Floats = matrix / np.where(lengths > 0, lengths, 1.0)
    return units
