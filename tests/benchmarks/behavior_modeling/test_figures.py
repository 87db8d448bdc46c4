"""The figures of BehaviorModeling: their numbers, found again by other means."""

from __future__ import annotations

import pytest
from benchmarks.drawn import made
from html_runs import BEHAVIOR


@pytest.fixture(scope="module")
def run(demo_run):
    return demo_run(BEHAVIOR)


def test_its_figures(run):
    assert list(made(run)) == ["Hit rate against chance", "Stars: true and given"]


def test_hit_rates_stand_beside_chance(run):
    data = made(run)["Hit rate against chance"].data["rates"]
    expected = run.scores.as_json()["readings"]["documented"]
    assert data["value"] == [expected[f"top_{n}_hit_rate"]["value"] for n in (1, 3, 5)]
    assert data["chance"] == pytest.approx([0.05, 0.15, 0.25])
    assert all(low <= value <= high for low, value, high in zip(data["low"], data["value"], data["high"], strict=True))  # fmt: skip


def test_star_confusion_counts_every_review_in_its_cell(run):
    data = made(run)["Stars: true and given"].data["cells"]
    reviews = [r for r in run.records if r.status == "ok" and r.sample.startswith("review")]
    assert sum(data["value"]) == len(reviews) > 5
    given = [int(r.answer["stars"] + 0.5) for r in reviews]
    fives = [n for n, left in zip(data["value"], data["left"], strict=True) if left == 3.5]
    assert sum(fives) == given.count(4)
    true = [int(run.dataset.task_of(r.sample).truth["stars"]) for r in reviews]
    rows = [n for n, bottom in zip(data["value"], data["bottom"], strict=True) if bottom == 4.5]
    assert sum(rows) == true.count(5)


def test_runs_without_a_kind_of_sample_lack_its_plot(run):
    reviews = [r for r in run.records if r.sample.startswith("review")]
    absent = {"value": None, "reason": "the run has no recommendation samples"}
    scores = {**run.scores.as_json(), "readings": {"documented": {"top_1_hit_rate": absent}}}
    titles = [f.title for f in run.benchmark.figures(run.dataset, reviews, scores)]
    assert titles == ["Stars: true and given"]
