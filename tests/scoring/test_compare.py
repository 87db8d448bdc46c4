"""Two runs side by side: paired differences, changed samples, and what may not be compared."""

from __future__ import annotations

import json

import pytest
from toy_runs import half, make_run, right

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import stored
from pytest_agentbench.scoring import scores
from pytest_agentbench.scoring.compare import Difference, compare


def of(comparison, metric, reading=None):
    found = comparison.readings[reading or comparison.reading]
    return next(difference for difference in found if difference.metric == metric)


def test_differences_are_those_of_a_run_with_a_baseline(tmp_path):
    before, after = make_run(tmp_path / "a", "half"), make_run(tmp_path / "b", "right")
    run = stored.read(after)
    settings = stored.settings_of(run)
    baseline = stored.read(before)
    expected = scores.score(
        settings, settings.benchmark.load(settings), [(n, 1) for n in range(12)], run.records, baseline
    ).baseline.deltas  # fmt: skip
    comparison = compare(before, after)
    for reading, metrics in expected.items():
        for metric, delta in metrics.items():
            found = of(comparison, metric, reading)
            assert (found.value, found.low, found.high, found.reason) == (
                delta.value, delta.low, delta.high, delta.reason,
            )  # fmt: skip


def test_after_minus_before_and_which_direction_is_better(tmp_path):
    before, after = make_run(tmp_path / "a", "half"), make_run(tmp_path / "b", "right")
    comparison = compare(before, after)
    accuracy, distance = of(comparison, "accuracy"), of(comparison, "distance")
    assert (accuracy.before, accuracy.after, accuracy.value) == (0.5, 1.0, 0.5)
    assert accuracy.low > 0
    assert accuracy.verdict == "better"
    assert (distance.value < 0, distance.verdict) == (True, "better")
    back = compare(after, before)
    assert of(back, "accuracy").verdict == of(back, "distance").verdict == "worse"
    assert list(comparison.readings) == ["exact", "lenient"]


def test_samples_that_got_better_worse_and_stayed(tmp_path):
    def other_half(context):
        return context["a"] + context["b"] if context["a"] < 7 else -1

    comparison = compare(make_run(tmp_path / "a", "half"), make_run(tmp_path / "b", other_half))
    # half: 0 2 4 6 8 10; other_half: 0 1 2 3 4 5 6
    found = of(comparison, "accuracy").samples
    assert (found.better, found.worse, found.same) == (3, 2, 7)
    distance = of(comparison, "distance").samples
    assert (distance.better, distance.worse, distance.same) == (3, 2, 7)
    assert [change.sample for change in distance.largest] == [
        "sum[s10]", "double[s8]", "sum[s5]", "sum[s3]", "sum[s1]",
    ]  # fmt: skip
    assert (distance.largest[0].before, distance.largest[0].after) == (0.0, 21.0)


def test_an_answer_is_better_than_none_and_no_answer_is_the_largest_change(tmp_path):
    def silent(context):
        return None if context["a"] in (3, 4) else -1

    comparison = compare(make_run(tmp_path / "a", silent), make_run(tmp_path / "b", "half"))
    found = of(comparison, "accuracy").samples
    # 3 is wrong now and 4 is right: both have an answer, which is better than none.
    assert (found.better, found.worse, found.same) == (7, 0, 5)
    assert {c.sample for c in found.largest[:2]} == {"sum[s3]", "double[s4]"}
    assert found.largest[0].before is None
    assert of(comparison, "coverage").samples.better == 2
    distance = of(comparison, "distance")
    assert (distance.before, distance.value) == (None, None)
    assert "no valid answer" in distance.reason
    assert distance.verdict == "unclear"


def test_a_difference_whose_interval_holds_0_is_unclear(tmp_path):
    def almost(context):
        return context["a"] + context["b"] if context["a"] else -1

    accuracy = of(
        compare(make_run(tmp_path / "a", almost), make_run(tmp_path / "b", "right")), "accuracy"
    )
    assert accuracy.value > 0
    assert accuracy.low <= 0 < accuracy.high
    assert accuracy.verdict == "unclear"


def test_only_ten_changes_are_listed(tmp_path):
    comparison = compare(make_run(tmp_path / "a", "wrong"), make_run(tmp_path / "b", "right"))
    assert len(of(comparison, "distance").samples.largest) == 10
    assert of(comparison, "style").samples is None


def test_the_same_run_twice_has_no_difference(tmp_path):
    run = make_run(tmp_path / "a", "half")
    comparison = compare(run, run)
    accuracy = of(comparison, "accuracy")
    assert (accuracy.value, accuracy.low, accuracy.high) == (0.0, 0.0, 0.0)
    assert accuracy.verdict == "same"
    assert accuracy.samples.same == 12
    assert accuracy.samples.largest == ()


