"""The people of a city: read from a file, each with a home and a workplace or without."""

from __future__ import annotations

import json

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city.map import City, Place
from pytest_agentbench.city.profiles import city_view, load_profiles


@pytest.fixture
def read(tmp_path):
    def read(content):
        path = tmp_path / "profiles.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return load_profiles(path)

    return read


def test_a_profile_keeps_its_keys_and_gets_both_anchors(read):
    (profile,) = read([{"id": 7, "age": 30, "home": {"aoi_position": {"aoi_id": 3}}}])
    assert profile == {"id": 7, "age": 30, "home": 3, "work": None}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "expected a list of profiles, got []"),
        ([{"age": 3}], "expected a profile with an id (a number or a name) as entry 0"),
        ([{"id": True}], "expected a profile with an id"),
        ([{"id": 1}, {"id": "1"}], "entry 1: expected an id used once, got '1'"),
        ([{"id": 1, "work": [2]}], "entry 0: expected the id of a place (or null) as work"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(read, content, said):
    with pytest.raises(BenchmarkError) as caught:
        read(content)
    assert said in str(caught.value)


def test_the_view_is_around_home_and_work():
    city = City([Place(1, 0.0, 0.0, "home"), Place(2, 5.0, 0.0, "office")])
    view = city_view(city, {"home": 1, "work": 2})
    assert (view["home"]["id"], view["work"]["id"]) == (1, 2)
    assert city_view(None, {"home": 1}) is None
