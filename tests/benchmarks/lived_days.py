"""Lived days for tests: a small city, days as agents tell them, and random rows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from pytest_agentbench.city.map import City, Place

PLACES = (
    Place(500_000_001, 0.0, 0.0, "residential"),
    Place(500_000_002, 600.0, 800.0, "office"),
    Place(500_000_003, 300.0, 0.0, "shop"),
    Place("pub", -50.5, 20.25, "restaurant"),
)
CITY = City(PLACES)
HOME, WORK, SHOP, PUB = (place.id for place in PLACES)


def day(step: int, stays: list[tuple[int, Any, str | None]], **more: Any) -> dict[str, Any]:
    """A lived day of stays: (rows, place or None for on the way, intention), with a trip to each place."""
    rows = []
    for count, place, intention in stays:
        x, y = (10.0, 20.0) if place is None else (CITY.place(place).x, CITY.place(place).y)
        for _ in range(count):
            rows.append([len(rows) * step, place, intention, x, y])
    return {"step": step, "rows": rows, "trips": trips_between(rows), "roads": False, **more}


def trips_between(rows: list[list[Any]]) -> list[dict[str, Any]]:
    """A trip to each place that follows another: it leaves when the last row there was kept."""
    trips, last = [], rows[0]
    for row in rows[1:]:
        if row[1] is not None:
            if row[1] != last[1]:
                trips.append(trip(last[0], row[0], last[1], row[1]))
            last = row
    return trips


def trip(
    departure: float, arrival: float | None, start: Any, to: Any, **more: Any
) -> dict[str, Any]:
    return {
        "departure": departure, "arrival": arrival, "from": start, "to": to, "mode": "driving",
        "metres": 1000.0, "route": [[0.0, 0.0], [600.0, 800.0]], **more,
    }  # fmt: skip


def random_days(step: int, least: int, most: int) -> st.SearchStrategy[dict[str, Any]]:
    """Days of any rows, with known and unknown labels, in which somebody is somewhere."""
    labels = st.sampled_from(
        [None, "Planning", "sleep", "work", "Work", "eating out", "home activity", "", "swim"]
    )
    stay = st.tuples(st.integers(1, 12), st.sampled_from([None, HOME, WORK, SHOP, PUB]), labels)

    def made(stays: list[tuple[int, Any, str | None]], length: int) -> dict[str, Any]:
        told = day(step, stays * (1 + length))
        rows = told["rows"][:length]
        return {**told, "rows": rows, "trips": trips_between(rows)}

    return st.builds(made, st.lists(stay, min_size=1, max_size=30), st.integers(least, most))
