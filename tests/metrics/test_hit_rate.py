"""Hit rates against a definition by position, and against chance by counting."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.hit_rate import CUTS, chance, hit, hits


@given(st.permutations(list("abcdefgh")), st.sampled_from("abcdefghx"))
def test_a_hit_at_n_means_a_rank_of_at_most_n(ranked, truth):
    rank = ranked.index(truth) + 1 if truth in ranked else 99
    assert hits(ranked, truth) == tuple(float(rank <= n) for n in CUTS)


@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_chance_is_the_mean_over_all_orders(size):
    orders = list(itertools.permutations(range(size)))
    for n in CUTS:
        counted = sum(hit([str(i) for i in order], "0", n) for order in orders) / len(orders)
        assert chance(size, n) == pytest.approx(counted)


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="got 0"):
        hit(["a"], "a", 0)
    with pytest.raises(ValueError, match="at least one candidate, got 0"):
        chance(0, 1)
