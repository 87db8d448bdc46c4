"""Roads as arrays."""

from __future__ import annotations

from pytest_agentbench.city.road_data import USUAL_LIMIT, RoadBuilder, gates


def test_edges_have_lengths_lines_and_lanes():
    builder = RoadBuilder()
    a, b = builder.node("a", (0.0, 0.0)), builder.node("b", (30.0, 40.0))
    assert builder.node("a", (9.0, 9.0)) == a  # it stays where it was
    builder.add(7, a, b, [(0, 0), (0, 40), (30, 40)], speed=10, driving=True)
    builder.add(8, b, a, [(30, 40), (0, 0)], metres=100.0, walking=True)
    arrays, notes = builder.arrays()
    assert len(builder) == 2
    assert notes == {}
    assert arrays["road_nodes"].tolist() == [[0, 0], [30, 40]]
    assert arrays["road_metres"].tolist() == [70, 100]
    assert arrays["road_speed"].tolist() == [10, USUAL_LIMIT]
    assert arrays["road_lane"].tolist() == [7, 8]
    assert arrays["road_line_starts"].tolist() == [0, 3, 5]
    assert arrays["road_along"].tolist() == [0, 40, 70, 0, 100]
    assert arrays["road_driving"].tolist() == [True, False]
    assert arrays["road_walking"].tolist() == [False, True]


def test_a_lane_may_have_a_name_and_no_length():
    builder = RoadBuilder()
    a = builder.node(1, (5.0, 5.0))
    builder.add("High Street", a, a, [(5, 5)], driving=True)
    arrays, notes = builder.arrays()
    assert notes == {"road_lane": ["High Street"]}
    assert arrays["road_metres"].tolist() == [0.01]
    assert arrays["road_along"].tolist() == [0, 0.01]


def test_gates_of_each_area():
    arrays = gates("driving", [[(4, 1.5)], [], [(2, 0.0), (3, 9.0)]])
    assert arrays["gate_driving_starts"].tolist() == [0, 1, 1, 3]
    assert arrays["gate_driving_edge"].tolist() == [4, 2, 3]
    assert arrays["gate_driving_at"].tolist() == [1.5, 0, 9]
