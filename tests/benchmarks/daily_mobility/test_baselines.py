"""Baselines: valid for everybody, the same in any order, and ranked as common sense has it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_agentbench.benchmarks.daily_mobility.baselines import BASELINES
from pytest_agentbench.benchmarks.daily_mobility.benchmark import DailyMobility
from pytest_agentbench.benchmarks.daily_mobility.diagnostics import noise_ceiling
from pytest_agentbench.benchmarks.daily_mobility.scoring import METRICS, READINGS, score_run
from pytest_agentbench.runs.record import Record

BENCHMARK = DailyMobility()
DOCUMENT = Path(__file__).parents[3] / "docs" / "daily-mobility.md"


def run(dataset, name, indices=None):
    agent, indices = BASELINES[name], range(len(dataset)) if indices is None else indices
    samples = [dataset.sample(index) for index in indices]
    return {str(s.key): BENCHMARK.check(s, agent(s.context)) for s in samples}


@pytest.fixture(scope="module")
def table():
    dataset = BENCHMARK.load(SimpleNamespace(dataset="demo", parameters={}, bases=()))
    result = {}
    for name in BASELINES:
        records = [
            Record("DailyMobility", key, "ok", answer=a) for key, a in run(dataset, name).items()
        ]
        estimate = score_run(dataset.truth, records)
        result[name] = {reading: estimate(reading, None) for reading in READINGS}
    ceiling = noise_ceiling(dataset.truth, len(dataset))
    result["noise ceiling"] = {
        reading: {metric: spread["value"] for metric, spread in metrics.items()}
        for reading, metrics in ceiling.items()
    }
    return result


@pytest.fixture(scope="module")
def finals(table):
    return {name: scores["documented"]["final_score"] for name, scores in table.items()}


def test_the_table_in_the_documents_is_true(table):
    expected = [
        f"| {name if ' ' in name else '`' + name + '`'} | "
        f"{scores['documented']['final_score']:.2f} | "
        + " | ".join(f"{scores['documented'][metric]:.2f}" for metric in METRICS)
        + f" | {scores['published-0.1.4']['final_score']:.2f} |"
        for name, scores in table.items()
    ]
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line in expected] == expected


def test_the_names_are_those_of_the_documents():
    assert list(BASELINES) == ["random", "home", "commuter", "profile-commuter"]
    assert BENCHMARK.default_baseline in BASELINES


def test_who_knows_more_scores_more(finals):
    assert finals["profile-commuter"] > finals["commuter"] + 10
    assert finals["commuter"] > max(finals["home"], finals["random"]) + 20


@pytest.mark.parametrize("name", BASELINES)
def test_answers_depend_neither_on_order_nor_on_earlier_calls(load, name):
    dataset = load("demo")
    forward = run(dataset, name)
    assert run(dataset, name, reversed(range(len(dataset)))) == forward
    assert run(dataset, name, [42]) == {"user[42]": forward["user[42]"]}


@pytest.mark.parametrize("name", ["random", "profile-commuter"])
def test_people_differ(load, name):
    days = {str(answer["intention_sequences"]) for answer in run(load("demo"), name).values()}
    assert len(days) > 80


@pytest.mark.parametrize("name", BASELINES)
def test_a_plain_json_context_is_enough(load, name):
    sample = load("demo").sample(3)
    plain = json.loads(json.dumps(sample.context))
    assert BASELINES[name](plain) == BASELINES[name](sample.context)


@pytest.mark.parametrize("name", BASELINES)
def test_without_a_city_the_day_is_told_in_four_values(folder, load, name):
    dataset = load(folder(places=None))
    for answer in run(dataset, name).values():
        assert answer["gyration_radius"] == 0.0
        assert len(answer["intention_sequences"]) == 48


@pytest.mark.parametrize("name", BASELINES)
def test_people_without_work_or_off_the_map_have_a_day_too(folder, load, name):
    profiles = [
        {"id": 1, "home": 1, "work": None},
        {"id": 2, "home": None, "work": 2},
        {"id": 3, "home": 999, "work": None, "occupation": "retired"},
    ]
    assert len(run(load(folder(profiles=profiles)), name)) == 3


def test_the_home_baseline_goes_nowhere_and_the_commuter_to_work(folder, load):
    dataset = load(folder())
    home, commuter = (run(dataset, name)["user[10]"] for name in ("home", "commuter"))
    assert (home["gyration_radius"], home["daily_location_numbers"]) == (0.0, 1.0)
    assert (commuter["gyration_radius"], commuter["daily_location_numbers"]) == (500.0, 2.0)
    assert [commuter["intention_sequences"][slot] for slot in (17, 18, 35, 36)] == [2, 4, 4, 2]
