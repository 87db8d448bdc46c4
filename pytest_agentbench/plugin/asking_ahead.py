"""Work shared out among xdist's workers once and for all, so that each can ask ahead of its turn.

xdist's own schedulers tell a worker its next item only. Here worker 0 of 3 has the items 0, 3, 6 …,
and knows it without being told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pytest_agentbench.plugin import compat

T = TypeVar("T")


def share(items: Sequence[T], worker: str, workers: int) -> Sequence[T]:
    """The items of the worker called ``gw0``, ``gw1`` …; a worker started later has none of its own."""
    number = int(worker.removeprefix("gw"))
    return items[number::workers] if number < workers else items[:0]


def is_called_off(config: Any) -> bool:
    """Whether the controller has told this worker to end while items of its share are left.

    Behind its share every worker finds the word to end; the second one means now.
    """
    left = compat.queued(config)
    return len(left) > 2 and not any(isinstance(one, int) for one in left[-2:])
