"""Shortest paths against the textbook's: try all edges until nothing gets shorter (Bellman-Ford)."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pytest_agentbench.city import trees
from pytest_agentbench.city.trees import Trees


def textbook(nodes, begin, end, weights, source):
    costs = [math.inf] * nodes
    costs[source] = 0.0
    for _ in range(nodes):
        for a, b, weight in zip(begin, end, weights, strict=True):
            costs[b] = min(costs[b], costs[a] + weight)
    return costs


def graph(seed, nodes=30, edges=60):
    rng = np.random.default_rng(seed)
    begin, end = rng.integers(0, nodes, (2, edges))
    return nodes, begin, end, rng.uniform(1, 9, edges)


@pytest.mark.parametrize("seed", range(5))
def test_costs_and_paths_are_the_textbooks(seed):
    nodes, begin, end, weights = graph(seed)
    numbers = np.arange(len(begin)) + 100
    made = Trees(nodes, begin, end, weights, numbers)
    for source in range(nodes):
        expected = textbook(nodes, begin, end, weights, source)
        costs = made.tree(source)
        used = set(begin) | set(end)
        for target in range(nodes):
            if source not in used or target not in used:
                assert costs[target] == math.inf
                continue
            assert costs[target] == pytest.approx(expected[target])
            if math.isfinite(expected[target]):
                path = [edge - 100 for edge in made.path(source, target)]
                assert sum(weights[path]) == pytest.approx(expected[target])
                at = source
                for edge in path:
                    assert begin[edge] == at
                    at = end[edge]
                assert at == target


def test_of_parallel_edges_the_lightest_counts_and_of_equal_ones_the_first():
    begin, end = np.array([0, 0, 0, 0]), np.array([1, 1, 1, 0])
    made = Trees(2, begin, end, np.array([5.0, 3.0, 3.0, 0.1]), np.array([70, 71, 72, 73]))
    assert made.path(0, 1) == [71]
    assert made.tree(0)[1] == 3.0
    assert made.path(0, 0) == []


def test_components_are_those_that_can_be_left_and_entered():
    # 0 <-> 1 <-> 2, from there a one-way street to 3; 4 has no edge.
    begin, end = np.array([0, 1, 1, 2, 2]), np.array([1, 0, 2, 1, 3])
    component, sizes = Trees(5, begin, end, np.ones(5), np.arange(5)).components
    assert [int(sizes[number]) for number in component] == [3, 3, 3, 1, 0]


def test_few_trees_are_kept_and_threads_get_the_same(monkeypatch):
    monkeypatch.setattr(trees, "KEPT_BYTES", 0)
    nodes, begin, end, weights = graph(9)
    made = Trees(nodes, begin, end, weights, np.arange(len(begin)))
    alone = [[made.tree(source)[target] for target in range(nodes)] for source in range(nodes)]
    assert len(made._kept) == 16
    with ThreadPoolExecutor(8) as pool:
        again = list(
            pool.map(lambda n: [made.tree(n % nodes)[t] for t in range(nodes)], range(4 * nodes))
        )
    assert again == alone * 4
    assert len(made._kept) == 16
