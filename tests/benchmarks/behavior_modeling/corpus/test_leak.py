"""The hit rates of orders that do not look at the person, against places counted by hand."""

from __future__ import annotations

import math
import statistics

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.corpus import leak
from pytest_agentbench.benchmarks.behavior_modeling.corpus.scratch import Scratch
from pytest_agentbench.benchmarks.behavior_modeling.corpus.tasks_drawn import Recommendation

# (reviews, mean stars, newest): popularity falls from a to f, stars rise, f was reviewed last.
KNOWN = {"a": (60, 1.0, 5.0), "b": (50, 2.0, 4.0), "c": (40, 3.0, 3.0), "d": (30, 4.0, 2.0),
         "e": (20, 5.0, 1.0), "f": (10, None, 9.0)}  # fmt: skip

CATEGORIES = {"a": "x", "b": "xy", "c": "xyz", "d": "xyzz", "e": "", "f": "xyzw"}  # z twice is one


@pytest.fixture
def database(tmp_path):
    scratch = Scratch(tmp_path)
    scratch.database.executemany(
        "INSERT INTO known_item VALUES (?, ?, ?, ?)", [(item, *of) for item, of in KNOWN.items()]
    )
    scratch.add_items({"item_id": i, "categories": list(names)} for i, names in CATEGORIES.items())
    yield scratch.database
    scratch.close()


def task(item, listed="cabdef"):
    return Recommendation("u", item, tuple(listed), "product")


def test_each_order_puts_the_true_item_where_counting_puts_it(database):
    rates, margin = leak.measure([task("c"), task("f"), task("a")], database)
    # The places of c, f and a, counted from 1; hits at 1, 3 and 5 follow.
    third = {1: 1, 2: 2 / 3, 3: 2 / 3, 4: 1 / 3, 5: 1 / 3, 6: 0}
    places = {
        "unchanged": (1, 6, 2),
        "by popularity": (3, 6, 1),
        "by popularity, reversed": (4, 1, 6),
        "by mean stars": (3, 6, 5),  # no stars at all: last
        "by newest review": (4, 1, 2),
        "fewest categories": (4, 6, 2),  # c and d have as many: as listed, c first
        "most categories": (2, 1, 5),
    }
    assert [rate.order for rate in rates] == list(places)
    for rate in rates:
        hits = [third[place] for place in places[rate.order]]
        assert rate.value == pytest.approx(statistics.mean(hits)), rate.order
        assert rate.error == pytest.approx(statistics.stdev(hits) / math.sqrt(3)), rate.order
        assert rate.chance == pytest.approx((1 / 6 + 3 / 6 + 5 / 6) / 3)
    assert margin == pytest.approx(1 / 3)


def test_chance_is_that_of_lists_of_every_length(database):
    (rate, *_), _ = leak.measure([task("a"), task("a", "ab")], database)
    # Of two, the first 3 and 5 hit for certain.
    assert rate.chance == pytest.approx(((1 + 3 + 5) / 18 + (1 / 2 + 1 + 1) / 3) / 2)


def test_the_table_lines_up_and_has_no_negative_zero():
    rates = [
        leak.Rate("unchanged", 0.15 - 1e-12, 0.02, 0.15),
        leak.Rate("by popularity", 0.1, 0.0, 0.15),
    ]
    lines = leak.table(rates)
    assert len({len(line) for line in lines}) == 1
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[2] == ["unchanged", "0.150", "+0.000", "0.020"]
    assert cells[3] == ["by popularity", "0.100", "-0.050", "0.000"]
    assert cells[-1] == ["chance", "0.150", "", ""]
