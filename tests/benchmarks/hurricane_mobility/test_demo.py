"""The demo data."""

from __future__ import annotations

import json

import pytest
from benchmarks.hurricane_mobility.hurricane_parts import load
from demo_data import make_hurricane_mobility as make_demo

from pytest_agentbench.benchmarks.daily_mobility.data import DEMO_FOLDER as DAILY_DEMO_FOLDER
from pytest_agentbench.benchmarks.hurricane_mobility.data import DEMO_FOLDER, TRUTH_FILE


def test_the_demo_truth_is_what_the_script_makes_and_says_that_it_is_synthetic():
    text = (DEMO_FOLDER / TRUTH_FILE).read_text(encoding="utf-8")
    assert text == make_demo.demo_json()
    truth = json.loads(text)
    assert "Synthetic" in truth["note"]
    totals = {period: sum(trips) for period, trips in truth["hourly_trips"].items()}
    change = 100 * (totals["during"] / totals["before"] - 1)
    assert truth["relative_changes"]["during_vs_before"] == pytest.approx(change, abs=0.01)
    assert "synthetic" in load().description


@pytest.mark.parametrize("name", make_demo.SHARED)
def test_the_demo_has_the_city_and_the_people_of_the_other_demo(name):
    assert (DEMO_FOLDER / name).read_bytes() == (DAILY_DEMO_FOLDER / name).read_bytes()
