"""Every text is read once, in this run and the next; the offline set for real."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_agentbench.benchmarks.behavior_modeling.text_models import encoders, prototypes
from pytest_agentbench.benchmarks.behavior_modeling.text_models.reader import Reader
from pytest_agentbench.benchmarks.behavior_modeling.text_models.sets import ModelSet

pytestmark = pytest.mark.filterwarnings("default")  # the libraries' own are not ours to judge


class Counting:
    """An encoder that needs no library and remembers what it was asked."""

    asked: list[str] = []

    def __init__(self, folder, device=None) -> None:
        pass

    def encode(self, texts):
        Counting.asked += texts
        return np.array([[len(text), text.count("a"), 1.0] for text in texts], dtype=np.float32)


@pytest.fixture
def counted(tmp_path, monkeypatch):
    monkeypatch.setattr(encoders, "TopicEncoder", Counting)
    monkeypatch.setattr(encoders, "EmotionEncoder", Counting)
    Counting.asked = []
    for kind in ("topic", "emotion"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "config.json").write_text(kind, encoding="utf-8")
    return ModelSet("x", tmp_path / "topic", tmp_path / "emotion")


def test_a_text_is_read_once_in_a_run_and_never_again_in_the_next(counted):
    texts = ["banana", "b", "banana", "", "a" * 1000]
    first = Reader(counted)
    got = first.topics(texts)
    assert got[:, 0].tolist() == [6, 1, 6, 0, 1000]
    assert sorted(Counting.asked) == sorted(set(texts))
    first.topics(texts[::-1])
    second = Reader(counted).topics(["banana", "new", "\ud800"])
    assert second[:, 0].tolist() == [6, 3, 1]
    assert len(Counting.asked) == len(set(texts)) + 2


def test_an_emotion_is_that_of_the_first_300_characters(counted):
    reader = Reader(counted)
    assert reader.emotions(["b" * 300 + "a" * 50, "b" * 300])[:, :2].tolist() == [
        [300, 0],
        [300, 0],
    ]
    assert Counting.asked == ["b" * 300]


@pytest.mark.parametrize(
    ("config", "largest"),
    [
        ('{"id2label": {"0": "a", "1": "b", "2": "c", "3": "d"}}', 0.5),
        ('{"id2label": {"0": "a", "1": "b"}}', 1.0),
        ('{"id2label": {"0": "a", "1": "b", "2": "c"}, "problem_type": "multi_label_classification"}', 1.0),
    ],
)  # fmt: skip
def test_the_largest_error_is_known_before_the_model_is_loaded(counted, config, largest):
    (counted.emotion / "config.json").write_text(config, encoding="utf-8")
    assert Reader(counted).largest_emotion_error() == largest
    assert Reader(ModelSet("x", counted.topic, None)).largest_emotion_error() == 0.5
    assert Counting.asked == []


def test_other_weights_have_other_vectors(counted):
    Reader(counted).topics(["banana"])
    (counted.topic / "config.json").write_text("changed", encoding="utf-8")
    Reader(counted).topics(["banana"])
    assert Counting.asked == ["banana", "banana"]


def test_a_damaged_or_forbidden_cache_costs_time_and_never_a_score(counted, cache_folder):
    expected = Reader(counted).topics(["banana", "b"])
    for path in (cache_folder / "text").iterdir():
        path.write_bytes(b"this is no database, " * 100)
    assert (Reader(counted).topics(["banana", "b"]) == expected).all()
    assert (Reader(counted).topics(["banana", "b"]) == expected).all()  # has put it away
    asked = len(Counting.asked)
    Reader(counted).topics(["banana", "b"])
    assert len(Counting.asked) == asked, "expected a cache that works again"


def test_the_offline_set_tells_topics_and_emotions_apart(offline):
    texts = [
        "The ramen broth was rich and the noodles were perfect, I am so happy!",
        "Wonderful noodle soup, we enjoyed every drop of it.",
        "I am furious, the drill broke and nobody will refund me.",
        "So sad that it ended like this, I cried.",
    ]
    topics = offline.topics(texts)
    units = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    assert units[0] @ units[1] > 0.5 > units[0] @ units[2]
    emotions = offline.emotions(texts)
    assert emotions.sum(axis=1) == pytest.approx(np.ones(4))
    labels = list(prototypes.SENTENCES)
    assert [labels[n] for n in emotions.argmax(axis=1)] == ["joy", "joy", "anger", "sadness"]
