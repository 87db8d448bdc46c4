"""Data folders: what an agent is told, what is kept from it, and what is refused with which words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.daily_mobility.data import HUB_REPOSITORY
from pytest_agentbench.benchmarks.protocol import SampleKey


def test_a_sample_a_profile_with_the_city_around_it(folder, load):
    dataset = load(folder())
    assert dataset.keys[1] == SampleKey("user", "11")
    assert str(dataset.keys[1]) == "user[11]"
    context = dataset.sample(1).context
    assert context["profile"] == {"id": 11, "age": 30, "occupation": "clerk", "home": 1, "work": 2}
    assert context["city"]["home"] == {"id": 1, "category": "residential", "x": 0.0, "y": 0.0}
    assert context["city"]["work"]["id"] == 2
    assert [place["id"] for place in context["city"]["places"]] == [1, 3, 2, 4]
    assert context["constraints"]["slots"] == 48
    assert context["constraints"]["intentions"]["leisure and entertainment"] == 7
    assert context["simulation"] == {
        "step": 900,
        "steps": 101,
        "weather": ["The weather is sunny"],
        "tick_timeout": None,
    }


def test_a_tick_limit_reaches_the_agent(folder, load):
    assert load(folder(), tick_timeout=2.5).sample(0).context["simulation"]["tick_timeout"] == 2.5


def test_a_context_is_json_as_it_stands(folder, load):
    context = load(folder()).sample(0).context
    assert json.loads(json.dumps(context)) == context


def test_an_agent_that_changes_its_context_changes_nothing_else(folder, load):
    dataset = load(folder())
    context = dataset.sample(0).context
    context["profile"]["age"] = 99
    context["city"]["places"][0]["x"] = 1e9
    context["city"].clear()
    context["constraints"]["intentions"].clear()
    again = dataset.sample(0).context
    assert again["profile"]["age"] == 30
    assert again["city"]["places"][0]["x"] == 0.0
    assert len(again["constraints"]["intentions"]) == 7


def test_no_context_holds_the_truth(folder, load):
    radius = np.linspace(12345.0, 12346.0, 20)
    sample = load(folder(gyration_radius=radius)).sample(0)
    assert "12345" not in json.dumps(sample.context)
    assert "12345" not in repr(sample)


def test_home_and_work_may_be_unknown_or_wrapped_as_agentsociety_does(folder, load):
    profiles = [
        {"id": "a", "home": {"aoi_position": {"aoi_id": 1}}, "work": None},
        {"id": "b", "home": 999},
    ]
    dataset = load(folder(profiles=profiles))
    first, second = (dataset.sample(index).context for index in range(2))
    assert first["profile"]["home"] == 1
    assert (first["city"]["home"]["id"], first["city"]["work"]) == (1, None)
    assert (second["profile"]["work"], second["city"]["home"], second["city"]["places"]) == (
        None,
        None,
        [],
    )


def test_without_a_city_the_description_says_why(folder, load):
    path = folder(places=None)
    dataset = load(path)
    assert dataset.sample(0).context["city"] is None
    assert (
        "4 profiles, no city: there is no map (*.pb) and none of places.parquet"
        in dataset.description
    )


def test_the_digest_follows_the_data_not_their_type(folder, load):
    first = load(folder("a")).digest
    assert load(folder("b")).digest == first
    codes = np.load(folder("c") / "groundtruth" / "daily_intentions_2d.npy")
    assert load(folder("d", daily_intentions_2d=codes.astype(np.int8))).digest == first
    codes[0, 0] = codes[0, 0] % 7 + 1
    assert load(folder("e", daily_intentions_2d=codes)).digest != first
    assert load(folder("f", places=None)).digest != first


def test_the_hub_is_asked_for_the_published_repository(folder, load, monkeypatch):
    from pytest_agentbench.benchmarks.sources import hub

    path, asked = folder(), []
    monkeypatch.setattr(hub, "fetch", lambda *given: (asked.append(given), path)[1])
    assert load("hub").description.startswith(f"{HUB_REPOSITORY}: 4 profiles")
    assert asked == [("tsinghua-fib-lab/daily-mobility-generation-benchmark", None)]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"profiles": None}, "profiles.json: expected a list of profiles, got No such file"),
        ({"profiles": {}}, "profiles.json: expected a list of profiles, got {}"),
        ({"profiles": []}, "profiles.json: expected a list of profiles, got []"),
        (
            {"profiles": [{"id": 1}, {"age": 3}]},
            "expected a profile with an id (a number or a name) as entry 1, got {'age': 3}",
        ),
        ({"profiles": [{"id": 1}, {"id": "1"}]}, "entry 1: expected an id used once, got '1'"),
        (
            {"profiles": [{"id": 1, "home": [2, 3]}]},
            "entry 0: expected the id of a place (or null) as home, got [2, 3]",
        ),
    ],
)
def test_what_is_wrong_in_a_folder_is_named_with_its_file(folder, load, parts, message):
    path = folder(**parts)
    with pytest.raises(BenchmarkError) as error:
        load(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))


def test_profiles_that_are_no_json(folder, load):
    path = folder()
    (path / "profiles.json").write_text("[")
    with pytest.raises(
        BenchmarkError, match=r"expected a list of profiles as JSON \(Expecting value"
    ):
        load(path)


def test_a_dataset_that_is_no_folder(tmp_path, load):
    with pytest.raises(BenchmarkError) as error:
        load(tmp_path / "nowhere")
    assert str(error.value) == (
        f"dataset {tmp_path / 'nowhere'}: expected demo, hub or a folder with profiles.json and groundtruth/"
    )
