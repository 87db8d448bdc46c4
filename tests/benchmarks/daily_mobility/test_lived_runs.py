"""Whole runs of an agent that lives tick by tick: the record keeps the day, and every reading scores it."""

from __future__ import annotations

import json

import pytest
from benchmarks.tick_agents import COMMUTER

SCENARIO = "benchmark: DailyMobility\ndataset: demo\nagent: agent.py\n"
GATES = (
    "gates:\n  - realism:days_told >= 1\n  - realism:trip_length_jsd <= 0.5\n"
    "  - realism:return_home_generated >= 0.9\n  - realism:travel_time_generated <= 240\n"
    "  - coverage >= 1\n"
)


def test_a_lived_run_is_kept_scored_gated_and_compared(project):
    project.write(day__yaml=SCENARIO + GATES, agent__py=COMMUTER)
    result = project.pytest("--benchmark=day.yaml", "--run-dir=one")
    result.assert_outcomes(passed=105)
    result.stdout.fnmatch_lines(
        [
            "metric*better*realism*",
            "trip_length_jsd*lower*",
            "realism: days told by 100 of 100 people, 100 of them lived tick by tick",
            "realism: against reference_days.json, 200 people",
            "gate passed: realism:trip_length_jsd <= 0.5*",
        ]
    )
    scores = project.scores(project.path / "one")
    panel = scores["details"]["realism"]
    assert (panel["days_told"], panel["days_lived"], panel["reference"]["people"]) == (
        100,
        100,
        200,
    )
    assert panel["values"]["trips"]["generated"] == pytest.approx(1.64)  # 82 of 100 work
    assert set(panel["distributions"]["modes"]["kinds"]) == {"driving", "walking"}
    assert {"age", "gender", "occupation", "education"} <= set(panel["groups"])
    assert {group["kind"] for group in scores["groups"]} >= {"age", "gender", "occupation"}
    lines = (project.path / "one" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    day = json.loads(lines[0])["answer"]["day"]
    assert (len(day["rows"]), day["roads"]) == (101, True)

    # A run is measured again from its records, and is a reference for another.
    same = project.agentbench("compare", "one", "one")
    assert same.ret == 0
    project.write(home__yaml="benchmark: DailyMobility\nagent: agent.py\nreference: one\n")
    project.pytest("--benchmark=home.yaml", "--run-dir=two").assert_outcomes(passed=101)
    again = project.scores(project.path / "two")["readings"]["realism"]
    for name in ("trip_length", "travel_time", "dwell_time", "trips", "motifs", "modes"):
        assert again[f"{name}_jsd"]["value"] == 0.0
    # Other people to compare with: the scores are not compared.
    refused = project.agentbench("compare", "one", "two")
    assert refused.ret != 0
    assert "reference" in str(refused.stderr)


def test_three_people_are_enough(project):
    project.write(day__yaml=SCENARIO, agent__py=COMMUTER)
    for number in ("1", "3"):
        result = project.pytest("--benchmark=day.yaml", f"--limit={number}", f"--run-dir=r{number}")
        result.assert_outcomes(passed=int(number) + 1)


def test_an_unknown_reference_is_a_usage_error_before_anything_runs(project):
    project.write(day__yaml=f"{SCENARIO}reference: nowhere.json\n", agent__py=COMMUTER)
    result = project.pytest("--benchmark=day.yaml")
    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*reference nowhere.json: expected a JSON file (people with visits*"]
    )
