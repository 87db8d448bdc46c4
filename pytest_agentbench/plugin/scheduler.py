"""The xdist scheduler for runs that ask ahead: every worker knows its share of the items at once.

xdist's own schedulers tell a worker its next item only. Here worker 0 of 3 has the items 0, 3, 6 and
so on. This module needs xdist: import it late.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from xdist.scheduler import LoadScheduling  # type: ignore[import-untyped]

from pytest_agentbench.plugin import compat

T = TypeVar("T")


def share(items: Sequence[T], worker: str, workers: int) -> Sequence[T]:
    """The items of a worker (``gw0``, ``gw1`` …). One that replaces a dead worker has no share."""
    number = int(worker.removeprefix("gw"))
    return items[number::workers] if number < workers else items[:0]


class SharedOut(LoadScheduling):  # type: ignore[misc] # xdist has no annotations
    """Sends every worker its whole share at once; a dead worker's items go to others, as usual."""

    collection: list[str] | None
    maxschedchunk: int | None

    def __init__(self, config: Any, log: Any) -> None:
        super().__init__(config, log)
        compat.check_scheduler(self)

    def schedule(self) -> None:
        first, *others = self.node2collection.values()
        if self.collection is not None or any(other != first for other in others):
            super().schedule()  # for new workers, or to report how the collections differ
            return
        self.collection = first
        if self.maxschedchunk is None:
            self.maxschedchunk = len(first)
        indices: Sequence[int] = range(len(first))
        rest = set(indices)
        for node in self.nodes:
            own = list(share(indices, node.gateway.id, self.numnodes))
            self.node2pending[node].extend(own)
            compat.send_items(node, own)
            rest.difference_update(own)
        # Shares of workers that died before they got any.
        self.pending[:] = sorted(rest)
        for node in self.nodes:
            self.check_schedule(node)
