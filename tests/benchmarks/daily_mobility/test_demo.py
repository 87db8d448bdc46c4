"""The demo data: made by the script in the repository, small, labelled, of the real set's shape."""

from __future__ import annotations

import json

import numpy as np
import pytest
from demo_data import make_daily_mobility as make_demo

from pytest_agentbench.benchmarks.daily_mobility import data


@pytest.fixture(scope="module")
def made():
    return make_demo.demo_files()


def test_the_committed_files_are_what_the_script_makes(made):
    committed = {
        path.relative_to(data.DEMO_FOLDER).as_posix()
        for path in data.DEMO_FOLDER.rglob("*")
        if path.is_file()
    }
    assert committed == set(made)
    for name, content in made.items():
        path = data.DEMO_FOLDER / name
        if isinstance(content, str):
            assert path.read_text(encoding="utf-8") == content, name
        else:
            stored = np.load(path)
            assert stored.dtype == content.dtype
            assert np.array_equal(stored, content), name


def test_the_files_are_small_and_say_what_they_are(load):
    sizes = [path.stat().st_size for path in data.DEMO_FOLDER.rglob("*") if path.is_file()]
    assert sum(sizes) < 400_000
    assert "Synthetic" in (data.DEMO_FOLDER / "README.txt").read_text()
    assert "synthetic" in load("demo").description


def test_a_hundred_profiles_with_homes_and_work_in_the_city(load):
    dataset = load("demo")
    assert len(dataset) == 100
    for index in range(100):
        context = dataset.sample(index).context
        assert set(context["profile"]) == {
            "id", "age", "education", "gender", "consumption", "occupation", "home", "work",
        }  # fmt: skip
        assert context["city"]["map"]["synthetic"]
        assert context["city"]["home"]["category"] == "residential"
        at_home = context["city"]["work"] == context["city"]["home"]
        assert at_home == (context["profile"]["occupation"] == "retired")


def test_the_city_has_ids_as_published_maps_do_and_streets_everywhere(load):
    view = load("demo").sample(0).context["city"]
    assert view["map"] == {
        "source": "places.csv", "aois": 545, "pois": 1556, "roads": True, "synthetic": True,
    }  # fmt: skip
    assert {aoi // 1_000_000 for aoi in view.aoi_ids()} == {500}
    assert {poi // 1_000_000 for poi in view.poi_ids()} == {700}
    for aoi in view.aois():
        assert aoi["poi_ids"]
        assert view.aois_near(aoi["x"], aoi["y"], 0)[0][0]["id"] == aoi["id"]
    for poi in view.pois():
        assert poi["id"] in view.aoi(poi["aoi_id"])["poi_ids"]
        assert view.aois_near(poi["x"], poi["y"], 0)[0][0]["id"] == poi["aoi_id"]
    home = view["home"]["id"]
    by_road = [view.route(home, aoi, "driving")["roads"] for aoi in view.aoi_ids()]
    assert by_road.count(False) <= 5  # home itself, and who shares its crossing


def test_the_reference_days_are_of_people_of_the_city(load):
    view = load("demo").sample(0).context["city"]
    kept = json.loads((data.DEMO_FOLDER / "reference_days.json").read_text(encoding="utf-8"))
    assert "Synthetic" in kept["note"]
    assert len(kept["people"]) == 200
    places = set(view.aoi_ids())
    for person in kept["people"]:
        assert set(person["profile"]) == {
            "age", "education", "gender", "consumption", "occupation", "home", "work",
        }  # fmt: skip
        seconds = [second for second, _, _ in person["visits"]]
        assert seconds == sorted(seconds)
        assert seconds[0] == 0
        assert seconds[-1] < 86_400
        assert {place for _, place, _ in person["visits"]} <= places
        assert {code for _, _, code in person["visits"]} <= set(range(1, 8))


def test_the_truth_has_the_real_sets_shape(load):
    truth = load("demo").truth
    radius, counts = truth.gyration_radius, truth.daily_location_numbers
    assert np.mean(radius) > np.median(radius) > 1000  # metres, with a long tail
    assert counts.min() >= 1
    assert counts.max() <= 6
    assert np.mean(counts == np.round(counts)) < 0.3  # fractional
    shares = dict(zip(data.CODES, truth.intention_proportions.mean(axis=0), strict=True))
    assert sum(shares[label] for label in ("sleep", "home activity", "work")) > 0.85
    assert min(shares.values()) > 0.005
    assert np.allclose(truth.intention_proportions.sum(axis=1), 1)
    assert (truth.intention_sequences[:, :10] == 1).mean() > 0.95


def test_the_four_arrays_are_not_in_one_order(load):
    truth = load("demo").truth
    sequences = np.stack(
        [(truth.intention_sequences == c).mean(axis=1) for c in range(1, 8)], axis=1
    )
    work = np.corrcoef(sequences[:, 3], truth.intention_proportions[:, 3])[0, 1]
    assert abs(work) < 0.2
