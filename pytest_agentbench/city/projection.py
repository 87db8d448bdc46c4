"""From a flat map to longitude and latitude: the projection that the map names.

Transverse Mercator and UTM on the WGS 84 ellipsoid, by Krüger's series of the fourth order (Karney 2011),
which is exact to well under a millimetre within a city. Without a projection, or with another one,
degrees count from an arbitrary origin, (0, 0).
"""

from __future__ import annotations

import math
import re

METRES_A_DEGREE = 111_320.0  # of latitude, and of longitude at the equator
_A, _F = 6_378_137.0, 1 / 298.257223563  # WGS 84: half the long axis, flattening
_N = _F / (2 - _F)
_RECTIFYING = _A / (1 + _N) * (1 + _N**2 / 4 + _N**4 / 64 + _N**6 / 256)
_E = math.sqrt(_F * (2 - _F))
_FROM_FLAT = (  # β1 to β4: 1e-8 m are left
    _N / 2 - 2 * _N**2 / 3 + 37 * _N**3 / 96 - _N**4 / 360,
    _N**2 / 48 + _N**3 / 15 - 437 * _N**4 / 1440,
    17 * _N**3 / 480 - 37 * _N**4 / 840,
    4397 * _N**4 / 161280,
)
_TO_FLAT = (  # α1 to α4
    _N / 2 - 2 * _N**2 / 3 + 5 * _N**3 / 16 + 41 * _N**4 / 180,
    13 * _N**2 / 48 - 3 * _N**3 / 5 + 557 * _N**4 / 1440,
    61 * _N**3 / 240 - 103 * _N**4 / 140,
    49561 * _N**4 / 161280,
)


class Projection:
    """What a PROJ text such as ``+proj=tmerc +lat_0=39.9 +lon_0=116.4`` says."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        given = dict(re.findall(r"\+(\w+)=(\S+)", text))
        given.update(dict.fromkeys(re.findall(r"\+(\w+)(?=\s|$)", text), ""))
        try:
            self._parts = _parts(given)
        except ValueError:
            self._parts = None

    @property
    def known(self) -> bool:
        """Whether degrees are those of the earth."""
        return self._parts is not None

    def lnglat(self, x: float, y: float) -> tuple[float, float]:
        """Longitude and latitude of a position in metres."""
        if self._parts is None:
            return x / METRES_A_DEGREE, y / METRES_A_DEGREE
        lon_0, lat_0, scale, x_0, y_0 = self._parts
        radius = scale * _RECTIFYING
        xi = (y - y_0) / radius + _rectified(math.radians(lat_0))
        eta = (x - x_0) / radius
        sphere_xi, sphere_eta = xi, eta
        for j, beta in enumerate(_FROM_FLAT, 1):
            sphere_xi -= beta * math.sin(2 * j * xi) * math.cosh(2 * j * eta)
            sphere_eta -= beta * math.cos(2 * j * xi) * math.sinh(2 * j * eta)
        lon = math.atan2(math.sinh(sphere_eta), math.cos(sphere_xi))
        conformal = math.sin(sphere_xi) / math.hypot(math.sinh(sphere_eta), math.cos(sphere_xi))
        return lon_0 + math.degrees(lon), math.degrees(_latitude(conformal))


def _parts(given: dict[str, str]) -> tuple[float, float, float, float, float] | None:
    """lon_0, lat_0, scale, x_0 and y_0; None for a projection that is not known here."""
    if given.get("datum", "WGS84") != "WGS84" or given.get("ellps", "WGS84") != "WGS84":
        return None
    if given.get("units", "m") != "m" or "b" in given or "R" in given:
        return None
    if given.get("proj") == "utm":
        zone = int(given["zone"]) if "zone" in given else 0
        south = 10_000_000.0 if "south" in given else 0.0
        return (6.0 * zone - 183, 0.0, 0.9996, 500_000.0, south) if 1 <= zone <= 60 else None
    if given.get("proj") != "tmerc":
        return None
    scale = given.get("k_0") or given.get("k") or "1"
    names = (given.get("lon_0", "0"), given.get("lat_0", "0"), scale)
    lon_0, lat_0, factor, x_0, y_0 = map(
        float, (*names, given.get("x_0", "0"), given.get("y_0", "0"))
    )
    return lon_0, lat_0, factor, x_0, y_0


def _rectified(latitude: float) -> float:
    """The distance from the equator to a latitude along a meridian, over the rectifying radius."""
    tangent = math.tan(latitude)
    sigma = math.sinh(_E * math.atanh(_E * math.sin(latitude)))
    conformal = tangent * math.hypot(1, sigma) - sigma * math.hypot(1, tangent)
    xi = math.atan(conformal)
    return xi + sum(alpha * math.sin(2 * j * xi) for j, alpha in enumerate(_TO_FLAT, 1))


def _latitude(conformal: float) -> float:
    """The latitude whose conformal latitude has this tangent, by Newton's method."""
    tangent = conformal
    for _ in range(8):
        sigma = math.sinh(_E * math.atanh(_E * tangent / math.hypot(1, tangent)))
        guess = tangent * math.hypot(1, sigma) - sigma * math.hypot(1, tangent)
        slope = (1 + (1 - _E**2) * tangent**2) / (
            (1 - _E**2) * math.hypot(1, tangent) * math.hypot(1, guess)
        )
        step = (conformal - guess) / slope
        tangent += step
        if abs(step) < 1e-14 * max(1.0, abs(tangent)):
            break
    return math.atan(tangent)
