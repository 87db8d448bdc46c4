"""How long a way takes: the speed of each mode, and where somebody is after some seconds of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

Position = tuple[float, float]
Route = dict[str, Any]

MODES = ("walking", "driving", "cycling", "transit")
# Metres a second. Walking: what pedestrian standards plan with (1.2 to 1.4). Cycling: 15 km/h, usual in
# cities. Transit: 22 km/h with its stops, after a wait of five minutes. Driving where the map has no
# roads: 30 km/h, the usual average of a city.
SPEEDS = {"walking": 1.3, "driving": 8.3, "cycling": 4.2, "transit": 6.0}
WAITING = {"transit": 300.0}
FASTEST = 16.7  # driving, metres a second: 60 km/h, whatever a lane allows
DRIVEN_SHARE = 0.8  # of the speed limit on average: crossings and other cars slow everybody down
DETOUR = 1.3  # streets are that much longer than the straight line; cities lie between 1.2 and 1.4
# A way by road that is so much longer than the straight line, and longer than so many metres, is none that
# people take: the map lacks roads there.
MOST_DETOUR, LONG_WAY = 3.0, 1000.0
SHORTEST = 1.0  # seconds: whoever leaves is on the way for some time


def checked_mode(mode: Any) -> str:
    """The mode, if it is one."""
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"expected a mode of {', '.join(MODES)}; got {mode!r:.100}")
    return mode


def straight_route(a: Position, b: Position, mode: str) -> Route:
    """The way from a to b where the map has no roads: a straight line, with a detour in its length.

    >>> route = straight_route((0.0, 0.0), (600.0, 800.0), "walking")
    >>> route["metres"], round(route["seconds"]), route["points"][-1]
    (1300.0, 1000, [600.0, 800.0, 1000.0])
    """
    metres = DETOUR * math.hypot(b[0] - a[0], b[1] - a[1])
    waiting = WAITING.get(mode, 0.0)
    seconds = max(SHORTEST, waiting + metres / SPEEDS[mode])
    points = [[a[0], a[1], 0.0], [b[0], b[1], seconds]]
    if waiting:
        points.insert(1, [a[0], a[1], waiting])
    return {
        "metres": metres,
        "seconds": seconds,
        "mode": mode,
        "roads": False,
        "points": points,
        "lanes": [],
    }


def is_roundabout(route: Route, a: Position, b: Position) -> bool:
    """Whether a way by road leads so far round that the map must lack roads.

    >>> [is_roundabout({"metres": metres}, (0.0, 0.0), (600.0, 800.0)) for metres in (3000.0, 3001.0)]
    [False, True]
    """
    straight = math.hypot(b[0] - a[0], b[1] - a[1])
    return bool(route["metres"] > max(LONG_WAY, MOST_DETOUR * straight))


def lengths_along(points: Sequence[Sequence[float]], metres: float) -> list[float]:
    """The metres travelled at each point of a route that is ``metres`` long.

    >>> lengths_along([[0, 0, 0], [30, 40, 10], [30, 90, 20]], 130.0)
    [0.0, 65.0, 130.0]
    """
    along = [0.0]
    for (ax, ay, *_), (bx, by, *_) in itertools.pairwise(points):
        along.append(along[-1] + math.hypot(bx - ax, by - ay))
    scale = metres / along[-1] if along[-1] else 0.0
    return [length * scale for length in along]


def share_of(times: Sequence[float], seconds: float) -> tuple[int, float]:
    """The stretch of a route after some seconds, and how much of it is done, from 0 to 1.

    >>> share_of([0.0, 10.0, 20.0], 15.0), share_of([0.0, 10.0, 20.0], 99.0)
    ((1, 0.5), (1, 1.0))
    """
    low, high = 0, len(times) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= seconds:
            low = middle
        else:
            high = middle
    length = times[high] - times[low]
    done = (seconds - times[low]) / length if length > 0 else 1.0
    return low, min(1.0, max(0.0, done))


def between(a: float, b: float, share: float) -> float:
    """The value between two; exactly the second at the end.

    >>> between(0.1, 0.3, 1.0), between(1.0, 3.0, 0.5)
    (0.3, 2.0)
    """
    return b if share >= 1.0 else a + (b - a) * share
