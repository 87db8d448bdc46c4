"""Every shape of agent is called alike, and a slow one is given up."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_agentbench.agents.ask import ask
from pytest_agentbench.agents.call import LocalAgent, _LoopThread
from pytest_agentbench.agents.errors import AgentTimeout, LoopBlocked
from pytest_agentbench.agents.loop_time import Call
from pytest_agentbench.agents.retry import is_transient
from pytest_agentbench.base.errors import BenchmarkError


def plain(context):
    return context + 1


async def coroutine(context):
    await asyncio.sleep(0)
    return context + 1


class Forward:
    made = 0

    def __init__(self):
        type(self).made += 1

    def forward(self, context):
        return context + 1


class AsyncForward:
    async def forward(self, context):
        return context + 1


class Callable:
    def __call__(self, context):
        return context + 1


SHAPES = [plain, coroutine, Forward, Forward(), AsyncForward, AsyncForward(), Callable, Callable()]


@pytest.mark.parametrize("timeout", [None, 10.0])
@pytest.mark.parametrize(
    "target", SHAPES, ids=lambda target: getattr(target, "__name__", type(target).__name__)
)
def test_every_shape_answers(target, timeout):
    agent = LocalAgent(target, timeout)
    assert [agent(1), agent(2)] == [2, 3]
    agent.close()


def test_a_class_is_made_once():
    Forward.made = 0
    agent = LocalAgent(Forward)
    assert Forward.made == 0
    agent(1)
    agent(2)
    assert Forward.made == 1


def test_a_client_bound_to_its_event_loop_survives_from_call_to_call():
    class Client:
        def __init__(self):
            self.lock = None

        async def forward(self, context):
            self.lock = self.lock or (asyncio.Lock(), asyncio.get_running_loop())
            async with self.lock[0]:
                return asyncio.get_running_loop() is self.lock[1]

    for timeout in (None, 5.0):
        agent = LocalAgent(Client, timeout)
        assert [agent(1), agent(2)] == [True, True]
        agent.close()


@pytest.mark.parametrize("timeout", [None, 10.0])
def test_what_the_agent_raises_comes_out(timeout):
    def fails(context):
        raise KeyError(context)

    with pytest.raises(KeyError, match="7"):
        LocalAgent(fails, timeout)(7)


def test_what_is_no_agent_is_refused():
    with pytest.raises(BenchmarkError, match="expected a function f"):
        LocalAgent(3)(1)


def sync_sleep(seconds):
    time.sleep(seconds)
    return "done"


async def async_sleep(seconds):
    await asyncio.sleep(seconds)
    return "done"


async def blocking_async(seconds):
    time.sleep(seconds)
    return "done"


def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "done"


@pytest.mark.parametrize("target", [sync_sleep, async_sleep, blocking_async, busy])
def test_a_slow_call_is_given_up_and_the_next_one_answers(target):
    agent = LocalAgent(target, timeout=1.0)
    with pytest.raises(AgentTimeout, match=r"no answer within 1 s"):
        agent(90)
    assert agent(0) == "done"
    agent.close()


def test_a_coroutine_that_ran_out_of_time_is_cancelled():
    ended = threading.Event()

    async def forever(context):
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()

    with pytest.raises(AgentTimeout):
        LocalAgent(forever, timeout=0.1)(1)
    assert ended.wait(timeout=90)


def test_python_code_that_ran_out_of_time_is_interrupted():
    ended = threading.Event()

    def forever(context):
        try:
            busy(600)
        finally:
            ended.set()

    with pytest.raises(AgentTimeout):
        LocalAgent(forever, timeout=0.1)(1)
    assert ended.wait(timeout=90)


def test_many_threads_may_call_at_once():
    class Meeting:
        """Answers nobody before everybody has asked."""

        asked = 0

        async def forward(self, context):
            self.asked += 1
            while self.asked < 20:
                await asyncio.sleep(0.01)
            return context

    agent = LocalAgent(Meeting, timeout=60.0)
    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(agent, range(20))) == list(range(20))


def test_an_agents_own_timeout_error_is_not_ours():
    def fails(context):
        raise TimeoutError("the model's server")

    with pytest.raises(TimeoutError, match="the model's server"):
        LocalAgent(fails, timeout=5.0)(1)


class Nasty:
    def __repr__(self):
        raise KeyboardInterrupt

    __eq__ = __len__ = __iter__ = __repr__
    __hash__ = None


@pytest.mark.parametrize("timeout", [None, 10.0])
@pytest.mark.parametrize(
    "kind", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit]
)
def test_a_coroutine_may_raise_what_ends_a_loop(kind, timeout):
    async def inner():
        raise kind("inner")

    async def agent(context):
        if context == "itself":
            raise kind("own")
        if context == "task":
            await asyncio.create_task(inner())
        if context == "stop":
            asyncio.get_running_loop().stop()
            await asyncio.sleep(60)
        return context

    called = LocalAgent(agent, timeout)
    for context in ("itself", "task", "stop"):
        with pytest.raises((kind, asyncio.CancelledError, RuntimeError)):
            called(context)
        assert called("fine") == "fine"
    called.close()


@pytest.mark.parametrize("timeout", [None, 10.0])
def test_an_answer_is_plain_before_anybody_looks_at_it(timeout):
    async def later(context):
        return [Nasty(), (1,), float("inf")]

    for target in (lambda context: [Nasty(), (1,), float("inf")], later):
        agent = LocalAgent(target, timeout)
        assert agent(1) == [{"<Nasty>": "<a Nasty>"}, [1], float("inf")]
        agent.close()


def test_an_object_that_never_ends_takes_the_agents_time():
    class Endless:
        def tolist(self):
            while True:
                time.sleep(0.01)

    agent = LocalAgent(lambda context: Endless(), 0.2)
    with pytest.raises(AgentTimeout):
        agent(1)
    agent.close()


def together(agent, contexts):
    """What comes of calls that are made at once, each from its own thread."""

    def outcome(context):
        try:
            return agent(context)
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(contexts)) as pool:
        return list(pool.map(outcome, contexts))


class Crowd:
    """Begins when everybody is there; then one of them blocks the loop that they share."""

    def __init__(self, block, people):
        self.block, self.people, self.there = block, people, 0

    async def forward(self, context):
        self.there += 1
        while self.there < self.people:
            await asyncio.sleep(0.01)
        if context == "blocks":
            await asyncio.gather(self.blocking())
        await asyncio.sleep(0.05)
        return context

    async def blocking(self):  # in a task of its own, as many agents have
        self.block()


@pytest.mark.parametrize("block", [time.sleep, busy])
def test_who_blocks_the_loop_uses_up_its_own_time_alone(block):
    agent = LocalAgent(Crowd(lambda: block(4.0), 4), timeout=2.0)
    blocks, *others = together(agent, ["blocks", 1, 2, 3])
    assert type(blocks) is AgentTimeout
    assert others == [1, 2, 3]
    assert agent(4) == 4
    agent.close()


def test_calls_on_a_loop_that_never_comes_back_say_so_and_may_be_made_again():
    released = threading.Event()
    agent = LocalAgent(Crowd(lambda: released.wait(600), 3), timeout=1.0)
    blocks, *others = together(agent, ["blocks", 1, 2])
    released.set()
    assert type(blocks) is AgentTimeout
    for error in others:
        assert type(error) is LoopBlocked
        assert is_transient(error)
        assert "another call blocked the event loop that it shares with this one" in str(error)
    agent.close()


def test_with_retries_they_are_made_again():
    released = threading.Event()
    agent = LocalAgent(Crowd(lambda: released.wait(600), 3), timeout=1.0)
    with ThreadPoolExecutor(3) as pool:
        blocks, *others = pool.map(lambda one: ask(agent, one, retries=1), ["blocks", 1, 2])
    released.set()
    assert type(blocks.error) is AgentTimeout
    assert [(one.answer, one.error) for one in others] == [(1, None), (2, None)]
    assert [one.usage.counts for one in others] == [{"retries": 1}] * 2
    agent.close()


def test_who_ran_out_of_time_interrupts_nobody_else_who_holds_the_loop():
    begun, released = threading.Event(), threading.Event()

    async def holds():
        begun.set()
        released.wait(600)
        return "done"

    loop = _LoopThread(limited=True)
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(loop.run, Call(), holds(), 600.0)
        assert begun.wait(90)
        assert loop.returns(Call(), 1.0)  # in its own time
        released.set()
        assert held.result() == "done"
    loop.end()