def test_runs_of_other_samples_are_compared_on_the_common_ones(tmp_path):
    before = make_run(tmp_path / "a", "half", only=range(8))
    after = make_run(tmp_path / "b", "right", only=range(3, 12))
    comparison = compare(before, after)
    assert comparison.common_samples == 5
    accuracy = of(comparison, "accuracy")  # 3 4 5 6 7: half is right for 4 and 6
    assert (accuracy.before, accuracy.after) == (pytest.approx(0.4), 1.0)
    assert (comparison.before.samples, comparison.after.samples) == (8, 9)


def test_nothing_in_common_is_refused(tmp_path):
    before = make_run(tmp_path / "a", "half", only=range(3))
    after = make_run(tmp_path / "b", "right", only=range(6, 9))
    with pytest.raises(BenchmarkError, match="no sample in common"):
        compare(before, after)


def test_epochs_of_a_sample_count_as_their_mean(tmp_path):
    asked = []

    def sometimes(context):
        asked.append(context["a"])
        return right(context) if asked.count(context["a"]) == 2 else half(context)

    before = make_run(tmp_path / "a", "half", epochs=2)
    after = make_run(tmp_path / "b", sometimes, epochs=2)
    accuracy = of(compare(before, after), "accuracy")
    assert (accuracy.before, accuracy.after) == (0.5, 0.75)
    assert accuracy.samples.better == 6
    assert {change.after for change in accuracy.samples.largest} == {0.5}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"mode": "inference"}, "mode is 'test' and 'inference'"),
        ({"seed": 3}, "candidate order is 'seed 0' and 'seed 3'"),
        ({"shift": 1}, "data digest is bbee24e0fdde… and ec815194ce67…"),
        ({"reading": "lenient"}, "reading is 'exact' and 'lenient'; name the reading"),
        ({"benchmark": "other"}, "benchmark is 'toysum' and 'other'"),
        ({"schema": 9}, "schema is '1' and '9'"),
        ({"conditions": {"text models": "offline"}}, "text models is not set and 'offline'"),
    ],
)
def test_what_is_not_the_same_is_refused_by_name(tmp_path, changes, named):
    before, after = make_run(tmp_path / "a", "half"), make_run(tmp_path / "b", "right", **changes)
    with pytest.raises(BenchmarkError) as caught:
        compare(before, after)
    assert named in str(caught.value)
    assert f"{before} and {after} cannot be compared" in str(caught.value)


def test_a_named_reading_is_compared_whatever_was_primary(tmp_path):
    before = make_run(tmp_path / "a", "half")
    after = make_run(tmp_path / "b", "right", reading="lenient")
    comparison = compare(before, after, reading="lenient")
    assert list(comparison.readings) == ["lenient", "exact"]
    with pytest.raises(BenchmarkError, match="--reading: expected one of exact, lenient, got 'x'"):
        compare(before, after, reading="x")


def test_data_that_moved_are_named_and_can_be_given(tmp_path):
    runs = [make_run(tmp_path / "a", "half"), make_run(tmp_path / "b", "right")]
    for run in runs:
        manifest = json.loads((run / "manifest.json").read_text())
        manifest["settings"]["dataset"] = str(tmp_path / "gone.csv")
        (run / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BenchmarkError) as caught:
        compare(*runs)
    assert "gone.csv" in str(caught.value)
    assert "--dataset PATH" in str(caught.value)
    assert compare(*runs, dataset="demo").common_samples == 12
    with pytest.raises(BenchmarkError, match="--dataset: expected a path that exists"):
        compare(*runs, dataset=str(tmp_path / "nowhere"))


def test_data_that_changed_since_are_refused(tmp_path):
    runs = [make_run(tmp_path / "a", "half"), make_run(tmp_path / "b", "right")]
    for run in runs:
        found = json.loads((run / "scores.json").read_text())
        found["dataset"]["digest"] = "0" * 64
        (run / "scores.json").write_text(json.dumps(found))
    with pytest.raises(BenchmarkError, match="got other data"):
        compare(*runs)


def test_as_json_is_plain_and_has_the_verdicts(tmp_path):
    comparison = compare(make_run(tmp_path / "a", "half"), make_run(tmp_path / "b", "right"))
    plain = json.loads(json.dumps(comparison.as_json(), allow_nan=False))
    row = plain["readings"]["exact"][0]
    assert (row["metric"], row["verdict"], row["samples"]["better"]) == ("accuracy", "better", 6)
    assert plain["before"] == {
        "run": "a", "agent": "builtin:half", "samples": 12, "incomplete": None, "model_use": None,
    }  # fmt: skip


def test_leading_changes_are_of_the_headline(tmp_path):
    comparison = compare(make_run(tmp_path / "a", "half"), make_run(tmp_path / "b", "right"))
    assert [difference.metric for difference in comparison.leading()] == ["accuracy"]


def test_the_verdict_on_metrics_without_a_direction():
    def verdict(better, before, after):
        value = after - before
        return Difference(
            "m", better, "", before, after, value, value - 0.1, value + 0.1, None, None
        ).verdict

    assert verdict("none", 1.0, 2.0) == "changed"
    assert verdict("zero", -1.0, -0.5) == "better"
    assert verdict("zero", 0.5, 1.0) == "worse"
    assert verdict("zero", 0.5, 0.55) == "unclear"
