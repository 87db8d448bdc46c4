"""The published pipeline, through the real loaders, against the libraries' own one-by-one results."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from pytest_agentbench.benchmarks.behavior_modeling.text_models.encoders import (
    CPU_TOKENS,
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


@pytest.fixture
def two_threads():
    """As on a machine with two cores, whatever this one has."""
    torch = pytest.importorskip("torch", reason="needs pip install 'pytest-agentbench[text]'")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_batches_at_a_time_have_the_numbers_of_one_text_by_itself(offline, two_threads):
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = offline.models.topic
    words = ["the", "noodles", "were", "cold", "but", "we", "laughed", "and", "came", "back"]
    texts = [" ".join(words[(n + k) % 10] for k in range(n * n % 97)) for n in range(24)]
    texts += ["", "good", "good", "word " * 2000]
    assert sum(text.count(" ") for text in texts[:24]) > CPU_TOKENS, (
        "expected texts for several batches"
    )
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder)
    expected = []
    torch.set_num_threads(1)  # quicker where other tests have the other core
    for text in texts:  # no batch, no padding: the mean of the last layer, of length 1
        tokens = tokenizer(text, truncation=True, max_length=256, return_tensors="pt")
        with torch.inference_mode():
            mean = model.eval()(**tokens).last_hidden_state[0].mean(dim=0)
        expected.append((mean / mean.norm()).numpy())
    torch.set_num_threads(2)
    got = TopicEncoder(folder, "cpu").encode(texts)
    assert np.abs(got - np.stack(expected)).max() < 1e-6


@pytest.mark.parametrize(("kind", "encoder"), [("topic", TopicEncoder), ("emotion", EmotionEncoder)])  # fmt: skip
def test_every_core_has_a_batch_of_its_own(tiny_models, two_threads, kind, encoder):
    import torch

    loaded = encoder(tiny_models / kind, "cpu")
    seen = []

    def spy(*_):
        seen.append((threading.get_ident(), torch.get_num_threads()))
        time.sleep(0.01)  # so that no thread takes them all

    loaded._model.register_forward_pre_hook(spy)
    loaded.encode(["a text " * 30] * 60)
    assert len({thread for thread, _ in seen}) == 2
    assert {of_an_operation for _, of_an_operation in seen} == {1}
    assert torch.get_num_threads() == 2
    seen.clear()
    loaded.encode(["one text"])
    assert seen == [(threading.get_ident(), 2)], "expected one batch to have all threads"


def test_a_tokenizer_is_never_used_by_two_threads_at_a_time(tiny_models, two_threads, monkeypatch):
    loaded = TopicEncoder(tiny_models / "topic", "cpu")
    tokenizer, inside, most = type(loaded._model.tokenizer), [], []
    original = tokenizer.__call__

    def spy(self, *args, **kwargs):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.005)
        try:
            return original(self, *args, **kwargs)
        finally:
            inside.pop()

    monkeypatch.setattr(tokenizer, "__call__", spy)
    loaded.encode(["a text " * 30] * 60)
    assert len(most) > 4
    assert max(most) == 1


def test_a_batch_that_fails_ends_the_reading_and_gives_the_threads_back(tiny_models, two_threads):
    import torch

    loaded = EmotionEncoder(tiny_models / "emotion", "cpu")

    def fail(*_):
        raise MemoryError("no more")

    hook = loaded._model.register_forward_pre_hook(fail)
    with pytest.raises(MemoryError, match="no more"):
        loaded.encode(["a text " * 30] * 60)
    assert torch.get_num_threads() == 2
    hook.remove()
    assert loaded.encode([]).shape == (0, 4)
    assert loaded.encode(["good"] * 3).shape == (3, 4)
