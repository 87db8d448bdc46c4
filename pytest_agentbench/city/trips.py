"""One trip: a route with a departure, and where the traveller is at any second of it."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from pytest_agentbench.city.travel import Position, Route, between, lengths_along, share_of

MOST_POINTS = 40  # of a trip's route in the answer


class Trip:
    """A way that begins at a second and leads to a place."""

    def __init__(self, route: Route, start: Any, to: Any, poi: Any, departure: float) -> None:
        self.start = start  # the place where it begins; None on the way
        self.to = to
        self.poi = poi
        self.mode = str(route["mode"])
        self.roads = bool(route["roads"])  # whether it follows them
        self.departure = departure
        self.ends = departure + route["seconds"]
        self._points = route["points"]
        self._times = [point[2] for point in self._points]
        self._along = lengths_along(self._points, route["metres"])
        self._lanes = route["lanes"]

    def position_at(self, second: float) -> Position:
        at, share = share_of(self._times, second - self.departure)
        (ax, ay, _), (bx, by, _) = self._points[at], self._points[at + 1]
        return between(ax, bx, share), between(ay, by, share)

    def metres_at(self, second: float) -> float:
        """Metres travelled by then."""
        at, share = share_of(self._times, second - self.departure)
        return between(self._along[at], self._along[at + 1], share)

    def lane_at(self, second: float) -> tuple[Any, float] | None:
        """The lane and the metres along it since it was entered; None where there are no roads.

        On the way to the first lane it is that one, and from the last lane to the place the last one.
        """
        if not self._lanes:
            return None
        last = self._points[-2][2]  # there the road is left
        passed = min(second - self.departure, last)
        at = max(0, bisect_right(self._lanes, passed, key=_entered) - 1)
        lane, entered = self._lanes[at]
        metres = self.metres_at(self.departure + passed) - self.metres_at(self.departure + entered)
        return lane, max(0.0, metres)

    def told(self, until: float, arrived: bool, roads: bool) -> dict[str, Any]:
        """The trip up to a second, for the answer.

        Whether it follows roads is said where it differs from ``roads``, which holds for the day.
        """
        return {
            "departure": round(self.departure, 1),
            "arrival": round(self.ends, 1) if arrived else None,
            "from": self.start,
            "to": self.to,
            "mode": self.mode,
            "metres": round(self.metres_at(until), 1),
            "route": self._travelled(until),
            **({} if self.roads == roads else {"roads": self.roads}),
        }

    def _travelled(self, until: float) -> list[list[float]]:
        """The points passed by then and the last position, of long routes every few of them."""
        at, _ = share_of(self._times, until - self.departure)
        passed = [point[:2] for point in self._points[: at + 1]]
        if len(passed) >= MOST_POINTS:
            passed = [
                passed[number * len(passed) // (MOST_POINTS - 1)]
                for number in range(MOST_POINTS - 1)
            ]
        points = [[round(x, 1), round(y, 1)] for x, y in (*passed, self.position_at(until))]
        return [p for n, p in enumerate(points) if n == 0 or p != points[n - 1]]


def _entered(lane: Any) -> float:
    return float(lane[1])
