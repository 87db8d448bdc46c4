"""The people of a city: who they are, and where they live and work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.base.files import read_json
from pytest_agentbench.city.map import City, CityView, PlaceId

PROFILES = "profiles.json"
LAYOUT = f"{PROFILES} and groundtruth/"


def load_profiles(path: Path) -> list[dict[str, Any]]:
    """The people to imitate: dicts with an ``id``, and ``home`` and ``work`` as ids of places."""
    rows = read_json(path, "a list of profiles")
    if not isinstance(rows, list) or not rows:
        raise BenchmarkError(f"{path}: expected a list of profiles, got {shown(rows)}")
    profiles = []
    ids = set()
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or not _is_id(row.get("id")):
            raise BenchmarkError(
                f"{path}: expected a profile with an id (a number or a name) as entry {number}, "
                f"got {shown(row)}"
            )
        if str(row["id"]) in ids:
            raise BenchmarkError(
                f"{path}: entry {number}: expected an id used once, got {shown(row['id'])}"
            )
        ids.add(str(row["id"]))
        anchors = {key: _anchor(path, number, key, row.get(key)) for key in ("home", "work")}
        profiles.append({**row, **anchors})
    return profiles


def _anchor(path: Path, number: int, key: str, value: Any) -> PlaceId | None:
    """The id of a place; agentsociety's own profiles wrap it as ``{"aoi_position": {"aoi_id": …}}``."""
    wrapped = value
    for name in ("aoi_position", "aoi_id"):
        if isinstance(wrapped, dict) and name in wrapped:
            wrapped = wrapped[name]
    if wrapped is None or _is_id(wrapped):
        place: PlaceId | None = wrapped
        return place
    raise BenchmarkError(
        f"{path}: entry {number}: expected the id of a place (or null) as {key}, got {shown(value)}"
    )


def city_view(city: City | None, profile: Mapping[str, Any]) -> CityView | None:
    """The city around a person, for the context."""
    return None if city is None else CityView(city, profile.get("home"), profile.get("work"))


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool) and value != ""
