"""Reads texts with a set of models: every text once, remembered within the run and across runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from pytest_agentbench.base.progress import Progress
from pytest_agentbench.benchmarks.behavior_modeling.text_models import encoders, prototypes
from pytest_agentbench.benchmarks.behavior_modeling.text_models.encoders import Encoder
from pytest_agentbench.benchmarks.behavior_modeling.text_models.sets import ModelSet
from pytest_agentbench.benchmarks.behavior_modeling.text_models.vector_cache import (
    Vector,
    VectorCache,
)
from pytest_agentbench.metrics.review_text import EMOTION_CHARACTERS, largest_emotion_error

Floats = npt.NDArray[np.float64]

_AT_A_TIME = 512  # texts between two writes to the cache, with a progress line


class Reader:
    """Topic embeddings and emotion distributions of texts. A model is loaded when a text needs it."""

    def __init__(self, models: ModelSet, device: str | None = None) -> None:
        self.models = models
        self.digests = models.digests()
        topic, emotion = models.topic, models.emotion
        self._topic = _Remembering(
            "topic", self.digests["topic"], lambda: encoders.TopicEncoder(topic, device)
        )
        self._emotion: _Remembering | None = None
        if emotion is not None:
            self._emotion = _Remembering(
                "emotion", self.digests["emotion"], lambda: encoders.EmotionEncoder(emotion, device)
            )

    def topics(self, texts: Sequence[str]) -> Floats:
        """One embedding a text, of the whole text as far as the model reads."""
        return self._topic.vectors(texts)

    def emotions(self, texts: Sequence[str]) -> Floats:
        """One distribution over the labels a text, of the text's beginning."""
        beginnings = [text[:EMOTION_CHARACTERS] for text in texts]
        if self._emotion is not None:
            return self._emotion.vectors(beginnings)
        if not texts:
            return np.zeros((0, len(prototypes.SENTENCES)))
        known = self._topic.vectors(prototypes.sentences())
        return prototypes.distributions(self._topic.vectors(beginnings), known)

    def prepare(self, texts: Iterable[str]) -> None:
        """Encodes all that :meth:`topics` and :meth:`emotions` will be asked for, in few calls.

        A short text's beginning is the text itself: with prototypes it is encoded once for both.
        """
        listed = list(texts)
        beginnings = [text[:EMOTION_CHARACTERS] for text in listed]
        if self._emotion is None:
            self._topic.remember([*listed, *beginnings, *prototypes.sentences()])
        else:
            self._topic.remember(listed)
            self._emotion.remember(beginnings)

    def largest_emotion_error(self) -> float:
        """The largest difference of two distributions, known without loading the model."""
        if self.models.emotion is None:
            return largest_emotion_error(len(prototypes.SENTENCES))
        config = json.loads((self.models.emotion / "config.json").read_text(encoding="utf-8"))
        if config.get("problem_type") == "multi_label_classification":
            return 1.0  # each label by itself: they need not add up to 1
        labels = config.get("id2label") or ("LABEL_0", "LABEL_1")  # two unless the file says more
        return largest_emotion_error(len(labels))

    def label(self) -> str:
        """A digest for equal models: scores are compared only where it is equal."""
        parts: list[object] = [self.digests]
        if self.models.emotion is None:
            parts += [prototypes.SENTENCES, prototypes.TEMPERATURE]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


class _Remembering:
    """An encoder behind the run's memory and the cache on disk."""

    def __init__(self, what: str, digest: str, load: Callable[[], Encoder]) -> None:
        self._what = what
        self._load = load
        self._encoder: Encoder | None = None
        self._disk = VectorCache(hashlib.sha256(f"{what} {digest}".encode()).hexdigest())
        self._known: dict[str, Vector] = {}

    def vectors(self, texts: Sequence[str]) -> Floats:
        self.remember(texts)
        return np.array([self._known[text] for text in texts], dtype=np.float64)

    def remember(self, texts: Iterable[str]) -> None:
        wanted = [text for text in dict.fromkeys(texts) if text not in self._known]
        if not wanted:
            return
        self._known.update(self._disk.read(wanted))
        # By length, so that a chunk's batches hold texts alike; ties by text, so that the order in
        # which the samples came decides nothing.
        fresh = sorted((t for t in wanted if t not in self._known), key=lambda t: (len(t), t))
        if not fresh:
            return
        if self._encoder is None:
            self._encoder = self._load()
        progress = Progress(f"reading texts ({self._what})", "texts", len(fresh))
        for start in range(0, len(fresh), _AT_A_TIME):
            chunk = fresh[start : start + _AT_A_TIME]
            encoded = dict(zip(chunk, self._encoder.encode(chunk), strict=True))
            self._known.update(encoded)
            self._disk.write(encoded)
            progress.add(len(chunk))
