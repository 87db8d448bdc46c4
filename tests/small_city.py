"""A small city, and contexts in which a person lives there: for agents that live tick by tick.

On its straight ways driving takes 1.3 / 8.3 seconds a metre: 1,000 m take 156.6 s.
"""

from __future__ import annotations

import json
from typing import Any

from pytest_agentbench.city.map import City, Place, Poi
from pytest_agentbench.city.view import CityView

HOME, WORK, PARK, FAR = 500_000_001, 500_000_002, 500_000_003, 500_000_004
CAFE, BANK, KIOSK = 700_000_001, 700_000_002, 700_000_003
PLACES = (
    Place(HOME, 0.0, 0.0, "residential"),
    Place(WORK, 1000.0, 0.0, "office"),
    Place(PARK, 0.0, 500.0, "park"),
    Place(FAR, 0.0, 30_000.0, "airport"),
)
POIS = (
    Poi(CAFE, 1005.0, 0.0, "amenity|cafe", "Bean", WORK),
    Poi(BANK, 995.0, 0.0, "amenity|bank", "Coin", WORK),
    Poi(KIOSK, 0.0, 505.0, "shop|kiosk", "News", PARK),
)
CITY = City(PLACES, "places.csv", POIS)
PROFILE = {"id": 7, "age": 40, "gender": "female", "home": HOME, "work": WORK}


def context(
    view: Any = None, profile: dict[str, Any] = PROFILE, city: City = CITY, **simulation: Any
) -> dict[str, Any]:
    """A person's context: four ticks of an hour, unless told otherwise."""
    seen = CityView(city, profile["home"], profile["work"]) if view is None else view
    told = {"step": 3600, "steps": 4, "weather": ["The weather is sunny"], "tick_timeout": None}
    return {"profile": dict(profile), "city": seen, "simulation": {**told, **simulation}}


class CountedView(dict[str, Any]):
    """A view as another process has it: a dict, and calls whose values went through JSON, counted."""

    def __init__(self, view: CityView) -> None:
        super().__init__(json.loads(json.dumps(view)))
        self._view = view
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        assert name in CityView.agentbench_methods, name
        method = getattr(self._view, name)

        def call(*args: Any, **options: Any) -> Any:
            self.calls.append(name)
            given = json.loads(json.dumps([args, options]))
            return json.loads(json.dumps(method(*given[0], **given[1])))

        return call


def places_of(answer: dict[str, Any]) -> list[Any]:
    """Where the person was at each tick."""
    return [row[1] for row in answer["rows"]]
