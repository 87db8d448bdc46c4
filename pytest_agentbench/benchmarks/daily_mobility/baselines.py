"""Baselines as agents: each tells a person's day as visits.

What is drawn at random is drawn from the person's id, so an answer depends neither on the order of
the people nor on the number of workers. Without a city the same day is told in four values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from pytest_agentbench.benchmarks.daily_mobility.intentions import LABELS, SLOTS, shares_of

Context = Mapping[str, Any]
Visit = tuple[int, Any, str]  # slot, place, intention
Day = list[Visit]

SLEEP, AT_HOME, OTHER, WORK, SHOPPING, EATING_OUT, LEISURE = LABELS
# What a place offers, by the words that categories of places have in common.
CATEGORY_WORDS = {
    SHOPPING: ("shop", "mall", "market", "retail"),
    EATING_OUT: ("restaurant", "food", "cafe", "catering"),
    LEISURE: ("park", "leisure", "sport", "cinema", "entertainment"),
}
_WORKLESS = ("retired", "unemployed", "none", "homemaker")


def random(context: Context) -> Any:
    """Anything anywhere: a place around home or work and an intention, drawn for every half hour."""
    rng = _rng("random", context)
    places = _places(context) or [None]
    return _told(context, [(slot, _pick(rng, places), _pick(rng, LABELS)) for slot in range(SLOTS)])


def home(context: Context) -> Any:
    """A day at home: asleep until 7 and from 23 on."""
    here = _home(context)
    return _told(context, [(0, here, SLEEP), (14, here, AT_HOME), (46, here, SLEEP)])


def commuter(context: Context) -> Any:
    """The same day for everyone with work: there from 9 to 18; at home otherwise."""
    here, there = _home(context), _work(context)
    if there is None or _is_workless(context["profile"]):
        return home(context)
    return _told(
        context,
        [
            (0, here, SLEEP),
            (14, here, AT_HOME),
            (18, there, WORK),
            (36, here, AT_HOME),
            (46, here, SLEEP),
        ],
    )


def profile_commuter(context: Context) -> Any:
    """A commuter with hours, lunches and evenings of one's own, drawn from the profile."""
    rng = _rng("profile-commuter", context)
    here, there = _home(context), _work(context)
    wakes = 12 + _below(rng, 4)
    sleeps = 43 + _below(rng, 4)
    day: Day = [(0, here, SLEEP), (wakes, here, AT_HOME)]
    free = wakes + 4 + _below(rng, 8)
    if there is not None and not _is_workless(context["profile"]):
        starts = wakes + 2 + _below(rng, 3)
        ends = starts + 16 + _below(rng, 5)
        day.append((starts, there, WORK))
        if rng.random() < _chance(context, 0.15, 0.35):
            lunch = starts + 6 + _below(rng, 3)
            day += [(lunch, _offering(context, there, EATING_OUT, rng), EATING_OUT)]
            day += [(lunch + 2, there, WORK)]
        day.append((ends, here, AT_HOME))
        free = ends
    if rng.random() < _chance(context, 0.35, 0.6):
        what = _pick(rng, (SHOPPING, EATING_OUT, LEISURE, OTHER))
        leaves = free + 1 + _below(rng, 3)
        back = leaves + 2 + _below(rng, 3)
        if back < sleeps:
            day += [(leaves, _offering(context, here, what, rng), what), (back, here, AT_HOME)]
    day.append((sleeps, here, SLEEP))
    return _told(context, day)


BASELINES: Mapping[str, Callable[[Context], Any]] = {
    "random": random,
    "home": home,
    "commuter": commuter,
    "profile-commuter": profile_commuter,
}


def _told(context: Context, day: Day) -> Any:
    """The day as an answer: visits, or without a city the four values with a radius of 0."""
    if _places(context):
        return [
            {"start": slot, "place": place, "intention": intention}
            for slot, place, intention in day
        ]
    sequence: list[int] = []
    ends = [*(slot for slot, _, _ in day[1:]), SLOTS]
    for (slot, _, intention), end in zip(day, ends, strict=True):
        sequence += [LABELS.index(intention) + 1] * (end - slot)
    return {
        "gyration_radius": 0.0,
        "daily_location_numbers": float(len({place for _, place, _ in day})),
        "intention_sequences": sequence,
        "intention_proportions": shares_of(sequence),
    }


def _places(context: Context) -> list[Any]:
    return [place["id"] for place in (context["city"] or {}).get("places", ())]


def _home(context: Context) -> Any:
    """The home, or the first place on the map where the home is not on it."""
    return _on_map(context, "home") or next(iter(_places(context)), context["profile"].get("home"))


def _work(context: Context) -> Any:
    return _on_map(context, "work") if _places(context) else context["profile"].get("work")


def _on_map(context: Context, anchor: str) -> Any:
    place = (context["city"] or {}).get(anchor)
    return None if place is None else place["id"]


def _offering(context: Context, near: Any, intention: str, rng: Random) -> Any:
    """A place for an intention, of the nearest few in the context; any, if none offers it."""
    places = [place for place in (context["city"] or {}).get("places", ()) if place["id"] != near]
    words = CATEGORY_WORDS.get(intention, ())
    fitting = [p for p in places if any(word in p["category"].lower() for word in words)]
    chosen = fitting or places
    if not chosen:
        return intention
    position = next((p for p in (context["city"] or {}).get("places", ()) if p["id"] == near), None)
    if position is not None:
        x, y = position["x"], position["y"]
        chosen.sort(key=lambda place: (place["x"] - x) ** 2 + (place["y"] - y) ** 2)
    return _pick(rng, chosen[:5])["id"]


def _is_workless(profile: Mapping[str, Any]) -> bool:
    return str(profile.get("occupation", "")).strip().lower() in _WORKLESS


def _chance(context: Context, low: float, high: float) -> float:
    """Who spends more goes out more."""
    spending = str(context["profile"].get("consumption", "")).lower()
    if "low" in spending:
        return low
    return high if "high" in spending else (low + high) / 2


def _rng(name: str, context: Context) -> Random:
    return Random(f"{name}:{context['profile']['id']}")


def _below(rng: Random, limit: int) -> int:
    return int(rng.random() * limit)


def _pick(rng: Random, items: Any) -> Any:
    return items[_below(rng, len(items))]
