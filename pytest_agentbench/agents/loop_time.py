"""Who holds an event loop that calls share, and for how long: a call's time is without that of others.

Code that blocks in a coroutine keeps all other calls on its loop from going on. That is not their fault, so
it does not count against their limits.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Coroutine, Generator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

SHORTEST_LOOK = 0.01  # seconds between two looks at a call whose time stands still


class Call:
    """One call of an agent on a loop. What its tasks do after it ``ended`` is held to be nobody's doing."""

    __slots__ = ("ended", "own")

    def __init__(self) -> None:
        self.own = 0.0  # seconds that its tasks held the loop
        self.ended = False


# Copied into the tasks that a call starts.
CALL: ContextVar[Call | None] = ContextVar("agentbench_call", default=None)


class LoopTime:
    """The time that tasks hold one loop. The thread of the loop writes, any thread reads.

    Without a lock: what interrupts the loop's thread could leave one locked. A reader may for a moment take
    a call's own time for that of others, and so gives it too much time, never too little.
    """

    def __init__(self) -> None:
        self._now: tuple[float, Call | None, float] = (
            0.0,
            None,
            0.0,
        )  # in all, who holds it, since

    def enter(self, call: Call | None) -> Call | None:
        """A step of a call's task begins; who held the loop before, if steps are nested."""
        _, former, _ = self._now
        self._pass_to(call)
        return former

    def leave(self, former: Call | None) -> None:
        self._pass_to(former)

    def _pass_to(self, call: Call | None) -> None:
        now = time.monotonic()
        total, holder, since = self._now
        if holder is None or holder.ended:
            self._now = (total, call, now)
            return
        self._now = (total + now - since, call, now)
        holder.own += now - since

    @property
    def holder(self) -> Call | None:
        """The call that holds the loop, unless it has ended."""
        _, holder, _ = self._now
        return None if holder is None or holder.ended else holder

    def clock(self, call: Call | None) -> float:
        """Seconds that go by for a call: they stand still while another one holds the loop."""
        own = 0.0 if call is None else call.own  # before the rest: see above
        total, holder, since = self._now
        now = time.monotonic()
        others = total - own
        if holder is not None and not holder.ended:
            others += 0.0 if holder is call else now - since
        return now - others


class _Measured(Coroutine[Any, Any, Any]):
    """A task's coroutine, each step of which is measured; for all that asks it is the coroutine itself."""

    def __init__(self, coroutine: Any, times: LoopTime, call: Call | None) -> None:
        self._coroutine = coroutine
        self._times = times
        self._call = call

    def send(self, value: Any) -> Any:
        __tracebackhide__ = True
        former = self._times.enter(self._call)
        try:
            return self._coroutine.send(value)
        finally:
            self._times.leave(former)

    def throw(self, *error: Any) -> Any:
        __tracebackhide__ = True
        former = self._times.enter(self._call)
        try:
            return self._coroutine.throw(*error)
        finally:
            self._times.leave(former)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:  # cr_frame and the like
        return getattr(self._coroutine, name)

    def __repr__(self) -> str:
        return repr(self._coroutine)


_times: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopTime] = weakref.WeakKeyDictionary()


def measured(loop: asyncio.AbstractEventLoop) -> LoopTime:
    """The time of a loop, whose tasks are measured from now on; those of an agent's own making, too."""
    import asyncio

    times = _times.get(loop)
    if times is not None:
        return times
    times = _times[loop] = LoopTime()
    make: Any = loop.get_task_factory() or _plain_task

    def factory(on: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
        context = options.get("context")
        call = CALL.get() if context is None else context.get(CALL)
        if asyncio.iscoroutine(coroutine):
            coroutine = _Measured(coroutine, times, call)
        return make(on, coroutine, **options)

    loop.set_task_factory(factory)
    return times


def _plain_task(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> Any:
    import asyncio

    return asyncio.Task(coroutine, loop=loop, **options)
