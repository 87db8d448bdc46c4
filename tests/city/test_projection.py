"""Longitude and latitude. The expected numbers are those of PROJ 9.5 (through pyproj 3.7.2)."""

from __future__ import annotations

import pytest

from pytest_agentbench.city.projection import Projection


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        (
            "+proj=tmerc +lat_0=39.9 +lon_0=116.4",
            (12345.6, 6543.2),
            (116.54448571922087, 39.95884004287871),
        ),
        (
            "+proj=tmerc +lat_0=33.99 +lon_0=-81.03 +k=0.9999 +x_0=500 +y_0=-30",
            (12345.6, 6543.2),
            (-80.90169295328292, 34.04919823465569),
        ),
        ("+proj=utm +zone=50", (512345.6, 4406543.2), (117.14422876655357, 39.80877307657658)),
        (
            "+proj=utm +zone=33 +south +datum=WGS84 +units=m +no_defs",
            (512345.6, 4406543.2),
            (15.174049397758369, -50.49295769987867),
        ),
        (
            "+proj=tmerc +lat_0=-33.9 +lon_0=18.4",
            (12345.6, 6543.2),
            (18.533384245048076, -33.84093761474158),
        ),
    ],
)
def test_degrees_are_those_of_proj(text, position, expected):
    projection = Projection(text)
    assert projection.known
    assert projection.lnglat(*position) == pytest.approx(expected, abs=1e-11)  # 1 µm


def test_the_origin_of_a_map_is_where_it_says():
    text = "+proj=tmerc +lat_0=39.9 +lon_0=116.4"
    assert Projection(text).lnglat(0, 0) == pytest.approx((116.4, 39.9), abs=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "EPSG:4326",
        "+proj=merc +lon_0=3",
        "+proj=utm",
        "+proj=utm +zone=77",
        "+proj=utm +zone=x",
        "+proj=tmerc +lat_0=north",
        "+proj=tmerc +lat_0=1 +lon_0=2 +units=us-ft",
        "+proj=tmerc +lat_0=1 +lon_0=2 +ellps=bessel",
    ],
)
def test_without_a_known_projection_degrees_count_from_an_arbitrary_origin(text):
    projection = Projection(text)
    assert not projection.known
    assert projection.lnglat(111_320.0, -55_660.0) == (1.0, -0.5)
