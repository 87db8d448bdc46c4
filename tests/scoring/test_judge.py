"""What gates decide on the scores of a run."""

from __future__ import annotations

import pytest

from pytest_agentbench.benchmarks.protocol import Metric
from pytest_agentbench.runs.scores_file import Group, Score
from pytest_agentbench.scoring import judge
from pytest_agentbench.settings import gates

READINGS = {
    "documented": {
        "final_score": Score(60.0, 55.0, 66.0),
        "hit_rate": Score(0.5),
        "topic": Score(None, reason="no text models"),
    },
    "published-0.1.4": {"final_score": Score(58.0)},
}
BASELINE = {"documented": {"final_score": Score(61.0)}}
DELTAS = {"documented": {"final_score": Score(-1.0, -3.0, 1.0)}}


METRICS = (
    Metric("final_score", "higher"),
    Metric("hit_rate", "higher"),
    Metric("words", "none"),
    Metric("likeness", "lower", pooled=True),
)
GROUPS = (
    Group("source", "yelp", 40, {}, {"final_score": Score(50.0, 44.0, 57.0)}),
    Group("source", "amazon", 30, {}, {"final_score": Score(65.0), "hit_rate": Score(0.4)}),
    Group("category", "Tea", 3, {}, {"final_score": Score(1.0)}),
)


HALF = {"coverage": Score(0.5), "final_score": Score(None, reason="no valid answer")}


@pytest.mark.parametrize(("coverage", "passed"), [(0.5, False), (1.0, True)])
def test_a_group_that_lost_its_value_by_failing_is_not_overlooked(coverage, passed):
    """One without a value though all of it was answered has no such samples."""
    lost = Group("source", "imdb", 20, {}, {**HALF, "coverage": Score(coverage)})
    gate = gates.parse("worst_group(final_score) >= 40")
    result = judge.evaluate(gate, "documented", READINGS, None, None, (*GROUPS, lost), METRICS)
    assert result.passed is passed
    if not passed:
        assert result.failure.startswith("source imdb may be the worst: not all of it was answered")


def decide(text, baseline=BASELINE, deltas=DELTAS):
    return judge.evaluate(
        gates.parse(text), "documented", READINGS, baseline, deltas, GROUPS, METRICS
    )


@pytest.mark.parametrize(
    ("text", "passed", "value", "threshold"),
    [
        ("final_score >= 60", True, 60.0, 60.0),
        ("final_score > 60", False, 60.0, 60.0),
        ("final_score <= 60", True, 60.0, 60.0),
        ("final_score < 60", False, 60.0, 60.0),
        ("final_score == 60", True, 60.0, 60.0),
        ("final_score>=6e1", True, 60.0, 60.0),
        ("  final_score.low   >=  55. ", True, 55.0, 55.0),
        ("final_score.high < .5", False, 66.0, 0.5),
        ("published-0.1.4:final_score >= 58", True, 58.0, 58.0),
        ("published-0.1.4 : final_score >= 58.5", False, 58.0, 58.5),
        ("final_score >= baseline", False, 60.0, 61.0),
        ("final_score >= baseline - 1.5", True, 60.0, 59.5),
        ("final_score >= baseline-1", True, 60.0, 60.0),
        ("final_score <= baseline + 1", True, 60.0, 62.0),
        ("delta(final_score) >= -1", True, -1.0, -1.0),
        ("delta( final_score ).low >= -2", False, -3.0, -2.0),
    ],
)
def test_gates_decide(text, passed, value, threshold):
    result = decide(text)
    assert (result.passed, result.value, result.threshold, result.reason) == (
        passed, value, threshold, None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("beauty > 0", "metric 'beauty' does not exist in documented; there are: final_score"),
        ("other:final_score > 0", "reading 'other' does not exist; there are: documented"),
        ("topic > 0", "topic is absent in this run: no text models"),
        ("hit_rate.low > 0", "hit_rate has no interval in this run, so no .low"),
        ("published-0.1.4:final_score > baseline", "in the baseline, reading 'published-0.1.4'"),
        ("delta(hit_rate) > 0", "the difference in metric 'hit_rate' does not exist"),
    ],
)
def test_a_gate_on_what_is_not_there_fails_with_the_reason(text, reason):
    result = decide(text)
    assert result.passed is False
    assert result.reason.startswith(reason)


@pytest.mark.parametrize("text", ["final_score > baseline", "delta(final_score) > 0"])
def test_a_comparing_gate_without_a_baseline_fails(text):
    assert "--baseline RUN" in decide(text, baseline=None, deltas=None).reason


@pytest.mark.parametrize(
    ("text", "passed", "value"),
    [
        ("worst_group(final_score) >= 40", True, 50.0),
        ("worst_group(final_score) >= 60", False, 50.0),
        ("documented:worst_group(final_score).low >= 45", False, 44.0),
        ("worst_group(final_score).high < 60", True, 57.0),
    ],
)
def test_a_gate_on_the_worst_group_names_it(text, passed, value):
    result = decide(text)
    assert (result.passed, result.value, result.reason) == (passed, value, None)
    assert result.group == "source yelp, 40 samples"
    if not passed:
        assert result.failure.startswith(f"got {value:g} in source yelp, 40 samples against")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "worst_group(beauty) > 0",
            "groups have no metric 'beauty'; there are: final_score, hit_rate",
        ),
        ("worst_group(hit_rate).low > 0", "hit_rate has no interval there, so no .low"),
        (
            "published-0.1.4:worst_group(final_score) > 0",
            "groups are scored in the primary reading",
        ),
        ("worst_group(words) > 0", "words has no worst group: no value of it is better"),
        ("worst_group(likeness) > 0", "likeness has no worst group: groups do not have it"),
    ],
)
def test_a_gate_on_a_group_that_is_not_there_fails_with_the_reason(text, reason):
    result = decide(text)
    assert result.passed is False
    assert result.reason.startswith(reason)


def test_without_groups_there_is_no_worst_one():
    gate = gates.parse("worst_group(final_score) > 0")
    result = judge.evaluate(gate, "documented", READINGS, None, None)
    assert result.reason.endswith("has final_score, and the samples have no groups")
