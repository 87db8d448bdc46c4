"""Days on roads: on the square of streets by hand, and on the demo's city in several processes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest
from city.city_parts import ROADS, write_tables

from pytest_agentbench.city.life import Life
from pytest_agentbench.city.map_files import load_city
from pytest_agentbench.city.view import CityView

WANDERING = """
import hashlib, json, random, sys
from pathlib import Path
from pytest_agentbench.benchmarks.daily_mobility.data import DEMO_FOLDER
from pytest_agentbench.city.life import MODES, Life
from pytest_agentbench.city.map_files import load_city
from pytest_agentbench.city.view import CityView

def days(seed):
    city, _ = load_city(Path(DEMO_FOLDER))
    rng = random.Random(seed)
    ids = city.aoi_ids
    life = Life(CityView(city, ids[3], None), {"id": 1, "home": ids[3]}, {"step": 900, "steps": 101})
    seen = []
    for _ in range(life.steps):
        life.begin_tick()
        if rng.random() < 0.5:
            life.go_to(rng.choice(ids), rng.choice(MODES))
        seen.append([life.lane, life.mode, life.destination])
        life.end_tick()
    return life.told(), seen

if __name__ == "__main__":
    print(hashlib.sha256(json.dumps(days(5)).encode()).hexdigest())
"""


@pytest.fixture
def life(tmp_path):
    city, _ = load_city(write_tables(tmp_path, roads=ROADS))
    view = CityView(city, 1, 2)
    return Life(view, {"id": 1, "home": 1, "work": 2}, {"step": 60, "steps": 10})


def test_on_the_way_the_lane_is_that_of_the_position(life):
    life.go_to(2)
    seen = []
    for _ in range(5):
        life.end_tick()
        seen.append((life.here, life.lane, life.position))
    # 12.05 s to the road; then 8 m/s on lane 11, 13.36 m/s on lane 12; there after 223.9 s.
    to_the_road = 100 / 8.3
    first = [8 * (second - to_the_road) for second in (60, 120)]
    second = 13.36 * (180 - to_the_road - 125)
    assert [place for place, _, _ in seen] == [None, None, None, 2, 2]
    assert [lane for _, lane, _ in seen[:3]] == [
        (11, pytest.approx(first[0])),
        (11, pytest.approx(first[1])),
        (12, pytest.approx(second)),
    ]
    assert [position for _, _, position in seen[:3]] == [
        pytest.approx((first[0], 0)),
        pytest.approx((first[1], 0)),
        pytest.approx((1000, second)),
    ]
    assert seen[3:] == [(2, None, (1000.0, 1100.0))] * 2
    (trip,) = life.told()["trips"]
    assert (trip["metres"], trip["arrival"]) == (
        2200.0,
        round(2 * to_the_road + 125 + 1000 / 13.36, 1),
    )
    assert trip["route"] == [[0, -100], [0, 0], [1000, 0], [1000, 1000], [1000, 1100]]
    assert life.told()["roads"] is True


def test_turning_round_on_the_way_begins_where_one_is(life):
    life.go_to(2)
    life.end_tick()
    at = life.position
    life.go_to(1, "walking")
    life.end_tick()
    first, second = life.told()["trips"]
    assert second["from"] is None
    assert first["route"][-1] == second["route"][0] == [round(at[0], 1), 0.0]
    # Straight to the nearest crossing, which is home's: no road is left between, so straight home.
    assert "roads" not in first
    assert second["roads"] is False
    assert life.destination == 1
    assert life.lane is None


def test_a_day_is_the_same_in_every_process(tmp_path):
    script = tmp_path / "wandering.py"
    script.write_text(WANDERING)
    printed = [
        subprocess.run(
            [sys.executable, script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    here: dict = {"__name__": "here"}
    exec(WANDERING, here)
    told, seen = here["days"](5)
    assert printed[0].strip() == hashlib.sha256(json.dumps((told, seen)).encode()).hexdigest()
    lanes = {lane[0] for lane, _, _ in seen if lane}
    assert len(lanes) > 5  # it was on the roads
    assert told != here["days"](6)[0]
