"""The people of a city: who they are, and where they live and work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_agentbench.base.errors import expect
from pytest_agentbench.base.files import read_json
from pytest_agentbench.base.plain import is_id
from pytest_agentbench.city.map import City
from pytest_agentbench.city.map_data import PlaceId
from pytest_agentbench.city.view import CityView

PROFILES = "profiles.json"
LAYOUT = f"{PROFILES} and groundtruth/"


def load_profiles(path: Path) -> list[dict[str, Any]]:
    """The people to imitate: dicts with an ``id``, and ``home`` and ``work`` as ids of places."""
    rows = read_json(path, "a list of profiles")
    expect(isinstance(rows, list) and rows, path, "a list of profiles", rows)
    profiles = []
    ids = set()
    for number, row in enumerate(rows):
        named = isinstance(row, dict) and is_id(row.get("id"))
        expect(named, path, f"a profile with an id (a number or a name) as entry {number}", row)
        where = f"{path}: entry {number}"
        expect(str(row["id"]) not in ids, where, "an id used once", row["id"])
        ids.add(str(row["id"]))
        anchors = {key: _anchor(where, key, row.get(key)) for key in ("home", "work")}
        profiles.append({**row, **anchors})
    return profiles


def _anchor(where: str, key: str, value: Any) -> PlaceId | None:
    """The id of a place; agentsociety's own profiles wrap it as ``{"aoi_position": {"aoi_id": …}}``."""
    wrapped = value
    for name in ("aoi_position", "aoi_id"):
        if isinstance(wrapped, dict) and name in wrapped:
            wrapped = wrapped[name]
    known = wrapped is None or is_id(wrapped)
    expect(known, where, f"the id of a place (or null) as {key}", value)
    place: PlaceId | None = wrapped
    return place


def city_view(city: City | None, profile: Mapping[str, Any]) -> CityView | None:
    """The city around a person, for the context."""
    return None if city is None else CityView(city, profile.get("home"), profile.get("work"))
