"""Work shared out among xdist's workers once and for all, so that each can ask ahead of its turn.

xdist's own schedulers tell a worker its next item only. Here worker 0 of 3 has the items 0, 3, 6 …,
and knows it without being told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from xdist.scheduler import LoadScheduling  # type: ignore[import-untyped]

T = TypeVar("T")


def share(items: Sequence[T], worker: str, workers: int) -> Sequence[T]:
    """The items of the worker called ``gw0``, ``gw1`` …; a worker started later has none of its own."""
    number = int(worker.removeprefix("gw"))
    return items[number::workers] if number < workers else items[:0]


def is_called_off(config: Any) -> bool:
    """Whether the controller has told this worker to end while items of its share are left.

    Behind its share every worker finds the word to end; the second one means now.
    """
    for plugin in config.pluginmanager.get_plugins():
        queue = getattr(plugin, "torun", None)
        if queue is not None and hasattr(queue, "lock"):  # xdist's side of the worker
            with queue.lock() as left:
                return len(left) > 2 and not any(
                    isinstance(one, int) for one in (left[-1], left[-2])
                )
    return False


class SharedOut(LoadScheduling):  # type: ignore[misc] # xdist has no annotations
    """Sends every worker its whole share at once; what a dead worker leaves is handed on as usual."""

    collection: list[str] | None
    maxschedchunk: int | None

    def schedule(self) -> None:
        if self.collection is not None:
            super().schedule()
            return
        if not self._check_nodes_have_same_collection():
            return
        self.collection = next(iter(self.node2collection.values()))
        if self.maxschedchunk is None:
            self.maxschedchunk = len(self.collection)
        indices: Any = range(len(self.collection))
        rest = set(indices)
        for node in self.nodes:
            own = list(share(indices, node.gateway.id, self.numnodes))
            self.node2pending[node].extend(own)
            node.send_runtest_some(own)
            rest.difference_update(own)
        self.pending[:] = sorted(rest)  # shares of workers that died before they had any
        for node in self.nodes:
            self.check_schedule(node)
