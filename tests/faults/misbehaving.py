"""Agents that misbehave, each in one way, and the status that its sample must have all the same.

As a module it is itself an agent of :class:`Samples`: sample ``n`` behaves in the ``n``-th way. Agents that
end their process or speak to pytest are elsewhere.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import gc
import json
import locale
import logging
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import types
import warnings
from collections import UserDict, deque
from pathlib import Path
from typing import Any

import numpy as np

BEHAVIOURS: dict[str, tuple[Any, str]] = {}


def then(status: str) -> Any:
    """The sample of this behaviour has such a record; a good answer is ``context["a"]``."""

    def keep(function: Any) -> Any:
        BEHAVIOURS[function.__name__] = (function, status)
        return function

    return keep


def agent(context: Any) -> Any:
    function, _ = list(BEHAVIOURS.values())[context["a"]]
    return function(context)


def bomb() -> list:
    value: list = [1]
    for _ in range(40):
        value = [value, value]
    return value


class Own(BaseException):
    pass


class Unprintable(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt

    __repr__ = __str__


class Hostile:
    def _raise(self, *args: Any) -> Any:
        raise SystemExit(0)

    __repr__ = __str__ = __eq__ = __len__ = __iter__ = __bool__ = __getitem__ = __float__ = _raise
    __hash__ = None  # type: ignore[assignment]


class Spoiled(str):
    __str__ = __repr__ = __eq__ = Hostile._raise  # type: ignore[assignment]
    __hash__ = str.__hash__


# What it raises


@then("error")
def exits(context):
    sys.exit(0)


@then("error")
async def exits_in_a_coroutine(context):
    sys.exit(0)


@then("error")
async def exits_in_a_task(context):
    async def inner():
        raise SystemExit(0)

    await asyncio.create_task(inner())


@then("error")
def interrupts(context):
    raise KeyboardInterrupt


@then("error")
async def interrupts_in_a_coroutine(context):
    raise KeyboardInterrupt


@then("error")
async def cancels_itself(context):
    raise asyncio.CancelledError


@then("error")
async def stops_the_loop(context):
    asyncio.get_running_loop().stop()
    await asyncio.sleep(60)


@then("error")
def raises_what_is_no_exception(context):
    raise Own("own")


@then("error")
def raises_generator_exit(context):
    raise GeneratorExit


@then("error")
def raises_stop_iteration(context):
    raise StopIteration(bomb())


@then("error")
def raises_what_cannot_be_printed(context):
    raise Unprintable


@then("error")
def raises_a_bomb(context):
    raise ValueError(bomb())


@then("error")
def raises_twenty_megabytes(context):
    raise ValueError("x" * 20_000_000)


@then("error")
def raises_in_a_circle(context):
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__cause__ = second, first
    raise first


@then("error")
def raises_a_thousand_in_a_row(context):
    error: Exception = ValueError("first")
    for number in range(1000):
        try:
            raise ValueError(number) from error
        except ValueError as caught:
            error = caught
    raise error


@then("error")
def recurses(context):
    return recurses(context)


@then("error")
def raises_a_lone_surrogate(context):
    raise ValueError("\ud800\0\x1b[31m]]>")


@then("error")
def fails_an_assertion_on_a_bomb(context):
    assert bomb() == 1


# What it answers


@then("invalid")
def answers_a_bomb(context):
    return bomb()


@then("invalid")
def answers_what_holds_itself(context):
    value: list = []
    value += [value, {"a": value}]
    return value


@then("invalid")
def answers_a_hostile_object(context):
    return [Hostile(), {Spoiled("x"): Hostile()}]


@then("invalid")
def answers_a_hostile_text(context):
    return Spoiled("x")


@then("invalid")
def answers_a_generator(context):
    return (number for number in range(10))


@then("invalid")
def answers_endlessly(context):
    import itertools

    return itertools.count()


@then("invalid")
def answers_a_huge_number(context):
    return {"n": 10**5000}


@then("invalid")
def answers_objects_of_others(context):
    array = np.empty(1, object)
    array[0] = bomb()
    return [deque([bomb()]), UserDict({"a": bomb()}), array, types.SimpleNamespace(a=bomb())]


@then("invalid")
def answers_ten_megabytes(context):
    return "x" * 10_000_000


@then("invalid")
def answers_a_class(context):
    return Hostile


@then("invalid")
async def answers_a_coroutine_of_a_coroutine(context):
    async def inner():
        return 1

    made = inner()
    made.close()
    return made


@then("ok")
async def forgets_a_coroutine(context):
    asyncio.sleep(0)
    return context["a"]


# What it does to its process


@then("ok")
def prints_ten_megabytes(context):
    sys.stdout.write("o" * 5_000_000)
    sys.stderr.write("e" * 5_000_000)
    return context["a"]


@then("ok")
def fills_the_log(context):
    for number in range(2000):
        logging.getLogger("agent").warning("%s", number)
    return context["a"]


@then("ok")
def changes_the_folder(context):
    os.chdir(tempfile.mkdtemp())
    return context["a"]


@then("ok")
def removes_its_folder(context):
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    Path(folder).rmdir()
    return context["a"]


@then("ok")
def replaces_its_output(context):
    sys.stdout = sys.stderr = None  # type: ignore[assignment]
    return context["a"]


@then("ok")
def changes_handlers_of_signals(context):
    with contextlib.suppress(ValueError):  # not the main thread
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
    return context["a"]


@then("ok")
def sets_an_alarm_off(context):
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        time.sleep(0.05)
    return context["a"]


@then("ok")
def changes_the_environment(context):
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    os.environ.clear()
    os.environ.update(kept, TZ="Pacific/Kiritimati", LC_ALL="tr_TR.UTF-8", COLUMNS="-1")
    time.tzset()
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    return context["a"]


@then("ok")
def makes_warnings_errors(context):
    warnings.simplefilter("error")
    return context["a"]


@then("ok")
def seeds_and_stops_collecting(context):
    random.seed(0)
    np.random.seed(0)
    gc.disable()
    return context["a"]


@then("ok")
def turns_the_log_off(context):
    logging.disable(logging.CRITICAL)
    logging.getLogger().handlers.clear()
    return context["a"]


@then("ok")
def lowers_the_recursion_limit(context):
    sys.setrecursionlimit(max(200, _frames() + 60))
    return context["a"]


def _frames() -> int:
    frame, count = sys._getframe(), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


@then("ok")
def traces_every_line(context):
    sys.settrace(lambda *_: None)
    sys.setprofile(lambda *_: None)
    return context["a"]


@then("ok")
def forks(context):
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    os.waitpid(pid, 0)
    return context["a"]


@then("ok")
def starts_a_thread_that_raises(context):
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    return context["a"]


@then("ok")
def starts_a_thread_that_never_ends(context):
    threading.Thread(target=time.sleep, args=(10_000,), daemon=False).start()
    return context["a"]


@then("ok")
def starts_a_pool_that_never_ends(context):
    from concurrent.futures import ThreadPoolExecutor

    ThreadPoolExecutor(1).submit(time.sleep, 10_000)
    return context["a"]


@then("ok")
def removes_modules(context):
    for name in ("decimal", "csv", "uuid", "fractions", "html.parser", "toybench"):
        sys.modules.pop(name, None)
    return context["a"]


@then("ok")
def removes_its_file(context):
    with contextlib.suppress(OSError):  # an isolated agent may not
        Path(__file__).unlink()
    return context["a"]


@then("ok")
def removes_its_temporary_folder(context):
    place = os.environ.get("TMPDIR")
    if place:
        shutil.rmtree(place, ignore_errors=True)
    return context["a"]


@then("ok")
def closes_its_output(context):
    for number in (1, 2):
        with contextlib.suppress(OSError):
            os.close(number)
    return context["a"]


@then("ok")
def replaces_what_others_use(context):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("replaced by the agent")

    json.dump = broken
    time.strftime = broken
    builtins.input = broken
    random.random = broken
    return context["a"]


@then("ok")
def is_good_after_all_that(context):
    return context["a"]
