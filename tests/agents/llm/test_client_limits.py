"""What asking a model costs: counted, paced, bounded."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time

import pytest
from llm_server import HELLO, WAYS, error, text, ways
from processes import happens

from pytest_agentbench.agents.llm.client import BudgetExceeded
from pytest_agentbench.agents.usage import CURRENT, Usage
from pytest_agentbench.base.errors import BenchmarkError


def test_usage_goes_to_the_sample_that_asked(server, make):
    llm = make()

    async def sample(calls):
        usage = Usage()
        CURRENT.set(usage)
        await asyncio.gather(*(llm.atext_request(HELLO) for _ in range(calls)))
        return usage.counts["llm_calls"], usage.counts["input_tokens"]

    async def both():
        return await asyncio.gather(*(asyncio.create_task(sample(n)) for n in (1, 5)))

    assert asyncio.run(both()) == [(1, 7), (5, 35)]
    assert llm.spent["llm_calls"] == 6


def test_a_cancelled_request_is_not_tried_again(server, make):
    server.script = [error(500)] * 50
    llm = make(backoff=0.2, retries=50)

    async def cancelled():
        task = asyncio.create_task(llm.atext_request(HELLO))
        await asyncio.to_thread(happens, lambda: server.seen)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert happens(lambda: llm.in_flight == 0)
    assert 1 <= len(server.seen) < 10


def test_requests_are_paced(server, make):
    llm = make({"requests_per_minute": 600})

    async def gather():
        await asyncio.gather(*(llm.atext_request(HELLO) for _ in range(6)))

    asyncio.run(gather())
    at = sorted(seen["at"] for seen in server.seen)
    assert 0.45 < at[-1] - at[0] < 1.5


def test_processes_share_the_rate(server, make):
    llm = make({"requests_per_minute": 600}, processes=3)
    for _ in range(3):
        llm.text_request(HELLO)
    assert server.seen[-1]["at"] - server.seen[0]["at"] > 0.55


@pytest.mark.parametrize(
    "budget", [{"max_tokens": 25}, {"max_cost": 25e-6}], ids=["tokens", "cost"]
)
@pytest.mark.parametrize("way", WAYS)
def test_a_spent_budget_ends_the_asking(server, make, usage, budget, way):
    ask = ways(make({"price_input": 1.0, "price_output": 1.0}, **budget))[way]
    assert [ask(HELLO) for _ in range(3)] == ["Hi"] * 3
    with pytest.raises(BudgetExceeded, match="budget is spent"):
        ask(HELLO)
    assert len(server.seen) == 3
    assert usage.counts["budget_exceeded"] == 1


def test_an_agent_cannot_mistake_a_spent_budget_for_an_error(make):
    llm = make(max_tokens=0)
    with pytest.raises(BudgetExceeded), contextlib.suppress(Exception):
        llm.text_request(HELLO)


def test_a_server_that_does_not_count_is_estimated(server, make, usage):
    server.script = [text("x" * 40, usage=None)]
    make().text_request([{"role": "user", "content": "y" * 80}])
    assert usage.counts == {
        "llm_calls": 1, "llm_calls_estimated": 1, "input_tokens": 20, "output_tokens": 10,
    }  # fmt: skip


def test_max_cost_needs_prices(make):
    with pytest.raises(BenchmarkError, match="max_cost: expected price_input"):
        make(max_cost=1.0)


@pytest.mark.parametrize(("concurrency", "processes", "most"), [(2, 1, 2), (4, 2, 2), (1, 4, 1)])
def test_no_more_requests_are_in_flight_than_an_entry_allows(
    server, make, concurrency, processes, most
):
    lock, flying, seen = threading.Lock(), [0], []

    def step(handler):
        with lock:
            flying[0] += 1
            seen.append(flying[0])
        assert happens(lambda: max(seen) >= most)
        time.sleep(0.05)  # for one too many
        with lock:
            flying[0] -= 1
        text("Hi")(handler)

    server.script = [step] * 8
    llm = make({"concurrency": concurrency}, processes=processes)

    async def all_at_once():
        return await asyncio.gather(*(llm.atext_request(HELLO) for _ in range(8)))

    assert asyncio.run(all_at_once()) == ["Hi"] * 8
    assert max(seen) == most


def test_a_cancelled_request_does_not_wait_for_its_place(server, make):
    cancelled_now = threading.Event()

    def step(handler):
        cancelled_now.wait(timeout=60)
        text("Hi")(handler)

    server.script = [step]
    llm = make({"concurrency": 1})

    async def cancelled():
        first = asyncio.create_task(llm.atext_request(HELLO))
        await asyncio.to_thread(happens, lambda: server.seen)
        second = asyncio.create_task(llm.atext_request(HELLO))
        await asyncio.sleep(0.3)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        cancelled_now.set()
        return await first

    assert asyncio.run(cancelled()) == "Hi"
    assert len(server.seen) == 1
