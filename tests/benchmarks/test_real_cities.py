"""The published data, which come without their map: what a tick-driven agent is told, and who can do without."""

from __future__ import annotations

import json
import shutil

import pytest
from benchmarks.tick_agents import COMMUTER, FOUR_VALUES
from shared_data import SHARED, needs_real_data

ELSEWHERE = "id,x,y,category\n500000001,0,0,office\n500000002,900,0,residential\n"
HOW = ("--agent=agent.py", "--limit=5", "--run-dir=run")


def errors(project):
    lines = (project.path / "run" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert {record["status"] for record in records} == {"error"}
    return {record["sample"]: record["error"] for record in records}


@needs_real_data
@pytest.mark.parametrize("name", ["DailyMobility", "HurricaneMobility"])
def test_without_a_map_one_error_says_what_is_missing(project, name):
    folder = SHARED / "real" / name
    project.write(agent__py=COMMUTER)
    project.pytest(f"--benchmark={name}", f"--dataset={folder}", *HOW)
    (error,) = set(errors(project).values())
    assert "there is no map (*.pb) and none of places.parquet, places.csv, places.json in" in error
    assert str(folder) in error


@needs_real_data
@pytest.mark.parametrize("name", ["DailyMobility", "HurricaneMobility"])
def test_places_without_the_homes_are_told_with_the_home(project, name):
    shutil.copytree(SHARED / "real" / name, project.path / "data")
    (project.path / "data").chmod(0o755)
    (project.path / "data" / "places.csv").write_text(ELSEWHERE)
    project.write(agent__py=COMMUTER)
    project.pytest(f"--benchmark={name}", "--dataset=data", *HOW)
    profiles = json.loads((SHARED / "real" / name / "profiles.json").read_text(encoding="utf-8"))
    homes = {f"user[{one['id']}]": one["home"] for one in profiles}
    for sample, error in errors(project).items():
        person = sample[5:-1]
        assert (
            f"home {homes[sample]} of person {person} is not on the map (places.csv, 2 places)"
            in error
        )


@needs_real_data
def test_a_home_on_the_map_and_work_off_it_is_told_with_the_work(project):
    profiles = json.loads((SHARED / "real/DailyMobility/profiles.json").read_text(encoding="utf-8"))
    shutil.copytree(SHARED / "real" / "DailyMobility", project.path / "data")
    (project.path / "data").chmod(0o755)
    homes = {one["home"] for one in profiles} - {one["work"] for one in profiles}
    rows = "".join(f"{home},{n}00,0,residential\n" for n, home in enumerate(sorted(homes)))
    (project.path / "data" / "places.csv").write_text(f"id,x,y,category\n{rows}")
    project.write(agent__py=COMMUTER)
    project.pytest("--benchmark=DailyMobility", "--dataset=data", *HOW)
    known = {f"user[{one['id']}]": one["work"] for one in profiles}
    told = [(sample, error) for sample, error in errors(project).items() if "work " in error]
    assert told
    for sample, error in told:
        assert f"work {known[sample]} of person {sample[5:-1]} is not on the map" in error


@needs_real_data
def test_the_four_values_need_no_map(project):
    folder = SHARED / "real" / "DailyMobility"
    project.write(agent__py=FOUR_VALUES)
    result = project.pytest("--benchmark=DailyMobility", f"--dataset={folder}", "--agent=agent.py")
    result.assert_outcomes(passed=101)
    readings = project.scores()["readings"]
    assert readings["documented"]["final_score"]["value"] > 0
    assert readings["realism"]["days_told"]["value"] == 0.0
    # What follows what is in the half hours, of which the truth has some, too.
    assert 0 < readings["realism"]["transitions_jsd"]["value"] < 1
    assert "no answer tells a day" in readings["realism"]["trips_jsd"]["reason"]
