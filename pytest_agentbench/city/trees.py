"""Shortest paths on a directed graph: trees from one node to all others, the latest kept at hand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import cached_property
from typing import Any

import numpy as np

KEPT_BYTES = 64_000_000  # of trees, in each process


class Trees:
    """A graph with weights, and the shortest paths from its nodes. Threads may share it."""

    def __init__(self, nodes: int, begin: Any, end: Any, weights: Any, edges: Any) -> None:
        """``edges`` are the numbers that :meth:`path` gives. Of parallel ones the lightest counts."""
        used, compact = np.unique(np.concatenate([begin, end]), return_inverse=True)
        self._compact = np.full(nodes, -1, np.int64)
        self._compact[used] = np.arange(len(used))
        self._count = len(used)
        begin, end = compact[: len(begin)], compact[len(begin) :]
        order = np.lexsort((np.arange(len(begin)), weights, end, begin))
        keys = begin[order] * self._count + end[order]
        first = np.append(True, keys[1:] != keys[:-1]) if len(keys) else np.empty(0, bool)
        loops = begin[order] == end[order]
        chosen = order[first & ~loops]
        # As SciPy wants them; a sparse array keeps the type that it is given.
        self._begin, self._end = begin[chosen].astype(np.int32), end[chosen].astype(np.int32)
        self._keys = begin[chosen].astype(np.int64) * self._count + end[chosen]
        self._weights, self._edges = weights[chosen], edges[chosen]
        self._most = max(16, KEPT_BYTES // (12 * max(1, self._count)))
        self._kept: OrderedDict[int, tuple[Any, Any]] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def _matrix(self) -> Any:
        from scipy.sparse import csr_array  # type: ignore[import-untyped]

        shape = (self._count, self._count)
        return csr_array((self._weights, (self._begin, self._end)), shape=shape)

    @cached_property
    def components(self) -> tuple[Any, Any]:
        """The strongly connected component of each node, and how many nodes each has.

        Nodes without edges have one of their own, of size 0.
        """
        from scipy.sparse.csgraph import (  # type: ignore[import-untyped]
            connected_components,
        )

        count, labels = connected_components(self._matrix, connection="strong")
        sizes = np.append(np.bincount(labels, minlength=count), 0)
        return np.append(labels, count)[self._compact], sizes

    def tree(self, source: int) -> Costs:
        """The cost of the way to every node, infinite where none leads there."""
        return Costs(self._compact, self._tree(int(self._compact[source]))[0])

    def path(self, source: int, target: int) -> list[int]:
        """The edges on the way to a node that can be reached, in their order."""
        node, root = int(self._compact[target]), int(self._compact[source])
        _, before = self._tree(root)
        nodes = [node]
        while node != root:
            node = int(before[node])
            nodes.append(node)
        passed = np.array(nodes[::-1], np.int64)
        found = np.searchsorted(self._keys, passed[:-1] * self._count + passed[1:])
        return [int(edge) for edge in self._edges[found].tolist()]

    def _tree(self, node: int) -> tuple[Any, Any]:
        """The costs of all nodes, and the node before each on the way there."""
        if node < 0:
            return np.full(self._count, np.inf), None
        with self._lock:
            if (found := self._kept.get(node)) is not None:
                self._kept.move_to_end(node)
                return found
        from scipy.sparse.csgraph import dijkstra

        made: tuple[Any, Any] = dijkstra(self._matrix, indices=node, return_predecessors=True)
        with self._lock:
            self._kept[node] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


class Costs:
    """What the way to each node costs."""

    def __init__(self, compact: Any, costs: Any) -> None:
        self._compact, self._costs = compact, costs

    def __getitem__(self, node: int) -> float:
        at = int(self._compact[node])
        return float(self._costs[at]) if at >= 0 else float("inf")
