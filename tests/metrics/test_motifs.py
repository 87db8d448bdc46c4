"""Motifs: every renaming of the places as the oracle, and the motifs of the literature by hand."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.motifs import LARGER, MOST_PLACES, ONE_PLACE, motif

STOPS = st.lists(st.integers(0, 5), min_size=1, max_size=12)


def edges(stops):
    return {(a, b) for a, b in itertools.pairwise(stops) if a != b}


def same_graph(one, other):
    """Equal up to names: every renaming is tried, as the definition says."""
    nodes, others = sorted(set(one)), sorted(set(other))
    if len(nodes) != len(others):
        return False
    return any(
        {(names[a], names[b]) for a, b in edges(one)} == edges(other)
        for order in itertools.permutations(others)
        for names in [dict(zip(nodes, order, strict=True))]
    )


@given(STOPS, STOPS)
def test_motifs_are_equal_exactly_where_the_graphs_are(one, other):
    assert (motif(one) == motif(other)) == same_graph(one, other)


@given(STOPS, st.permutations(range(6)))
def test_names_of_places_do_not_matter(stops, names):
    assert motif(stops) == motif([f"place {names[stop]}" for stop in stops])


@given(STOPS)
def test_the_text_is_the_graph(stops):
    if len(set(stops)) > 1:
        listed = [tuple(map(int, edge.split(">"))) for edge in motif(stops).split()]
        assert len(listed) == len(set(listed)) == len(edges(stops))
        assert {node for edge in listed for node in edge} == set(range(len(set(stops))))


@pytest.mark.parametrize(
    ("stops", "expected"),
    [
        ("h", ONE_PLACE),
        ("hhh", ONE_PLACE),
        ("hwh", "0>1 1>0"),
        ("hw", "0>1"),  # a day that ends elsewhere
        ("hwsh", "0>1 1>2 2>0"),  # a round
        ("hwhsh", "0>1 0>2 1>0 2>0"),  # home in the middle
        ("hwlwh", "0>1 0>2 1>0 2>0"),  # work in the middle: the same graph
        ("habcdeh", "0>1 1>2 2>3 3>4 4>5 5>0"),
        ("habcdefh", LARGER),
    ],
)
def test_days_of_the_literature(stops, expected):
    assert motif(stops) == expected
    assert MOST_PLACES == 6
