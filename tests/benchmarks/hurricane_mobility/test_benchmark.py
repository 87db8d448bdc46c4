"""HurricaneMobility as people run it: its parameter, its template, a submission."""

from __future__ import annotations

import json
import random

import pytest
from benchmarks.hurricane_mobility.hurricane_parts import BENCHMARK, SCENARIO, arrays, load

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city.life import Life


def test_the_parameter_takes_its_two_words_only():
    parse = BENCHMARK.parameters[0].parse
    assert [parse(word) for word in ("user", "population")] == ["user", "population"]
    with pytest.raises(ValueError):  # noqa: PT011 -- options.py says the rest
        parse("city")


def test_the_template_runs(project):
    project.write(storm__yaml=f"{SCENARIO}agent: agent.py\n", agent__py=BENCHMARK.agent_template())
    result = project.pytest("--benchmark", "storm.yaml")
    result.assert_outcomes(passed=101)
    result.stdout.fnmatch_lines(["final_score*", "trips against before (truth): during *"])


def test_a_submission_is_the_answer_of_the_whole_population(folder, tmp_path):
    path = folder(profiles=[{"id": 3}])
    (tmp_path / "pred.json").write_text(json.dumps(arrays(20, 10, 18)))
    whole = load(path, items="population")
    submission = BENCHMARK.read_submission(tmp_path / "pred.json", whole, None)
    assert submission.answers == {"population[all]": arrays(20, 10, 18)}
    with pytest.raises(BenchmarkError, match="run it with `items: population` in a scenario"):
        BENCHMARK.read_submission(tmp_path / "pred.json", load(path), None)


def test_days_of_the_ticks_template_repeat():
    parts: dict = {}
    exec(BENCHMARK.agent_template(ticks=True), parts)
    dataset = load(items="user")

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
