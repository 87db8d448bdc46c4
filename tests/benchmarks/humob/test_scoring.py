"""Scores of samples and of runs: golden numbers, failed users, inference."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from pytest_agentbench.benchmarks.humob import scoring
from pytest_agentbench.benchmarks.humob.benchmark import Humob
from pytest_agentbench.benchmarks.protocol import Sample, SampleKey
from pytest_agentbench.metrics import kernel_loading
from pytest_agentbench.metrics.estimator import Absent
from pytest_agentbench.runs.record import Record

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "humob.json").read_text())["cases"]


def golden_sample(number, case):
    return Sample(SampleKey("uid", str(number)), {}, np.array(case["reference"]))


def cells(case):
    return [row[2:] for row in case["generated"]]


@pytest.mark.parametrize("case", GOLDEN, ids=[case["name"] for case in GOLDEN])
def test_one_user_scores_what_the_reference_implementation_says(case):
    scores = Humob().score_sample(golden_sample(1, case), cells(case))
    assert set(scores) == {"2023", "2025"}
    for reading, metrics in scores.items():
        for name, value in metrics.items():
            assert value == pytest.approx(case["expected"][reading][name], rel=1e-12, abs=1e-12)


def test_many_users_at_once_have_the_bits_of_one_at_a_time():
    samples = [golden_sample(number, case) for number, case in enumerate(GOLDEN)]
    answers = [cells(case) for case in GOLDEN]
    alone = [Humob().score_sample(s, a) for s, a in zip(samples, answers, strict=True)]
    assert Humob().score_samples(samples, answers) == alone
    assert Humob().score_samples([], []) == []


@pytest.mark.parametrize("readings", [scoring.READINGS, ("2025",)])
def test_days_scored_in_threads_have_the_bits_of_those_scored_alone(monkeypatch, readings):
    kernel_loading.load()
    monkeypatch.setattr(scoring.os, "cpu_count", lambda: 3)
    rng = np.random.default_rng(4)
    bounds = np.append(0, np.cumsum(rng.integers(1, 9, 1200)))
    ours, real = rng.integers(1, 201, (2, bounds[-1], 2)).astype(np.int16)
    alone = scoring.score_days(ours, real, bounds, readings)
    threads = set()
    piece = scoring._score_piece

    def seen(*args):
        threads.add(threading.get_ident())
        return piece(*args)

    monkeypatch.setattr(scoring, "_score_piece", seen)
    monkeypatch.setattr(scoring, "THREADED_DAYS", 1201)
    shared = scoring.score_days(ours, real, bounds, readings)
    assert threading.get_ident() not in threads
    assert set(shared) == set(readings)
    for reading in readings:
        for metric in scoring.METRICS:
            assert shared[reading][metric].tobytes() == alone[reading][metric].tobytes()


def record(uid, status="ok", geobleu=0.5, dtw=10.0, epoch=1):
    metrics = {
        "2023": {"geobleu": geobleu, "dtw": dtw},
        "2025": {"geobleu": geobleu / 2, "dtw": dtw * 2},
    }
    return Record("humob", f"uid[{uid}]", status, epoch, metrics=metrics if status == "ok" else {})


def estimator(load, records, mode="test"):
    return Humob().score_run(load("demo", mode=mode), records)


def test_a_run_is_the_mean_over_users(load):
    estimate = estimator(load, [record(1, geobleu=0.25), record(2, geobleu=0.75, dtw=20.0)])
    assert estimate("2023", None) == {"geobleu": 0.5, "dtw": 15.0}
    assert estimate("2025", None) == {"geobleu": 0.25, "dtw": 30.0}


def test_resamples_are_weighted_means(load):
    estimate = estimator(load, [record(1, geobleu=0.25), record(2, geobleu=0.75, dtw=20.0)])
    scores = estimate("2023", np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]]))
    assert scores["geobleu"].tolist() == [0.25, 0.5, 0.75]
    assert scores["dtw"].tolist() == [10.0, 15.0, 20.0]


@pytest.mark.parametrize("status", ["invalid", "error", "timeout"])
def test_a_failed_user_counts_as_nothing_alike_and_leaves_dtw_absent(load, status):
    estimate = estimator(load, [record(1), record(2, status)])
    for reading, value in (("2023", 0.25), ("2025", 0.125)):
        scores = estimate(reading, None)
        assert scores["geobleu"] == value
        assert isinstance(scores["dtw"], Absent)
        assert "1 of 2 users" in scores["dtw"].reason
    weighted = estimate("2023", np.array([[2.0, 0.0]]))
    assert weighted["geobleu"].tolist() == [0.5]
    assert isinstance(weighted["dtw"], Absent)


def test_inference_has_no_scores_and_says_why(load):
    dataset = load("demo", mode="inference")
    sample = dataset.sample(0)
    answer = [[1, 1]] * len(sample.context["targets"])
    assert Humob().score_sample(sample, answer) == {}
    scores = estimator(load, [record(1)], mode="inference")("2023", None)
    assert all("inference mode" in scores[name].reason for name in ("geobleu", "dtw"))


def test_no_records_give_no_score(load):
    assert estimator(load, [])("2023", None)["geobleu"] == Absent("no records")
