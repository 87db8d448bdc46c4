"""Where an agent wants to go: an id, a place as the queries return it, or a pair; and when."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Collection, Mapping
from typing import Any

from pytest_agentbench.base.errors import shown

FORMS = (
    "there is no such place: expected the id of an area or of a POI, one of them as the queries return "
    "it, or a pair (area, POI or None)"
)
_WHOLE = re.compile(r"\s*[-+]?[0-9]{1,18}\s*")


class NoSuchPlace(KeyError):
    """A place that is not on the map."""

    def __str__(self) -> str:  # KeyError's own shows the repr
        return str(self.args[0])


class _Refused(Exception):
    """Why an aim is none."""


def resolved(view: Any, aim: Any, own: Collection[Any] = ()) -> tuple[Any, Any]:
    """The area that is meant, and the POI in it or None; or :class:`NoSuchPlace`.

    ``own`` are ids of areas that are known to be on the map: the view, which may be in another process,
    is not asked about them.
    """
    try:
        return _pair(view, aim, own) if isinstance(aim, (tuple, list)) else _one(view, aim, own)
    except _Refused as refused:
        raise NoSuchPlace(f"go_to({shown(aim)}): {refused}") from None


def described(view: Any) -> str:
    """The map, for messages."""
    told = view["map"]
    return f"{told['source']}, {told['aois']:,} places"


def seconds_of(departure: Any) -> float:
    """A departure as seconds since the start."""
    try:
        seconds = float(departure)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not math.isfinite(seconds):
        raise ValueError(
            "expected the departure in seconds since the start (28800 is 08:00 on day 0), got "
            + shown(departure)
        )
    return seconds


def _pair(view: Any, aim: Any, own: Collection[Any]) -> tuple[Any, Any]:
    if len(aim) != 2:
        raise _Refused(FORMS)
    first, second = aim
    position = isinstance(first, float) and isinstance(second, float)
    hint = "; a position (x, y) is no place: nearby((x, y), limit=1) finds one" if position else ""
    try:
        area, inside = _one(view, first, own)
        if second is None or (isinstance(first, Mapping) and isinstance(second, float)):
            return area, inside  # pois_near returns pairs of a POI and metres
        around, poi = _one(view, second, ())
    except _Refused as refused:
        raise _Refused(f"{refused}{hint}") from None
    if poi is None or around != area:
        raise _Refused(f"there is no such POI in the area{hint}")
    return area, poi


def _one(view: Any, aim: Any, own: Collection[Any]) -> tuple[Any, Any]:
    is_poi = isinstance(aim, Mapping) and "aoi_id" in aim
    known = _plain_id(aim.get("id") if isinstance(aim, Mapping) else aim)
    if known is None:
        raise _Refused(FORMS)
    number = isinstance(known, str) and _WHOLE.fullmatch(known)
    for place in (known, int(known)) if number else (known,):
        if not is_poi and place in own:
            return place, None
        if (found := _found(view, place, is_poi)) is not None:
            return found
    raise _Refused(_unknown(view, known))


def _found(view: Any, place: Any, is_poi: bool) -> tuple[Any, Any] | None:
    """An area of this id, else a POI in its area. POIs and areas may have the same ids."""
    if not is_poi:
        try:
            return view.place(place)["id"], None
        except KeyError:
            pass
    try:
        poi = view.poi(place)
    except KeyError:
        return None
    if poi["aoi_id"] is None:
        raise _Refused("this POI is in no area of the map")
    return poi["aoi_id"], poi["id"]


def _unknown(view: Any, known: Any) -> str:
    text = isinstance(known, str)
    if not (text and _WHOLE.fullmatch(known)):
        ids = (*view.aoi_ids(), *view.poi_ids())
        if text and all(isinstance(one, int) for one in ids):
            return f"ids are whole numbers here, got the text {shown(known)}"
        if not text and all(isinstance(one, str) for one in ids):
            return f"ids are texts here, got the number {shown(known)}"
    return f"there is no such place on the map ({described(view)})"


def _plain_id(value: Any) -> Any:
    """A whole number or a text, of whatever class it came; None for all else."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        return None
