"""What an xdist worker tells the controller beside its reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_agentbench.plugin import compat

_EVENT = "agentbench"
_SENDER = pytest.StashKey[Callable[..., Callable[[], None]]]()
_HANDLERS = pytest.StashKey[dict[str, Callable[..., None]]]()
_COLLECTED = pytest.StashKey[dict[Any, str]]()
_CREDITED = pytest.StashKey[dict[str, dict[str, str]]]()
WORKERS = pytest.StashKey[set[Any]]()
LOOPING = pytest.StashKey[pytest.Session]()  # the session, from when its loop begins


def send(
    config: pytest.Config, kind: str, confirmed: bool = True, **message: Any
) -> Callable[[], None]:
    """On a worker, in any thread: what it returns waits until the controller has handled it; ``OSError`` if it is gone.

    What is not confirmed is handled before anything that the worker sends later.
    """
    if _SENDER not in config.stash:
        config.stash[_SENDER] = compat.confirmed_sender(config, _EVENT)
    return config.stash[_SENDER](confirmed, kind=kind, **message)


def hear(node: Any) -> None:
    """On the controller: begins to hear a worker. Handlers are called in the thread that hears it."""
    config: pytest.Config = node.config
    config.stash.setdefault(WORKERS, set()).add(node)

    def handle(kind: str, **message: Any) -> None:
        if kind == "collected":
            config.stash.setdefault(_COLLECTED, {})[node] = message["text"]
        elif kind == "credited":
            config.stash.setdefault(_CREDITED, {})[message["run"]] = message["agent"]
        else:
            config.stash[_HANDLERS][kind](**message)

    compat.hear_event(node, _EVENT, handle)


def handle(config: pytest.Config, kind: str, handler: Callable[..., None]) -> None:
    """On the controller: who handles messages of a kind."""
    config.stash.setdefault(_HANDLERS, {})[kind] = handler


def collected(node: Any) -> str | None:
    """What this worker has told of its items, if they ask anything."""
    told: str | None = node.config.stash.get(_COLLECTED, {}).pop(node, None)
    return told


def credited(config: pytest.Config, run: str) -> dict[str, str]:
    """What a worker has told of the agent that answers the marked tests of a run."""
    return config.stash[_CREDITED][run]
