"""Every metric of both readings against formulas written out, and what failed samples cost."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pytest_agentbench.benchmarks.behavior_modeling import scoring
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.behavior_modeling.text_models import sentiment
from pytest_agentbench.metrics.estimator import Absent
from pytest_agentbench.runs.record import Record

BENCHMARK = BehaviorModeling()


class Reading:
    """Stands for the text models: known numbers for known texts."""

    def prepare(self, texts):
        pass

    def emotions(self, texts):
        return np.array(
            [[1.0, 0, 0, 0] if "good" in t else [0, 0, 0.5, 0.5] for t in texts]
        ).reshape(-1, 4)

    def topics(self, texts):
        return np.array([[1.0, 0] if "tea" in t else [0, 1.0] for t in texts]).reshape(-1, 2)

    def label(self):
        return "known-numbers"

    def largest_emotion_error(self):
        return 0.5


@pytest.fixture
def tasks():
    ranked = {"target": "recommendation", "user_id": "u1", "candidate_category": "product",
              "candidate_list": [f"i{n}" for n in range(8)]}  # fmt: skip
    review = {"target": "review_writing", "user_id": "u2", "item_id": "i2"}
    return [
        {"task_id": 1, **ranked, "ground_truth": "i0"},
        {"task_id": 2, **ranked, "ground_truth": "i2"},
        {"task_id": 3, **review, "ground_truth": {"stars": 5, "review": "good tea"}},
        {"task_id": 4, **review, "ground_truth": {"stars": 2, "review": "bad coffee"}},
    ]


@pytest.fixture
def dataset(folder, load, tasks, monkeypatch):
    loaded = load(folder(test_tasks=tasks))
    monkeypatch.setattr(loaded, "reader", Reading)
    monkeypatch.setattr(sentiment, "missing", lambda: None)
    compounds = {"good tea": 0.6, "bad coffee": -0.4, "good coffee": 0.2}
    monkeypatch.setattr(sentiment, "compound_scores", lambda texts: [compounds[t] for t in texts])
    return loaded


def record(sample, answer=None, status="ok"):
    return Record("BehaviorModeling", sample, status, answer=answer)


@pytest.fixture
def records():
    ranking = {"item_list": ["i0", "i1", "i2", "i3"]}
    return [
        record("recommendation[1]", ranking),
        record("recommendation[2]", ranking),
        record("review_writing[3]", {"stars": 4.0, "review": "good coffee"}),
        record("review_writing[4]", {"stars": 2.0, "review": "bad coffee"}),
    ]


def scores(dataset, records, reading="documented", weights=None):
    return BENCHMARK.score_run(dataset, records)(reading, weights)


def test_every_metric_as_the_document_defines_it(dataset, records):
    got = scores(dataset, records)
    sentiment_error = ((0.6 - 0.2) / 2 + 0) / 2
    topic_error = (0.5 + 0) / 2  # right angles
    text = 1 - (0.25 * sentiment_error + 0.25 * 0 + 0.5 * topic_error)
    stars = 1 - ((1 / 5 + 0) / 2) / 5
    expected = {
        "top_1_hit_rate": 0.5, "top_3_hit_rate": 1.0, "top_5_hit_rate": 1.0,
        "average_hit_rate": 2.5 / 3, "preference_estimation": stars,
        "sentiment_error": sentiment_error, "emotion_error": 0.0, "topic_error": topic_error,
        "review_generation": text, "overall_quality": (stars + text) / 2,
        "final_score": 100 * (2.5 / 3 + (stars + text) / 2) / 2,
    }  # fmt: skip
    assert got == pytest.approx(expected)
    assert list(got) == [metric.name for metric in BehaviorModeling.metrics]


@pytest.mark.parametrize(("reading", "value"), [("documented", 0.96), ("published-0.1.4", 0.8)])
def test_one_star_off_everywhere(dataset, records, reading, value):
    off = [
        *records[:2],
        record("review_writing[3]", {"stars": 4.0, "review": "good tea"}),
        record("review_writing[4]", {"stars": 3.0, "review": "bad coffee"}),
    ]
    assert scores(dataset, off, reading)["preference_estimation"] == pytest.approx(value)


@pytest.mark.parametrize("status", ["invalid", "error", "timeout"])
def test_a_failed_sample_costs_the_worst_in_the_primary_reading_alone(dataset, records, status):
    failed = [
        records[0],
        dataclasses.replace(records[1], status=status, answer="nonsense"),
        dataclasses.replace(records[2], status=status, answer=None),
        records[3],
    ]
    got = scores(dataset, failed)
    assert got["top_5_hit_rate"] == 0.5
    assert got["preference_estimation"] == pytest.approx(1 - (0.8 + 0) / 2 / 5)
    assert [got[name] for name in scoring.TEXT_ERRORS] == pytest.approx([0.5, 0.25, 0.5])
    published = scores(dataset, failed, "published-0.1.4")
    assert published["top_5_hit_rate"] == 1.0
    assert published["preference_estimation"] == 1.0
    assert published["review_generation"] == 1.0


def test_no_answer_is_worse_than_failing(dataset, records):
    worst = [dataclasses.replace(r, status="error") for r in records]
    none = scores(dataset, worst)
    some = scores(dataset, records)
    for metric in BehaviorModeling.metrics:
        better = some[metric.name] - none[metric.name]
        assert better > 0 if metric.better == "higher" else better < 0
    absent = scores(dataset, worst, "published-0.1.4")
    assert absent["final_score"] == Absent("none of 2 recommendation samples has a valid answer")


def test_weights_repeat_records(dataset, records):
    weights = np.array([[1.0, 1, 1, 1], [2, 0, 0, 3], [0, 1, 1, 1]])
    for reading in BehaviorModeling.readings:
        resampled = scores(dataset, records, reading, weights)
        for row, weight in enumerate(weights):
            drawn = [r for r, w in zip(records, weight, strict=True) for _ in range(int(w))]
            alone = scores(dataset, drawn, reading)
            for name, values in resampled.items():
                assert values[row] == pytest.approx(alone[name]), (reading, name)


def test_a_resample_without_anybody_of_a_kind_says_nothing(dataset, records):
    got = scores(dataset, records, weights=np.array([[1.0, 1, 0, 0]]))
    assert got["top_1_hit_rate"].tolist() == [0.5]
    assert np.isnan(got["final_score"]).all()


def test_the_final_score_needs_both_targets(dataset, records):
    assert scores(dataset, records[:2])["final_score"] == Absent(
        "the run has no review_writing samples"
    )
    got = scores(dataset, records[2:])
    assert got["final_score"] == Absent("the run has no recommendation samples")
    assert isinstance(got["overall_quality"], float)


def test_without_text_models_the_rest_is_scored(dataset, records, monkeypatch):
    monkeypatch.setattr(dataset, "reader", lambda: None)
    got = scores(dataset, records)
    assert got["sentiment_error"] == pytest.approx(0.1)
    for name in ("emotion_error", "topic_error", "review_generation", "final_score"):
        assert got[name] == Absent("no text models (--text-models none)")
    monkeypatch.setattr(sentiment, "missing", lambda: "no lexicon")
    assert scores(dataset, records)["sentiment_error"] == Absent("no lexicon")


def test_without_truth_the_answers_are_kept_and_nothing_is_scored(folder, load, answered):
    dataset = load(folder(inference_tasks_groundtruth=None), "inference")
    records = answered(dataset, BehaviorModeling.baselines["random"])
    assert [r.metrics for r in records] == [{}, {}]
    got = scores(dataset, records)
    assert {type(value) for value in got.values()} == {Absent}
    assert "no ground truth" in got["final_score"].reason
    details = BENCHMARK.describe(dataset, records)
    assert "breakdown" not in details
    assert details["performance"]["error_rate"] == 0


def test_a_sample_is_worth_what_needs_no_model(dataset, records):
    ranked = BENCHMARK.score_sample(dataset.sample(1), records[1].answer)
    assert ranked["documented"]["top_1_hit_rate"] == 0
    assert ranked["documented"]["average_hit_rate"] == pytest.approx(2 / 3)
    review = BENCHMARK.score_sample(dataset.sample(2), records[2].answer)
    assert review["documented"]["preference_estimation"] == pytest.approx(0.96)
    assert review["published-0.1.4"]["preference_estimation"] == pytest.approx(0.8)


def test_details_say_who_was_asked_what_and_how_it_went(dataset, records):
    timed = [
        dataclasses.replace(r, seconds=float(n), usage={"tokens": 10})
        for n, r in enumerate(records)
    ]
    timed[3] = dataclasses.replace(timed[3], status="timeout")
    details = BENCHMARK.describe(dataset, timed)
    assert details["text_models"] == "none"
    assert details["performance"]["seconds"]["p50"] == 1.5
    assert details["performance"]["timeout_rate"] == 0.25
    assert details["performance"]["usage"] == {"tokens": 40}
    assert details["chance"] == pytest.approx(
        {"top_1_hit_rate": 1 / 8, "top_3_hit_rate": 3 / 8, "top_5_hit_rate": 5 / 8,
         "average_hit_rate": 3 / 8}
    )  # fmt: skip
    groups = details["breakdown"]
    assert set(groups["target"]) == {"recommendation", "review_writing"}
    assert groups["target"]["recommendation"]["samples"] == 2
    assert "topic_error" not in groups["target"]["recommendation"]
    assert groups["source"]["product"]["final_score"] == pytest.approx(
        scores(dataset, timed)["final_score"]
    )
    assert set(groups["category"]) == {"Tea"}
    assert details["notes"] == ["chance: top 1 0.125, top 3 0.375, top 5 0.625, average 0.375"]
    assert all(len(line) <= 80 for line in details["notes"])
