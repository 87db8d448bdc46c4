"""Data folders, and the items of a run."""

from __future__ import annotations

import json

import pytest
from benchmarks.hurricane_mobility.hurricane_parts import TRUTH, load

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.hurricane_mobility.data import TRUTH_FILE


def test_an_item_a_profile_or_one_for_all(folder):
    path = folder(profiles=[{"id": 3}, {"id": 4}])
    assert [str(key) for key in load(path).keys] == ["user[3]", "user[4]"]
    whole = load(path, items="population")
    assert [str(key) for key in whole.keys] == ["population[all]"]
    assert [profile["id"] for profile in whole.sample(0).context["profiles"]] == [3, 4]
    assert load(path).digest != whole.digest
    context = load(path).sample(1).context
    assert context["profile"]["id"] == 4
    assert [day["period"] for day in context["days"]] == ["before", "during", "after"]
    assert json.loads(json.dumps(context)) == context


def test_the_weather_is_told_as_published_and_in_force_day_by_day(folder):
    path = folder(profiles=[{"id": 3}])
    context = load(path, tick_timeout=1.5).sample(0).context
    sunny, landfall, passed = context["simulation"]["weather"]
    assert sunny == "The weather is sunny"
    assert landfall == (
        "Hurricane Dorian has made landfall in other cities, travel is slightly affected, and winds "
        "can be felt."
    )
    assert (
        passed == "Hurricane Dorian has passed, the weather is normal and does not affect travel."
    )
    assert [day["weather"] for day in context["days"]] == [sunny, landfall, passed]
    ticks = {key: context["simulation"][key] for key in ("step", "steps", "tick_timeout")}
    assert ticks == {"step": 1800, "steps": 144, "tick_timeout": 1.5}
    assert (
        f"none of places.parquet, places.csv, places.json in {path}"
        in (context["simulation"]["no_city"])
    )
    assert "simulation" not in load(path, items="population").sample(0).context


def test_without_profiles_there_is_one_item(folder):
    path = folder()
    assert [str(key) for key in load(path).keys] == ["population[all]"]
    with pytest.raises(
        BenchmarkError, match=r"items: user needs profiles\.json, which is not there"
    ):
        load(path, items="user")


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ("[", "expected relative_changes and hourly_trips as JSON"),
        ({}, "expected a number as relative_changes.during_vs_before, got None"),
        (
            {**TRUTH, "hourly_trips": {"before": [1] * 24, "during": [1] * 23}},
            "expected 24 numbers of at least 0 as hourly_trips.during, got [1, 1",
        ),
        (
            {**TRUTH, "relative_changes": {"during_vs_before": "-5 %"}},
            "during_vs_before, got '-5 %'",
        ),
    ],
)
def test_a_bad_truth_is_named(folder, truth, message):
    path = folder(truth)
    with pytest.raises(BenchmarkError) as error:
        load(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path / TRUTH_FILE))


def test_the_description_says_what_trips_follow(folder):
    demo = "100 profiles, one by one, 545 places, roads (places.csv)"
    assert load(items="user").description.endswith(demo)
    assert load(items="population").description.endswith("100 profiles, as one population")
    path = folder(profiles=[{"id": 3}])
    assert load(path).description.endswith("1 profiles, one by one")
    (path / "places.csv").write_text("id,x,y,category\n1,0,0,home\n2,5,5,\n")
    straight = "one by one, 2 places, no roads: straight lines times 1.3 (places.csv)"
    assert load(path).description.endswith(straight)
