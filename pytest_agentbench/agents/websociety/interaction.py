"""The interaction tool: the store of a context by WebSocietySimulator's names.

It asks the store by its methods alone, so that it is the same in a process of the agent's own. What the
store hides is in no view.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pytest_agentbench.agents.missing import refuse

_AT_ONCE = 5000  # ids asked for at a time


class InteractionTool:
    """``get_user``, ``get_item``, ``get_reviews``, and the data as read-only views.

    Made by an agent itself, it is the one of the task that the agent answers: its folder is not read.
    """

    def __init__(self, data_dir: Any = None, *args: Any, **options: Any) -> None:
        self._given: Any = None

    @classmethod
    def of(cls, store: Any) -> InteractionTool:
        """The tool that asks this store."""
        tool = cls()
        tool._given = store
        return tool

    @property
    def _store(self) -> Any:
        if self._given is not None:
            return self._given
        now = _SERVING.get()
        if (
            now is None and len(_in_flight) == 1
        ):  # a plain thread, which inherits no context variable
            now = _in_flight[0]
        if now is None:
            refuse(
                "users, items and reviews by a tool of its own, outside a task",
                "ask self.interaction_tool, which knows the task",
            )
        return now._given

    def get_user(self, user_id: str) -> Any:
        return self._store.get_user(user_id)

    def get_item(self, item_id: str) -> Any:
        return self._store.get_item(item_id)

    def get_reviews(
        self, item_id: Any = None, user_id: Any = None, review_id: Any = None, **options: Any
    ) -> Any:
        return self._store.get_reviews(
            item_id=item_id, user_id=user_id, review_id=review_id, **options
        )

    @property
    def user_data(self) -> View:
        """Users by their id."""
        return View(self._store, "user", self._store.get_user)

    @property
    def item_data(self) -> View:
        """Items by their id."""
        return View(self._store, "item", self._store.get_item)

    @property
    def review_data(self) -> View:
        """Reviews by their id; those without one are not in it."""
        store = self._store
        return View(store, "review", lambda key: next(iter(store.get_reviews(review_id=key)), None))

    @property
    def item_reviews(self) -> View:
        """The reviews of each item that has some."""
        store = self._store
        return View(store, "reviewed", lambda key: store.get_reviews(item_id=key) or None)

    @property
    def user_reviews(self) -> View:
        """The reviews of each user who wrote some."""
        store = self._store
        return View(store, "reviewer", lambda key: store.get_reviews(user_id=key) or None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._store, name)  # what the store offers beyond these


class CacheInteractionTool(InteractionTool):
    """The same: there is one store, and it is quick."""


class View(Mapping[str, Any]):
    """A table of the store by id. Every look gives fresh objects: changing one changes nothing else."""

    def __init__(self, store: Any, kind: str, get: Callable[[str], Any]) -> None:
        self._store = store
        self._kind = kind
        self._get = get

    def __getitem__(self, key: str) -> Any:
        found = self._get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        after: Any = None
        while page := self._store.ids(self._kind, after=after, limit=_AT_ONCE):
            yield from page
            after = page[-1]

    def __len__(self) -> int:
        return int(self._store.count_ids(self._kind))

    def __repr__(self) -> str:
        return f"<view of the store: {self._kind}>"


# The tool of the task that this thread answers, for those that an agent makes itself.
_SERVING: ContextVar[InteractionTool | None] = ContextVar("agentbench_tool", default=None)
_in_flight: list[InteractionTool] = []
_lock = threading.Lock()


@contextmanager
def serving(tool: InteractionTool | None) -> Iterator[None]:
    """Within it, a tool that an agent makes is this one."""
    if tool is None:
        yield
        return
    token = _SERVING.set(tool)
    with _lock:
        _in_flight.append(tool)
    try:
        yield
    finally:
        with _lock:
            _in_flight.remove(tool)
        _SERVING.reset(token)
