"""Baselines as agents: a commuter's trips on three days, with and without a hurricane between.

Seeded from the person's id, so an answer depends neither on order nor on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

Context = Mapping[str, Any]
Trips = list[dict[str, int]]

HOUR = 3600


def steady(context: Context) -> Trips:
    """The same trips on every day, whatever the weather."""
    return _everybody(context, "steady", (1.0, 1.0, 1.0))


def cautious(context: Context) -> Trips:
    """Half of the trips are left out during the hurricane, and a tenth after it."""
    return _everybody(context, "cautious", (1.0, 0.5, 0.9))


BASELINES: Mapping[str, Callable[[Context], Trips]] = {"steady": steady, "cautious": cautious}


def _everybody(context: Context, name: str, chances: tuple[float, ...]) -> Trips:
    """The trips of one person, or of all profiles; without profiles, of one imaginary person."""
    profiles = context.get("profiles", [context.get("profile")]) or [{"id": "nobody"}]
    return [trip for profile in profiles for trip in _trips(profile, name, chances)]


def _trips(profile: Mapping[str, Any], name: str, chances: tuple[float, ...]) -> Trips:
    rng = Random(f"{name}:{profile['id']}")
    usual = [7 * HOUR + int(rng.random() * 3 * HOUR), 17 * HOUR + int(rng.random() * 3 * HOUR)]
    if rng.random() < 0.4:
        usual.append(11 * HOUR + int(rng.random() * 4 * HOUR))
    return [
        {"day": day, "departure": departure}
        for day, chance in enumerate(chances)
        for departure in usual
        if rng.random() < chance
    ]
