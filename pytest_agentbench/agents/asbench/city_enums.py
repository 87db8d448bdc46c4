"""The enums of pycityproto that agents import: how a person moves, and how a trip is made.

They serve where pycityproto is not installed. Names and numbers are those of its protocol. As with
protobuf's own, the values are plain numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any


class NumberedNames:
    """Names and numbers: ``Status.STATUS_DRIVING``, ``Status.Name(2)``, ``Status.Value("STATUS_…")``."""

    def __init__(self, title: str, numbers: Mapping[str, int]) -> None:
        self._title = title
        self._numbers = dict(numbers)

    def __getattr__(self, name: str) -> int:
        try:
            return self._numbers[name]
        except KeyError:
            raise AttributeError(
                f"{self._title}: expected {', '.join(self._numbers)}; got {name!r}"
            ) from None

    def Name(self, number: int) -> str:  # noqa: N802 -- protobuf's
        for name, known in self._numbers.items():
            if known == number:
                return name
        raise ValueError(f"{self._title}: expected one of {self.values()}, got {number!r}")

    def Value(self, name: str) -> int:  # noqa: N802 -- protobuf's
        try:
            return self._numbers[name]
        except KeyError:
            raise ValueError(
                f"{self._title}: expected one of {self.keys()}, got {name!r}"
            ) from None

    def keys(self) -> list[str]:
        return list(self._numbers)

    def values(self) -> list[int]:
        return list(self._numbers.values())

    def items(self) -> list[tuple[str, int]]:
        return list(self._numbers.items())


Status = NumberedNames(
    "Status",
    {
        "STATUS_UNSPECIFIED": 0,
        "STATUS_SLEEP": 1,  # at a place
        "STATUS_DRIVING": 2,
        "STATUS_WALKING": 3,
        "STATUS_CROWD": 4,
        "STATUS_PASSENGER": 5,
        "STATUS_WAIT_ROUTE": 6,
        "STATUS_WAIT_BUS": 7,
        "STATUS_RAIL_TRANSIT": 8,
        "STATUS_WAIT_TAXI": 9,
    },
)
TripMode = NumberedNames(
    "TripMode",
    {
        "TRIP_MODE_UNSPECIFIED": 0,
        "TRIP_MODE_WALK_ONLY": 1,
        "TRIP_MODE_DRIVE_ONLY": 2,
        "TRIP_MODE_BUS_WALK": 4,
        "TRIP_MODE_BIKE_WALK": 5,
        "TRIP_MODE_TAXI": 6,
        "TRIP_MODE_SUBWAY_WALK": 7,
        "TRIP_MODE_BUS_SUBWAY_WALK": 8,
    },
)

# By which status a person on the way is known. A bicycle is a vehicle on the road.
STATUS_OF_MODE: Mapping[str | None, int] = {
    None: Status.STATUS_SLEEP,
    "walking": Status.STATUS_WALKING,
    "driving": Status.STATUS_DRIVING,
    "cycling": Status.STATUS_DRIVING,
    "transit": Status.STATUS_PASSENGER,
}
_MODE_OF_TRIP = {
    TripMode.TRIP_MODE_UNSPECIFIED: "driving",
    TripMode.TRIP_MODE_WALK_ONLY: "walking",
    TripMode.TRIP_MODE_DRIVE_ONLY: "driving",
    TripMode.TRIP_MODE_BUS_WALK: "transit",
    TripMode.TRIP_MODE_BIKE_WALK: "cycling",
    TripMode.TRIP_MODE_TAXI: "driving",
    TripMode.TRIP_MODE_SUBWAY_WALK: "transit",
    TripMode.TRIP_MODE_BUS_SUBWAY_WALK: "transit",
}
_WORDS = {
    "walking": ("walk", "walking", "foot"),
    "driving": ("drive", "driving", "car", "taxi"),
    "cycling": ("bike", "bicycle", "cycle", "cycling"),
    "transit": ("transit", "bus", "subway", "metro", "train"),
}
_MODE_OF_WORD = {word: mode for mode, words in _WORDS.items() for word in words}


def mode_of(given: Any) -> str:
    """The mode that an agent means: None, a number of ``TripMode``, its name, or a word.

    >>> mode_of(1), mode_of("TRIP_MODE_BIKE_WALK"), mode_of("Car"), mode_of(None)
    ('walking', 'cycling', 'driving', 'driving')
    """
    if given is None:
        return "driving"
    if isinstance(given, str):
        if given in TripMode.keys():  # noqa: SIM118 -- no dict
            return _MODE_OF_TRIP[TripMode.Value(given)]
        if given.lower() in _MODE_OF_WORD:
            return _MODE_OF_WORD[given.lower()]
    else:
        try:
            return _MODE_OF_TRIP[operator.index(given)]
        except (KeyError, TypeError):
            pass
    raise ValueError(
        f"mode: expected a TripMode ({', '.join(TripMode.keys())}) or one of "
        f"{', '.join(_MODE_OF_WORD)}; got {given!r}"
    )
