"""The event loop of HTTP requests."""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
import threading
import traceback

import pytest
from processes import happens

from pytest_agentbench.agents import http_loop

SEEN = contextvars.ContextVar("seen", default="nothing")


def test_all_requests_share_one_daemon_thread_and_have_the_callers_context():
    async def look():
        return threading.current_thread(), SEEN.get()

    token = SEEN.set("mine")
    try:
        here = http_loop.wait(look())
        there = asyncio.run(http_loop.awaited(look()))
    finally:
        SEEN.reset(token)
    assert here == there
    assert (here[0].name, here[0].daemon, here[1]) == ("agentbench-http", True, "mine")
    assert here[0] is not threading.current_thread()


def test_who_is_cancelled_cancels_what_it_waits_for():
    started, cancelled = threading.Event(), threading.Event()

    async def forever():
        started.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def give_up():
        waiting = asyncio.create_task(http_loop.awaited(forever()))
        await asyncio.to_thread(happens, started.is_set)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(give_up())
    assert happens(cancelled.is_set)


def test_names_are_looked_up_in_threads_that_nobody_waits_for():
    async def look():
        loop = asyncio.get_running_loop()
        await loop.getaddrinfo("localhost", 80)
        return await loop.run_in_executor(None, threading.current_thread)

    found = http_loop.wait(look())
    assert (found.name, found.daemon) == ("agentbench-names", True)


def fails():
    async def below():
        key = "sk-in-a-local-variable"
        try:
            raise OSError(len(key))
        except OSError as error:
            raise ValueError("no") from error

    return below()


@pytest.mark.parametrize(
    "ask",
    [lambda: http_loop.wait(fails()), lambda: asyncio.run(http_loop.awaited(fails()))],
    ids=["wait", "awaited"],
)
def test_an_error_brings_no_local_variable_from_below(ask):
    with pytest.raises(ValueError, match="no") as caught:
        ask()
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert "sk-in" not in "".join(told.format())
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_has_a_loop_of_its_own():
    async def number():
        return 7

    assert http_loop.wait(number()) == 7
    child = os.fork()
    if child == 0:
        try:
            os._exit(http_loop.wait(number()))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
