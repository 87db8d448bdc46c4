"""HurricaneMobility: trips in, scores out, and what is refused with which words."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from demo_data import make_hurricane_mobility as make_demo

from pytest_agentbench.base.errors import BenchmarkError, InvalidAnswer
from pytest_agentbench.benchmarks.daily_mobility.data import DEMO_FOLDER as DAILY_DEMO_FOLDER
from pytest_agentbench.benchmarks.hurricane_mobility.answers import HOURLY, TOTALS, check
from pytest_agentbench.benchmarks.hurricane_mobility.baselines import BASELINES
from pytest_agentbench.benchmarks.hurricane_mobility.benchmark import HurricaneMobility
from pytest_agentbench.benchmarks.hurricane_mobility.data import DEMO_FOLDER, TRUTH_FILE
from pytest_agentbench.metrics.estimator import Absent
from pytest_agentbench.runs.record import Record

BENCHMARK = HurricaneMobility()
READING = "published-0.1.4"
SCENARIO = (
    "benchmark: pytest_agentbench.benchmarks.hurricane_mobility.benchmark:HurricaneMobility\n"
)
TRUTH = {
    "relative_changes": {"during_vs_before": -50.0, "after_vs_before": -10.0},
    "hourly_trips": {"before": [0, 1] * 12, "during": [1, 0] * 12, "after": [1, 1] * 12},
}


def load(dataset="demo", **parameters):
    return BENCHMARK.load(SimpleNamespace(dataset=dataset, parameters=parameters))


@pytest.fixture
def folder(tmp_path):
    def write(truth=TRUTH, profiles=None):
        base = tmp_path / "data"
        (base / "groundtruth").mkdir(parents=True)
        (base / TRUTH_FILE).write_text(truth if isinstance(truth, str) else json.dumps(truth))
        if profiles is not None:
            (base / "profiles.json").write_text(json.dumps(profiles))
        return base

    return write


def record(name, answer):
    status = "error" if answer is None else "ok"
    return Record("HurricaneMobility", name, status, answer=answer)


def arrays(before, during, after):
    """All trips of a day at one in the night."""
    hourly = [[0.0, float(n), *[0.0] * 22] for n in (before, during, after)]
    return {TOTALS: [float(before), float(during), float(after)], HOURLY: hourly}


def test_trips_are_counted_by_day_and_hour():
    trips = [
        {"day": 0, "departure": 0},
        {"day": 0, "departure": 3599.9},
        {"day": 1, "departure": 3600},
        {"day": 2.0, "departure": np.int64(86399), "mode": "bus"},
    ]
    answer = check(trips, whole_population=False)
    assert answer[TOTALS] == [2.0, 1.0, 1.0]
    assert (answer[HOURLY][0][0], answer[HOURLY][1][1], answer[HOURLY][2][23]) == (2.0, 1.0, 1.0)
    assert sum(map(sum, answer[HOURLY])) == 4.0
    assert check({"trips": trips}, whole_population=False) == answer
    assert check(answer, whole_population=True) == answer
    assert check({k: np.array(v) for k, v in answer.items()}, whole_population=True) == answer
    assert json.loads(json.dumps(answer)) == answer


def test_one_person_may_stay_at_home_a_population_may_not():
    nothing = check([], whole_population=False)
    assert nothing == {TOTALS: [0.0] * 3, HOURLY: [[0.0] * 24] * 3}
    for answer in ([], nothing, [{"day": 1, "departure": 7}]):
        with pytest.raises(InvalidAnswer) as error:
            check(answer, whole_population=True)
        assert str(error.value) == (
            "expected at least one trip on day 0 (before the hurricane): changes are relative to it, "
            "got 0 trips"
        )


def trip(**values):
    return [{"day": 0, "departure": 0}, {"day": 1, "departure": 3600, **values}]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, 'expected trips [{"day": 0-2, "departure": seconds since midnight}, …], or {total_'),
        ("none", "hourly_travel_times: 3 rows of 24}, got 'none'"),
        ({}, "got nothing (no total_travel_times, hourly_travel_times)"),
        ({TOTALS: [1, 1, 1]}, "got total_travel_times (no hourly_travel_times)"),
        ([3], "expected day and departure in trip 0, got 3"),
        (
            trip(departure=None),
            "expected day and departure in trip 1, got {'day': 1, 'departure': None}",
        ),
        (trip(day=3), "expected day 0 (before), 1 (during) or 2 (after) in trip 1, got 3"),
        (trip(day=True), "in trip 1, got True"),
        (
            trip(departure=90000),
            "expected departure in trip 1 as seconds since midnight, 0 to 86399 (hours 0 to 23), got "
            "90000 (hour 25)",
        ),
        (trip(departure=86400), "(hours 0 to 23), got 86400 (hour 24)"),
        (trip(departure=-1), "(hours 0 to 23), got -1 (hour -0.0002778)"),
        (trip(departure=float("nan")), "(hours 0 to 23), got nan"),
        (trip(departure="08:00"), "(hours 0 to 23), got '08:00'"),
        (
            {**arrays(1, 1, 1), TOTALS: [1, 2]},
            "total_travel_times as 3 numbers of trips (before, during, after), got 2 values",
        ),
        (
            {**arrays(1, 1, 1), HOURLY: [[0] * 24, [0] * 25, [0] * 24]},
            "expected hourly_travel_times, during, as 24 numbers of trips (hours 0 to 23), got 25 values",
        ),
        (
            {**arrays(1, 1, 1), HOURLY: [[0] * 24] * 2},
            "hourly_travel_times as 3 rows (before, during, after), got [[",
        ),
        (
            {**arrays(1, 1, 1), HOURLY: [0, 1, 2]},
            "before, as 24 numbers of trips (hours 0 to 23), got 0",
        ),
        (
            {**arrays(1, 1, 1), TOTALS: [1, -2, 1]},
            "total_travel_times as finite numbers of at least 0 (value 1), got -2",
        ),
        ({**arrays(1, 1, 1), TOTALS: [1, float("inf"), 1]}, "at least 0 (value 1), got inf"),
    ],
)
def test_what_cannot_be_scored_is_refused(answer, message):
    with pytest.raises(InvalidAnswer) as error:
        check(answer, whole_population=False)
    assert message in str(error.value)


def test_scores_of_the_sum_of_all_people(folder):
    dataset = load(folder())
    people = [arrays(10, 4, 8), arrays(10, 6, 8), arrays(0, 0, 2)]  # together 20, 10, 18
    estimate = BENCHMARK.score_run(dataset, [record(f"user[{n}]", a) for n, a in enumerate(people)])
    scores = estimate(READING, None)
    assert scores["change_rate_score"] == pytest.approx(100.0, abs=1e-5)
    # One hour of 24 against twelve, none of them, and all 24.
    alike = [1 / np.sqrt(12), 0.0, 1 / np.sqrt(24)]
    assert scores["distribution_score"] == pytest.approx(100 * np.mean(alike), abs=1e-5)
    assert scores["final_score"] == pytest.approx(
        0.6 * scores["change_rate_score"] + 0.4 * scores["distribution_score"]
    )


def test_resamples_sum_the_people_they_repeat(folder):
    dataset = load(folder())
    rng = np.random.default_rng(0)
    people = [
        {TOTALS: rng.integers(1, 9, 3).tolist(), HOURLY: rng.integers(0, 9, (3, 24)).tolist()}
        for _ in range(6)
    ]
    people.insert(2, None)
    records = [record(f"user[{n}]", answer) for n, answer in enumerate(people)]
    weights = rng.integers(0, 3, (4, 7)).astype(float) + 0.0
    weights[:, 0] += 1
    resampled = BENCHMARK.score_run(dataset, records)(READING, weights)
    for number, row in enumerate(weights):
        drawn = [r for r, times in zip(records, row, strict=True) for _ in range(int(times))]
        alone = BENCHMARK.score_run(dataset, drawn)(READING, None)
        for metric, value in alone.items():
            assert resampled[metric][number] == pytest.approx(value)


def test_failed_people_are_left_out_as_the_published_code_would(folder):
    dataset = load(folder())
    fine = [record("user[1]", arrays(20, 10, 18))]
    failed = [*fine, record("user[2]", None)]
    expected = BENCHMARK.score_run(dataset, fine)(READING, None)
    assert BENCHMARK.score_run(dataset, failed)(READING, None) == expected


def test_no_trips_before_leave_the_scores_absent_and_say_why(folder):
    dataset = load(folder())
    reason = Absent("no trips before the hurricane: changes are relative to them")
    records = [record("user[1]", arrays(0, 3, 3))]
    scores = BENCHMARK.score_run(dataset, records)(READING, None)
    assert scores == dict.fromkeys(
        ("change_rate_score", "distribution_score", "final_score"), reason
    )
    assert BENCHMARK.describe(dataset, records) == {}
    nobody = BENCHMARK.score_run(dataset, [record("user[1]", None)])(READING, None)
    assert nobody["final_score"] == Absent("no valid answer")
    assert BENCHMARK.score_run(dataset, [])(READING, None)["final_score"] == Absent("no records")


def test_both_sides_changes_stand_beside_the_score(folder):
    dataset = load(folder())
    details = BENCHMARK.describe(dataset, [record("user[1]", arrays(20, 10, 16))])
    assert details["notes"] == [
        "trips against before (truth): during -50.0 % (-50.0 %), after -20.0 % (-10.0 %)"
    ]
    assert len(details["notes"][0]) <= 80
    assert details["changes"]["after_vs_before"] == {
        "answers": pytest.approx(-20.0),
        "truth": -10.0,
    }
    assert details["hours_alike"]["during"] == 0.0


def test_an_item_a_profile_or_one_for_all(folder):
    path = folder(profiles=[{"id": 3}, {"id": 4}])
    assert [str(key) for key in load(path).keys] == ["user[3]", "user[4]"]
    whole = load(path, items="population")
    assert [str(key) for key in whole.keys] == ["population[all]"]
    assert [profile["id"] for profile in whole.sample(0).context["profiles"]] == [3, 4]
    assert load(path).digest != whole.digest
    context = load(path).sample(1).context
    assert context["profile"]["id"] == 4
    assert [day["period"] for day in context["days"]] == ["before", "during", "after"]
    assert json.loads(json.dumps(context)) == context


def test_without_profiles_there_is_one_item(folder):
    path = folder()
    assert [str(key) for key in load(path).keys] == ["population[all]"]
    with pytest.raises(
        BenchmarkError, match=r"items: user needs profiles\.json, which is not there"
    ):
        load(path, items="user")


def test_the_parameter_takes_its_two_words_only():
    parse = BENCHMARK.parameters[0].parse
    assert [parse(word) for word in ("user", "population")] == ["user", "population"]
    with pytest.raises(ValueError):  # noqa: PT011 -- options.py says the rest
        parse("city")


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ("[", "expected relative_changes and hourly_trips as JSON"),
        ({}, "expected a number as relative_changes.during_vs_before, got None"),
        (
            {**TRUTH, "hourly_trips": {"before": [1] * 24, "during": [1] * 23}},
            "expected 24 numbers of at least 0 as hourly_trips.during, got [1, 1",
        ),
        (
            {**TRUTH, "relative_changes": {"during_vs_before": "-5 %"}},
            "during_vs_before, got '-5 %'",
        ),
    ],
)
def test_a_bad_truth_is_named(folder, truth, message):
    path = folder(truth)
    with pytest.raises(BenchmarkError) as error:
        load(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path / TRUTH_FILE))


def test_a_submission_is_the_answer_of_the_whole_population(folder, tmp_path):
    path = folder(profiles=[{"id": 3}])
    (tmp_path / "pred.json").write_text(json.dumps(arrays(20, 10, 18)))
    whole = load(path, items="population")
    submission = BENCHMARK.read_submission(tmp_path / "pred.json", whole, None)
    assert submission.answers == {"population[all]": arrays(20, 10, 18)}
    with pytest.raises(BenchmarkError, match="run it with `items: population` in a scenario"):
        BENCHMARK.read_submission(tmp_path / "pred.json", load(path), None)


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("items", ["user", "population"])
def test_baselines_answer_for_one_and_for_all(name, items):
    dataset = load(items=items)
    samples = [dataset.sample(index) for index in range(len(dataset))]
    answers = [BENCHMARK.check(sample, BASELINES[name](sample.context)) for sample in samples]
    assert [BASELINES[name](s.context) for s in reversed(samples)][-1] == BASELINES[name](
        samples[0].context
    )
    assert sum(answer[TOTALS][0] for answer in answers) > 200


def test_whoever_heeds_the_weather_scores_more():
    dataset = load()
    finals = {}
    for name, agent in BASELINES.items():
        samples = [dataset.sample(index) for index in range(len(dataset))]
        records = [record(str(s.key), BENCHMARK.check(s, agent(s.context))) for s in samples]
        finals[name] = BENCHMARK.score_run(dataset, records)(READING, None)["final_score"]
    assert finals["cautious"] > finals["steady"] + 5


def test_the_demo_truth_is_what_the_script_makes_and_says_that_it_is_synthetic():
    text = (DEMO_FOLDER / TRUTH_FILE).read_text(encoding="utf-8")
    assert text == make_demo.demo_json()
    truth = json.loads(text)
    assert "Synthetic" in truth["note"]
    totals = {period: sum(trips) for period, trips in truth["hourly_trips"].items()}
    change = 100 * (totals["during"] / totals["before"] - 1)
    assert truth["relative_changes"]["during_vs_before"] == pytest.approx(change, abs=0.01)
    assert "synthetic" in load().description


@pytest.mark.parametrize("name", ["places.csv", "profiles.json"])
def test_the_demo_has_the_city_and_the_people_of_the_other_demo(name):
    assert (DEMO_FOLDER / name).read_bytes() == (DAILY_DEMO_FOLDER / name).read_bytes()


def test_the_template_runs(project):
    project.write(storm__yaml=f"{SCENARIO}agent: agent.py\n", agent__py=BENCHMARK.agent_template())
    result = project.pytest("--benchmark", "storm.yaml")
    result.assert_outcomes(passed=101)
    result.stdout.fnmatch_lines(["final_score*", "trips against before (truth): during *"])
