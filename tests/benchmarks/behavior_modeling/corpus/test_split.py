"""The cut is the latest one that leaves enough people: by trying all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.benchmarks.behavior_modeling.corpus.split import choose_cut

times = st.integers(0, 12)
people = st.lists(st.tuples(times, times).map(sorted), min_size=1, max_size=12)


@given(people, st.integers(1, 8))
def test_it_is_the_latest_cut_that_leaves_enough(pairs, wanted):
    def left(cut):
        return sum(enough < cut <= last for enough, last in pairs)

    enough, last = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    cut, count = choose_cut(enough, last, wanted)
    assert count == left(cut)
    cuts = range(14)
    fine = [c for c in cuts if left(c) >= wanted]
    if fine:
        assert cut == max(fine)
    else:
        assert count == max(map(left, cuts))
