"""Questions asked ahead of their turn: K at once, while pytest still reports one item after the other.

The calls in flight are bounded, not the answers that wait for their turn: one slow call holds up
its own item and nothing else.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Generic, TypeVar

from pytest_agentbench.agents.ask import Outcome

Key = TypeVar("Key")


class Ahead(Generic[Key]):
    """Asks the planned questions in their order, ``concurrency`` at a time."""

    def __init__(
        self, ask: Callable[[Key], Outcome], plan: Iterable[Key], concurrency: int
    ) -> None:
        self._ask = ask
        self._waiting = deque(plan)
        self._futures: dict[Key, Future[Outcome]] = {key: Future() for key in self._waiting}
        self._threads = [
            threading.Thread(target=self._work, name=f"agentbench-ahead-{n}", daemon=True)
            for n in range(min(concurrency, len(self._waiting)))
        ]
        for thread in self._threads:
            thread.start()

    def take(self, key: Key) -> Outcome:
        """The outcome of a question, once; one that was not planned, or again, is asked now."""
        future = self._futures.pop(key, None)
        return self._ask(key) if future is None else future.result()

    def finished(self) -> dict[Key, Outcome]:
        """Outcomes that are there and that nobody has taken."""
        done = {key: future for key, future in self._futures.items() if future.done()}
        return {key: future.result() for key, future in done.items() if future.exception() is None}

    def stop(self) -> None:
        """Starts no more questions. Those in flight end with the process."""
        self._waiting.clear()

    def _work(self) -> None:
        while True:
            try:
                key = self._waiting.popleft()
            except IndexError:
                return
            future = self._futures[key]
            try:
                future.set_result(self._ask(key))
            except BaseException as error:
                future.set_exception(error)
