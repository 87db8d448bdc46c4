"""The small city says where its people are in JSON, as another process would see it."""

from __future__ import annotations

from small_city import CITY, HOME, WORK, CountedView, context

from pytest_agentbench.city.view import CityView


def test_a_counted_view_answers_as_the_view_and_counts():
    view = CityView(CITY, HOME, WORK)
    counted = CountedView(view)
    assert counted.aoi_ids() == view.aoi_ids()
    assert counted.pois_near(1000, 0, radius=10) == [
        list(pair) for pair in view.pois_near(1000, 0, 10)
    ]
    assert counted.calls == ["aoi_ids", "pois_near"]
    assert dict(counted) == dict(view)


def test_a_context_has_all_that_a_life_needs():
    assert context(steps=2)["simulation"] == {
        "step": 3600, "steps": 2, "weather": ["The weather is sunny"], "tick_timeout": None,
    }  # fmt: skip
