"""The published pipeline, through the real loaders, against the libraries' own one-by-one results."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pytest_agentbench.benchmarks.behavior_modeling.text_models.encoders import (
    EmotionEncoder,
    TopicEncoder,
    batches,
    encodable,
    token_limit,
)
from pytest_agentbench.metrics.review_text import EMOTION_CHARACTERS

pytestmark = pytest.mark.filterwarnings("default")  # the libraries' own are not ours to judge

TEXTS = ["good", "bad and small", "", "a text " * 40, "learn!", "x" * 290, "good"] + [
    f"text {n} " * (n % 9) for n in range(60)
]


def test_emotions_are_those_of_the_librarys_pipeline(tiny_models):
    import transformers

    pipeline = transformers.pipeline(
        "text-classification", model=str(tiny_models / "emotion"), top_k=None, device="cpu"
    )
    encoder = EmotionEncoder(tiny_models / "emotion", "cpu")
    got = encoder.encode(TEXTS)
    assert encoder.labels == ["joy", "optimism", "anger", "sadness"]
    for text, row in zip(TEXTS, got, strict=True):
        expected = {entry["label"]: entry["score"] for entry in pipeline([text])[0]}
        assert row == pytest.approx([expected[label] for label in encoder.labels], abs=1e-5)
    assert np.ptp(got, axis=0).max() > 0.05, "the texts must differ for this to mean anything"


def test_topics_are_those_of_the_sentence_transformer(tiny_models):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(tiny_models / "topic"), device="cpu")
    got = TopicEncoder(tiny_models / "topic", "cpu").encode(TEXTS)
    expected = np.stack([model.encode(text) for text in TEXTS])
    assert np.abs(got - expected).max() < 1e-4
    assert np.ptp(got, axis=0).max() > 0.05


@pytest.mark.parametrize("text", ["好" * 300, "🙂" * 300, "\ud800 broken", "a\x00b", "长" * 5000])
def test_texts_beyond_the_limit_or_beyond_utf8_are_read_all_the_same(tiny_models, text):
    encoder = EmotionEncoder(tiny_models / "emotion", "cpu")
    tokens = encoder._tokenizer(encodable(text))["input_ids"]
    if len(text) == EMOTION_CHARACTERS:
        assert len(tokens) > 514, "otherwise this text does not try the limit"
    shares = encoder.encode([text, "good"])
    assert shares.sum(axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert np.isfinite(TopicEncoder(tiny_models / "topic", "cpu").encode([text])).all()


@pytest.mark.parametrize(
    ("stated", "kind", "positions", "limit"),
    [
        (10**30, "roberta", 514, 512),
        (10**30, "roberta", 130, 128),
        (10**30, "bert", 128, 128),
        (64, "roberta", 514, 64),
        (10**30, "other", None, 512),
    ],
)
def test_a_text_is_cut_where_the_models_positions_end(stated, kind, positions, limit):
    tokenizer = SimpleNamespace(model_max_length=stated)
    config = SimpleNamespace(model_type=kind, pad_token_id=1, max_position_embeddings=positions)
    assert token_limit(tokenizer, config) == limit


def test_batches_hold_every_text_once_and_stay_small():
    lengths = [(n * 37) % 500 + 1 for n in range(333)]
    made = list(batches(lengths, tokens=1000))
    assert sorted(index for batch in made for index in batch) == list(range(333))
    for batch in made:
        longest = max(lengths[index] for index in batch)
        assert len(batch) * longest <= max(1000, longest)
    assert len(made) < 333 / 3
