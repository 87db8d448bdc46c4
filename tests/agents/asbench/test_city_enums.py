"""The stand-ins for pycityproto's enums have its names and numbers, and modes are told by any of them."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.asbench.city_enums import STATUS_OF_MODE, Status, TripMode, mode_of
from pytest_agentbench.city.life import MODES


@pytest.mark.parametrize(
    ("module", "name", "ours"),
    [
        ("pycityproto.city.person.v2.motion_pb2", "Status", Status),
        ("pycityproto.city.trip.v2.trip_pb2", "TripMode", TripMode),
    ],
)
def test_names_and_numbers_are_those_of_pycityproto(module, name, ours):
    real = getattr(pytest.importorskip(module), name)
    assert ours.items() == real.items()
    assert (ours.keys(), ours.values()) == (real.keys(), real.values())
    for member, number in real.items():
        assert getattr(ours, member) == ours.Value(member) == number
        assert ours.Name(number) == real.Name(number)


def test_what_is_no_member_is_named():
    with pytest.raises(
        AttributeError, match=r"Status: expected STATUS_UNSPECIFIED, .*'STATUS_FLYING'"
    ):
        _ = Status.STATUS_FLYING
    with pytest.raises(ValueError, match=r"Status: expected one of \[0, 1, .* got 99"):
        Status.Name(99)
    with pytest.raises(ValueError, match=r"TripMode: expected one of .* got 'FLY'"):
        TripMode.Value("FLY")


@pytest.mark.parametrize(
    ("given", "mode"),
    [
        (None, "driving"), (0, "driving"), (1, "walking"), (2, "driving"), (4, "transit"),
        (5, "cycling"), (6, "driving"), (7, "transit"), (8, "transit"), ("walk", "walking"),
        ("DRIVE", "driving"), ("bike", "cycling"), ("bus", "transit"),
        ("TRIP_MODE_WALK_ONLY", "walking"), *[(mode, mode) for mode in MODES],
    ],
)  # fmt: skip
def test_a_mode_is_told_by_number_name_or_word(given, mode):
    assert mode_of(given) == mode


@pytest.mark.parametrize("given", [3, "fly", 1.5, [1]])
def test_an_unknown_mode_is_named(given):
    with pytest.raises(ValueError, match=r"mode: expected a TripMode \(TRIP_MODE_.*or one of walk"):
        mode_of(given)


def test_every_way_to_travel_has_a_status():
    assert set(STATUS_OF_MODE) == {None, *MODES}
    assert STATUS_OF_MODE[None] == 1
    assert [STATUS_OF_MODE[mode] for mode in ("driving", "walking")] == [2, 3]
