"""The published data, which come without their map: what a tick-driven agent is told, and who can do without."""

from __future__ import annotations

import json
import shutil

import pytest
from benchmarks.tick_agents import COMMUTER, FOUR_VALUES
from shared_data import SHARED, needs_real_data

ELSEWHERE = "id,x,y,category\n500000001,0,0,office\n500000002,900,0,residential\n"
HOW = ("--agent=agent.py", "--limit=5", "--run-dir=run")


def profiles_of(name):
    return json.loads((SHARED / "real" / name / "profiles.json").read_text(encoding="utf-8"))


def copied(project, name, places):
    """The published data with a table of places beside them, and an agent that needs one."""
    shutil.copytree(SHARED / "real" / name, project.path / "data")
    (project.path / "data").chmod(0o755)
    (project.path / "data" / "places.csv").write_text(places)
    project.write(agent__py=COMMUTER)


@needs_real_data
@pytest.mark.parametrize("name", ["DailyMobility", "HurricaneMobility"])
@pytest.mark.parametrize("how", [(), ("--agent-isolation=process",)])
def test_without_a_map_one_error_says_what_is_missing(project, name, how):
    folder = SHARED / "real" / name
    project.write(agent__py=COMMUTER)
    result = project.pytest(f"--benchmark={name}", f"--dataset={folder}", *HOW, *how)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (error,) = [line for line in result.errlines if line.startswith("ERROR")]
    assert "there is no map (*.pb) and none of places.parquet, places.csv, places.json in" in error
    assert str(folder) in error
    assert not (project.path / "run").exists()


@needs_real_data
@pytest.mark.parametrize("name", ["DailyMobility", "HurricaneMobility"])
def test_places_without_any_home_are_told_once_with_the_first(project, name):
    copied(project, name, ELSEWHERE)
    result = project.pytest(
        f"--benchmark={name}", "--dataset=data", "--agent=agent.py", "--first=5"
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    first, *_ = profiles_of(name)
    result.stderr.fnmatch_lines(
        [
            f"ERROR: home {first['home']} of person {first['id']} is not on the map (places.csv, 2 places): "
            "expected the map that the profiles were made for; of 5 people who would be asked nobody can "
            "live there"
        ]
    )


@needs_real_data
def test_one_workplace_off_the_map_ends_that_person_s_days_alone(project):
    profiles = profiles_of("DailyMobility")
    lost = profiles[1]["work"]
    known = {one[key] for one in profiles for key in ("home", "work")} - {lost}
    rows = "".join(f"{place},{n}00,0,residential\n" for n, place in enumerate(sorted(known)))
    copied(project, "DailyMobility", f"id,x,y,category\n{rows}")
    project.pytest("--benchmark=DailyMobility", "--dataset=data", "--agent=agent.py", "--first=5")
    failed = [record for record in project.records() if record["status"] != "ok"]
    assert [record["sample"] for record in failed] == [f"user[{profiles[1]['id']}]"]
    where = f"work {lost} of person {profiles[1]['id']} is not on the map (places.csv, "
    assert where in failed[0]["error"]


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
