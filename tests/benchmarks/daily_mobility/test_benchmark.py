"""A real run from the command line."""

from __future__ import annotations

import random

import pytest

from pytest_agentbench.benchmarks.daily_mobility.benchmark import DailyMobility
from pytest_agentbench.city.life import Life

SCENARIO = "benchmark: pytest_agentbench.benchmarks.daily_mobility.benchmark:DailyMobility\n"


def test_the_template_runs_and_is_scored_with_its_ceiling(project):
    project.write(
        day__yaml=f"{SCENARIO}agent: agent.py\n", agent__py=DailyMobility().agent_template()
    )
    result = project.pytest("--benchmark", "day.yaml")
    result.assert_outcomes(passed=101)
    result.stdout.fnmatch_lines(
        [
            "*100 samples: 100 ok",
            "*demo data (synthetic): 100 profiles, 545 places, roads (places.csv)",
            "final_score*",
            "noise ceiling of 100 people: 9*",
        ]
    )
    scores = project.scores()
    assert set(scores["readings"]) == {"documented", "published-0.1.4", "realism"}
    assert scores["details"]["noise_ceiling"]["people"] == 100
    assert len(scores["details"]["slots"]) == 48


@pytest.mark.slow
def test_workers_and_failures_give_the_same_scores(project):
    agent = (
        "def live(context):\n"
        "    number = context['profile']['id']\n"
        "    if number % 10 == 3: raise RuntimeError('tired')\n"
        "    if number % 10 == 4: return {'gyration_radius': 2.5}\n"
        "    home = context['profile']['home']\n"
        "    return [{'start': 0, 'place': home, 'intention': 'sleep'},\n"
        "            {'start': 14 + number % 5, 'place': context['city'].nearby(home)[1 + number % 7]['id'],\n"
        "             'intention': 'work'}]\n"
    )
    project.write(
        day__yaml=f"{SCENARIO}agent: agent.py\ngates: [coverage >= 0.8]\n", agent__py=agent
    )
    serial = project.pytest("--benchmark", "day.yaml", "--run-dir", "one")
    serial.assert_outcomes(passed=81, failed=20)
    project.pytest("--benchmark", "day.yaml", "--run-dir", "two", "-n", "2").assert_outcomes(
        passed=81, failed=20
    )
    one, two = (project.scores(project.path / name) for name in ("one", "two"))
    assert one["readings"] == two["readings"]
    for details in (one["details"], two["details"]):
        # The floor has two seconds: beside other work some of it is left out.
        details["notes"] = [note for note in details["notes"] if not note.startswith("floor")]
    assert one["details"] == two["details"]
    assert one["readings"]["documented"]["coverage"]["value"] == pytest.approx(0.8)


def test_test_mode_is_a_usage_error_before_anything_runs(project):
    project.write(day__yaml=SCENARIO)
    result = project.pytest("--benchmark", "day.yaml", "--mode", "test")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["ERROR: --mode: expected a mode of DailyMobility (inference), got 'test'"]
    )
    assert not project.runs()


def test_days_of_the_ticks_template_repeat(load):
    parts: dict = {}
    exec(DailyMobility().agent_template(ticks=True), parts)
    dataset = load("demo")

    def lived(seed, index):
        random.seed(seed)
        context = dataset.sample(index).context
        life = Life(context["city"], context["profile"], context["simulation"])
        person = parts["Person"](life, life.profile)
        for _ in range(life.steps):
            person.step(life.begin_tick())
            life.end_tick()
        return life.told()

    workers = [n for n, one in enumerate(dataset.profiles) if one["home"] != one["work"]][:4]
    first, again = ([lived(seed, index) for index in workers] for seed in (1, 2))
    assert first == again
    departures = [tuple(trip["departure"] for trip in told["trips"]) for told in first]
    assert len(set(departures)) > 1  # and people differ
