"""Questions asked ahead of their turn: several at once, while pytest reports one item after another.

The calls in flight are bounded; the answers that wait for their turn are not. One slow call holds
up its own item and nothing else.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from pytest_agentbench.agents import captured
from pytest_agentbench.agents.ask import Outcome, ask
from pytest_agentbench.base.redaction import NO_SECRETS, Secrets
from pytest_agentbench.benchmarks.protocol import Dataset

Key = TypeVar("Key")


class Prefetch(Generic[Key]):
    """Asks an agent about samples in their order, ``concurrency`` at a time.

    ``samples`` maps each question to the index of its sample.
    """

    def __init__(
        self,
        agent: Callable[[Any], Any],
        dataset: Dataset,
        samples: Mapping[Key, int],
        retries: int,
        concurrency: int,
        secrets: Secrets = NO_SECRETS,
        keep: Callable[[Key, Outcome], bool | None] | None = None,
    ) -> None:
        """``keep`` gets each outcome in the thread that asked, before anybody takes it; true: leave the rest."""
        self._agent = agent
        self._dataset = dataset
        self._retries = retries
        self._keep = keep
        self._secrets = secrets
        self._futures: dict[Key, Future[Outcome | None]] = {key: Future() for key in samples}
        # With its future, which may be taken before the question is asked.
        self._waiting = deque((key, index, self._futures[key]) for key, index in samples.items())
        for number in range(min(concurrency, len(samples))):
            name = f"agentbench-ahead-{number}"
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def take(self, key: Key, seconds: float | None = None) -> Outcome | None:
        """Waits for the outcome of a question; None if it was not planned, was taken before, or is left.

        ``concurrent.futures.TimeoutError`` if it does not come within the time.
        """
        future = self._futures.get(key)
        if future is None:
            return None
        concurrent.futures.wait([future], seconds)
        outcome = future.result(0)
        del self._futures[key]
        return outcome

    def finished(self) -> dict[Key, Outcome]:
        """Outcomes that are there and that nobody has taken."""
        done = {key: future for key, future in self._futures.items() if future.done()}
        came = {key: one.result() for key, one in done.items() if one.exception() is None}
        return {key: outcome for key, outcome in came.items() if outcome is not None}

    def leave(self) -> None:
        """Starts no more questions, and leaves them to whoever wants to take them."""
        with contextlib.suppress(IndexError):
            while True:
                self._waiting.popleft()[2].set_result(None)

    def stop(self) -> None:
        """Starts no more questions. Those in flight end with the process."""
        self._waiting.clear()

    def _work(self) -> None:
        while True:
            try:
                key, index, future = self._waiting.popleft()
            except IndexError:
                return
            try:
                with captured.kept() as printed:
                    sample = self._dataset.sample(index)
                    asked = (str(sample.key), getattr(key, "epoch", 1))
                    outcome = ask(self._agent, sample.context, self._retries, self._secrets, asked)
                outcome.printed = printed
                if self._keep is not None and self._keep(key, outcome):
                    self.leave()
                future.set_result(outcome)
            except BaseException as error:
                future.set_exception(error)
