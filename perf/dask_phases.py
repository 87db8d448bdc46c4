"""The command `agentbench score`, told to say when it reached which phase: for dask_scoring.py.

`python dask_phases.py one|running|started N ARGUMENTS…` prints one line of JSON at the end: when counting began, when
scoring began and when it was done, in seconds since the clock in PHASES_BEGAN. For `one` also the seconds of all
tasks, which can be divided; those that any process needs before its first task; those spent on a task again.

- one: reading, checking and scoring happen in this process, one task after another, without Dask.
- running: on the cluster that the arguments name.
- started: on a cluster of N processes of this machine that the command starts and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

BEGAN = float(os.environ["PHASES_BEGAN"])  # the start of the interpreter is part of it


class Tasks:
    """The tasks of both rounds in this process, and the seconds that they take."""

    def __init__(self) -> None:
        self.divisible = 0.0
        self.setup = 0.0  # imports, compiled loops: every process has them to do
        self.twice = 0.0

    def each(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]:
        for number, argument in enumerate(arguments):
            if number == 0:  # done twice: the second time without what only the first one needs
                first = self._timed(function, argument)[0]
                again, result = self._timed(function, argument)
                self.setup += first - again
                self.twice += again
                self.divisible += again
            else:
                seconds, result = self._timed(function, argument)
                self.divisible += seconds
            yield result

    def _timed(self, function: Callable[[Any], Any], argument: Any) -> tuple[float, Any]:
        start = time.perf_counter()
        result = function(argument)
        return time.perf_counter() - start, result


def main(how: str, processes: int, arguments: Sequence[str]) -> int:
    from pytest_agentbench.benchmarks.humob.pieces import HumobPartitions
    from pytest_agentbench.cli.main import main as command
    from pytest_agentbench.reports import publish
    from pytest_agentbench.runs import cluster

    tasks = Tasks()
    at: dict[str, float] = {}

    def note(owner: Any, name: str, before: str, after: str = "") -> None:
        called = getattr(owner, name)

        def noted(*args: Any, **kwargs: Any) -> Any:
            at[before] = now()
            result = called(*args, **kwargs)
            at.update({after: now()} if after else {})
            return result

        setattr(owner, name, noted)

    def now() -> float:
        return time.time() - BEGAN - tasks.twice

    note(HumobPartitions, "count", "counting", "scoring")
    note(publish, "finish", "scored")
    if how == "one":

        @contextlib.contextmanager
        def here(*_: Any) -> Iterator[Any]:
            yield tasks.each, processes

        cluster.connected = here  # type: ignore[assignment]
    if how == "started":
        os.cpu_count = lambda: processes  # type: ignore[assignment]
    code = command(["score", *arguments])
    print(json.dumps({**at, **vars(tasks)}))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
