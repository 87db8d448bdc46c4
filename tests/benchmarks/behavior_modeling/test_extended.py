"""The metrics beside the published ones, against formulas written out on a few records."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from pytest_agentbench.benchmarks.behavior_modeling import extended, measured
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.behavior_modeling.text_models import sentiment
from pytest_agentbench.metrics.bootstrap import intervals
from pytest_agentbench.metrics.estimator import Absent
from pytest_agentbench.runs.record import Record

RANKED = {"target": "recommendation", "user_id": "u1", "candidate_category": "product",
          "candidate_list": [f"i{n}" for n in range(8)]}  # fmt: skip
TRUTHS = [(5, "good tea and bread"), (2, "bad tea"), (4, "a fine place for tea")]
ANSWERS = [(4.0, "good tea"), (4.4, "good tea"), (4.0, "good bread")]
COMPOUNDS = {"good tea": 0.5, "good bread": 0.4, "good tea and bread": 0.6, "bad tea": -0.4,
             "a fine place for tea": 0.1}  # fmt: skip
VECTORS = {"good tea": [1.0, 0.0], "good bread": [0.8, 0.6], "bad tea": [0.0, 1.0]}


class Reading:
    """Stands for the text models: known numbers for known texts."""

    def prepare(self, texts):
        pass

    def emotions(self, texts):
        return np.full((len(texts), 4), 0.25)

    def topics(self, texts):
        return np.array([VECTORS.get(text, [0.6, 0.8]) for text in texts])

    def largest_emotion_error(self):
        return 0.5


@pytest.fixture
def dataset(folder, load, monkeypatch):
    reviews = [
        {"task_id": 10 + n, "target": "review_writing", "user_id": f"u{n}", "item_id": "i2",
         "ground_truth": {"stars": stars, "review": text}}
        for n, (stars, text) in enumerate(TRUTHS)
    ]  # fmt: skip
    ranked = [{"task_id": n, **RANKED, "ground_truth": f"i{n}"} for n in (0, 6)]
    loaded = load(folder(test_tasks=[*ranked, *reviews]))
    monkeypatch.setattr(loaded, "reader", Reading)
    monkeypatch.setattr(sentiment, "missing", lambda: None)
    monkeypatch.setattr(
        sentiment, "compound_scores", lambda texts: [COMPOUNDS[text] for text in texts]
    )
    return loaded


@pytest.fixture
def records(dataset):
    answers = [{"item_list": [f"i{n}" for n in (3, 0, 1, 2, 4, 5, 6)]}] * 2
    answers += [{"stars": stars, "review": text} for stars, text in ANSWERS]
    return [
        Record("BehaviorModeling", str(key), "ok", answer=answer)
        for key, answer in zip(dataset.keys, answers, strict=True)
    ]


def scores(dataset, records, weights=None):
    return BehaviorModeling().score_run(dataset, records)("extended", weights)


def cosine(one, two):
    return float(np.dot(one, two) / np.linalg.norm(one) / np.linalg.norm(two))


def test_every_metric_as_it_is_defined(dataset, records):
    got = scores(dataset, records)
    assert got["mrr"] == pytest.approx((1 / 2 + 1 / 7) / 2)
    assert got["ndcg_5"] == pytest.approx((1 / math.log2(3) + 0) / 2)
    assert got["ndcg_10"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(8)) / 2)
    assert got["star_mae"] == pytest.approx((1 + 2.4 + 0) / 3)
    assert got["star_rmse"] == pytest.approx(math.sqrt((1 + 2.4**2) / 3))
    assert got["star_exact"] == pytest.approx(1 / 3)
    # All three were given four stars: their mean is 12.4 / 3, that of the truth 11 / 3.
    assert got["star_calibration_error"] == pytest.approx(abs(11 - 12.4) / 3)
    assert got["stars_real"] == pytest.approx(11 / 3)
    assert got["stars_generated"] == pytest.approx(12.4 / 3)
    assert got["stars_difference"] == pytest.approx(1.4 / 3)
    assert got["sentiment_real"] == pytest.approx((0.6 - 0.4 + 0.1) / 3)
    assert got["sentiment_difference"] == pytest.approx((1.4 - 0.3) / 3)
    assert (got["words_real"], got["words_generated"]) == (pytest.approx(11 / 3), 2)
    assert got["distinct_2_generated"] == pytest.approx(2 / 3)  # good tea, good bread
    assert got["distinct_2_real"] == 1
    assert got["word_similarity_generated"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    pairs = itertools.combinations(([1, 0], [1, 0], [0.8, 0.6]), 2)
    assert got["topic_similarity_generated"] == pytest.approx(np.mean([cosine(*p) for p in pairs]))
    pairs = itertools.combinations(([0.6, 0.8], [0, 1], [0.6, 0.8]), 2)
    assert got["topic_similarity_real"] == pytest.approx(np.mean([cosine(*p) for p in pairs]))
    assert list(got) == [metric.name for metric in extended.METRICS]


def test_a_failed_sample_is_a_miss_and_four_stars_off_but_writes_no_review(dataset, records):
    failed = [
        dataclasses.replace(record, status="error", answer=None) if n in (0, 2) else record
        for n, record in enumerate(records)
    ]
    got = scores(dataset, failed)
    assert got["mrr"] == pytest.approx((0 + 1 / 7) / 2)
    assert got["star_mae"] == pytest.approx((4 + 2.4 + 0) / 3)
    assert got["star_exact"] == pytest.approx(1 / 3)
    assert got["stars_real"] == pytest.approx((2 + 4) / 2)
    assert got["stars_generated"] == pytest.approx((4.4 + 4) / 2)
    assert got["star_calibration_error"] == pytest.approx(abs(6 - 8.4) / 2)


def test_what_a_run_cannot_have_is_absent_with_the_reason(dataset, records, monkeypatch):
    rankings = scores(dataset, records[:2])
    assert rankings["mrr"] > 0
    assert (
        rankings["star_mae"]
        == rankings["words_real"]
        == Absent("the run has no review_writing samples")
    )
    reviews = scores(dataset, records[2:3])
    assert reviews["mrr"] == Absent("the run has no recommendation samples")
    assert reviews["word_similarity_real"] == Absent("one review alone is like no other")
    failed = [dataclasses.replace(record, status="error") for record in records]
    assert scores(dataset, failed)["star_mae"] == 4
    assert scores(dataset, failed)["stars_difference"] == Absent(
        "none of 3 review_writing samples has a valid answer"
    )
    monkeypatch.setattr(dataset, "reader", lambda: None)
    monkeypatch.setattr(sentiment, "missing", lambda: "no lexicon")
    got = scores(dataset, records)
    assert got["sentiment_difference"] == Absent("no lexicon")
    assert isinstance(got["topic_similarity_generated"], Absent)
    assert got["word_similarity_generated"] == pytest.approx(2 / 3)


def test_a_resample_moves_likeness_as_drawing_both_texts_of_a_pair_does(dataset):
    """Against the bootstrap that compares every pair of every resample, on 60 texts."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(60, 4)) + 0.7
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    columns = {name: np.zeros(60) for name in extended.columns(1)}
    columns |= {name: np.asarray(v) for name, v in extended.topics(vectors, vectors).items()}
    run = measured.Measured(np.ones(60, bool), np.zeros(60, bool), columns)

    def estimate(reading, weights):
        return {"fast": extended.estimate(run, weights)["topic_similarity_real"]}

    def every_pair(reading, weights):
        rows = np.ones((1, 60)) if weights is None else weights
        sums = ((rows @ units) ** 2).sum(axis=1) - (rows**2).sum(axis=1)
        found = sums / (rows.sum(axis=1) ** 2 - (rows**2).sum(axis=1))
        return {"slow": found[0] if weights is None else found}

    people = [str(n) for n in range(60)]
    fast = intervals(estimate, ["r"], people, 0)["r"]["fast"]
    slow = intervals(every_pair, ["r"], people, 0)["r"]["slow"]
    assert float(estimate("r", None)["fast"]) == pytest.approx(every_pair("r", None)["slow"])
    assert fast[1] - fast[0] == pytest.approx(slow[1] - slow[0], rel=0.05)


def test_a_sample_has_its_own_values(dataset, records):
    ranked = BehaviorModeling().score_sample(dataset.sample(0), records[0].answer)
    assert ranked["extended"]["mrr"] == 0.5
    review = BehaviorModeling().score_sample(dataset.sample(2), records[2].answer)
    assert review["extended"] == {"star_mae": 1.0}
