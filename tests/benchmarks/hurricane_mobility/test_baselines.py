"""Baselines answer for one person and for all."""

from __future__ import annotations

import pytest
from benchmarks.hurricane_mobility.hurricane_parts import (
    BENCHMARK,
    READING,
    load,
    record,
)

from pytest_agentbench.benchmarks.hurricane_mobility.answers import TOTALS
from pytest_agentbench.benchmarks.hurricane_mobility.baselines import BASELINES


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
