"""The built-in agents on histories small enough to predict by hand, and on the demo data."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_agentbench.benchmarks.humob.baselines import BASELINES
from pytest_agentbench.benchmarks.humob.benchmark import Humob

GRID = {"x": [1, 200], "y": [1, 200], "cell_km": 0.5}
HOME, WORK, BAR = [10, 10], [20, 30], [90, 90]


def context(history, targets):
    return {"uid": 1, "history": history, "targets": targets, "grid": GRID, "edition": "2023"}


def answer(name, history, targets):
    return BASELINES[name](context(history, targets))


def test_mean_is_the_mean_point_rounded_to_a_cell():
    history = [[0, 0, 1, 10], [0, 1, 2, 10], [1, 5, 2, 11]]
    assert answer("mean", history, [[60, 1], [60, 2]]) == [[2, 10], [2, 10]]
    assert answer("mean", [[0, 0, 1, 10], [0, 1, 2, 11]], [[60, 1]]) == [[2, 11]]


def test_mode_is_the_cell_seen_most_and_of_equals_the_last():
    history = [[0, 0, *HOME], [0, 1, *WORK], [0, 2, *HOME]]
    assert answer("mode", history, [[60, 1]] * 2) == [HOME, HOME]
    assert answer("mode", [*history, [0, 3, *WORK]], [[60, 1]]) == [WORK]


def test_slot_mode_knows_the_hour_and_asks_the_nearest_one():
    history = [[d, t, *cell] for d in range(5) for t, cell in ((10, HOME), (20, WORK))]
    assert answer("slot-mode", history, [[60, 10], [60, 20], [60, 13], [60, 47]]) == [
        HOME, WORK, HOME, WORK,
    ]  # fmt: skip


def test_weekday_slot_mode_knows_the_day_of_the_week():
    history = [[d, 20, *(HOME if d % 7 == 3 else WORK)] for d in range(56)]
    targets = [[59, 20], [60, 20], [66, 20], [66, 25]]
    assert [d % 7 == 3 for d, _ in targets] == [True, False, True, True]
    assert answer("weekday-slot-mode", history, targets) == [HOME, WORK, HOME, WORK]
    assert answer("slot-mode", history, targets) == [WORK] * 4


def test_decayed_slot_mode_follows_somebody_who_has_moved():
    history = [[d, 20, *(HOME if d < 40 else WORK)] for d in range(60)]
    assert answer("decayed-slot-mode", history, [[60, 20]]) == [WORK]
    assert answer("slot-mode", history, [[60, 20]]) == [HOME]


def test_bigram_goes_on_from_the_cell_it_is_in():
    # Whoever was in the bar at 40 stays there at 41; the usual cell at 41 is home.
    history = []
    for d in range(9):
        history += [[d, 40, *(BAR if d % 3 else HOME)], [d, 41, *(BAR if d % 3 else HOME)]]
        history += [[d, 45, *HOME]]
    assert answer("bigram", history, [[60, 40], [60, 41], [60, 45]]) == [BAR, BAR, HOME]
    # A new day starts from its hour, not from yesterday's last cell.
    assert answer("bigram", history, [[60, 41], [61, 45]]) == [BAR, HOME]


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_answers_for_anybody(name, load):
    assert answer(name, [], [[60, 1], [61, 47]]) == [[100, 100], [100, 100]]
    assert answer(name, [[3, 5, *HOME]], [[60, 1], [61, 47]]) == [HOME, HOME]
    sample = load("demo").sample(7)
    given = Humob().check(sample, BASELINES[name](sample.context))
    assert given == Humob().check(sample, BASELINES[name](sample.context))


def test_the_names_of_the_issue_are_there():
    assert list(BASELINES) == [
        "mean", "mode", "slot-mode", "weekday-slot-mode", "decayed-slot-mode", "bigram",
    ]  # fmt: skip
    assert Humob.default_baseline == "mean"


def test_the_template_is_a_runnable_agent_that_beats_the_mean(load):
    space: dict = {}
    exec(Humob().agent_template(), space)
    predict = space["predict"]
    dataset = load("demo", users="80000-80019")
    samples = [dataset.sample(index) for index in range(len(dataset))]
    scores = {
        name: [
            Humob().score_sample(s, Humob().check(s, agent(s.context)))["2023"]["geobleu"]
            for s in samples
        ]
        for name, agent in (("template", predict), ("mean", BASELINES["mean"]))
    }
    assert sum(scores["template"]) > 2 * sum(scores["mean"])


def test_loading_the_benchmark_imports_nothing_heavy():
    code = (
        "import sys, pytest_agentbench.benchmarks.humob.benchmark;"
        "print(sorted({'polars', 'numba', 'pandas', 'pytest'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_table_in_the_docs_is_what_the_command_prints():
    root = Path(__file__).parents[3]
    script = runpy.run_path(str(root / "perf" / "humob_baselines.py"))
    assert script["baseline_table"]() in (root / "docs" / "humob.md").read_text(encoding="utf-8")
