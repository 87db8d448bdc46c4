"""A run scored with `--text-models published`, against the libraries used one pair at a time."""

from __future__ import annotations

import shutil
import time
from types import SimpleNamespace

import numpy as np
import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.behavior_modeling.text_models import sentiment, sets
from pytest_agentbench.runs.record import Record

pytestmark = pytest.mark.filterwarnings("default")  # the libraries' own are not ours to judge


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    return SimpleNamespace(
        dataset="demo", mode="test", seed=0, bases=(),
        parameters={"device": "cpu", "text_models": "published"},
    )  # fmt: skip


@pytest.fixture
def published(settings, tiny_models, tmp_path):
    """The tiny models where the hub's client would have put the published ones."""
    for kind, repository in (
        ("emotion", sets.EMOTION_REPOSITORY),
        ("topic", sets.TOPIC_REPOSITORY),
    ):
        folder = tmp_path / "hf" / "hub" / f"models--{repository.replace('/', '--')}"
        (folder / "refs").mkdir(parents=True)
        (folder / "refs" / "main").write_text("c0ffee", encoding="ascii")
        shutil.copytree(tiny_models / kind, folder / "snapshots" / "c0ffee")
    return settings


def test_the_run_has_the_numbers_of_the_published_code(published, tiny_models):
    if sentiment.missing():
        pytest.skip("needs NLTK and VADER's lexicon: pip install 'pytest-agentbench[text]'")
    import transformers
    from sentence_transformers import SentenceTransformer

    benchmark = BehaviorModeling()
    dataset = benchmark.load(published)
    reviews = [task for task in dataset.tasks if task.target == "review_writing"][:12]
    answers = [f"{n} stars, " + "a longer text, " * (3 * n) for n in range(len(reviews))]
    records = [
        Record(benchmark.name, str(task.key), "ok", answer={"stars": 3.0, "review": text})
        for task, text in zip(reviews, answers, strict=True)
    ]
    got = benchmark.score_run(dataset, records)("published-0.1.4", None)

    emotion = transformers.pipeline(
        "text-classification", model=str(tiny_models / "emotion"), top_k=None, device="cpu"
    )
    topic = SentenceTransformer(str(tiny_models / "topic"), device="cpu")
    emotions, topics = [], []
    for task, text in zip(reviews, answers, strict=True):
        pair = (text, task.truth["review"])
        first, second = (
            {entry["label"]: entry["score"] for entry in emotion([one[:300]])[0]} for one in pair
        )
        emotions.append(np.mean([abs(first[label] - second[label]) for label in first]))
        a, b = (topic.encode(one).astype(float) for one in pair)
        topics.append((1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)) / 2)
    assert got["emotion_error"] == pytest.approx(np.mean(emotions), abs=1e-5)
    assert got["topic_error"] == pytest.approx(np.mean(topics), abs=1e-5)
    assert got["emotion_error"] > 0.01
    assert got["topic_error"] > 0.01
    expected = 1 - (
        0.25 * got["sentiment_error"] + 0.25 * np.mean(emotions) + 0.5 * np.mean(topics)
    )
    assert got["review_generation"] == pytest.approx(expected, abs=1e-5)

    details = benchmark.describe(dataset, records)
    assert details["text_models"] == "published"
    assert len(details["text_models_version"]) == 16
    assert "text models: published" in details["notes"]


def test_a_run_without_the_weights_ends_before_its_first_sample(settings):
    started = time.process_time()  # nothing is waited for, and other load does not count
    with pytest.raises(BenchmarkError, match=r"hf download|pip install"):
        BehaviorModeling().load(settings)
    assert time.process_time() - started < 1
