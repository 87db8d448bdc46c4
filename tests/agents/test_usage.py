"""What one call of an agent used, and what it said to its model."""

from __future__ import annotations

import asyncio

from pytest_agentbench.agents.usage import CURRENT, Tick, Usage, counting, reached


def test_counts_of_a_name_add_up():
    usage = Usage()
    usage.add(input_tokens=12, cost=0.25)
    usage.add(input_tokens=3, retries=1)
    assert usage.counts == {"input_tokens": 15, "cost": 0.25, "retries": 1}


def test_a_conversation_is_kept_up_to_20000_characters_and_says_what_it_left_out():
    usage = Usage()
    usage.said("user", "a" * 19_990)
    usage.said("assistant", "b" * 10)
    usage.said("user", "")
    usage.said("assistant", "c" * 30)
    kept = [message["content"] for message in usage.messages]
    assert kept == ["a" * 19_990, "b" * 10, "", "… (30 characters)"]
    assert [message["role"] for message in usage.messages] == [
        "user", "assistant", "user", "assistant",
    ]  # fmt: skip


def test_a_text_that_does_not_fit_is_cut_where_the_room_ends():
    usage = Usage()
    usage.said("user", "a" * 19_998)
    usage.said("assistant", "bcde")
    assert usage.messages[1]["content"] == "bc… (4 characters)"


def test_tasks_that_a_call_starts_count_for_it_and_not_for_another():
    async def spend(tokens):
        await asyncio.sleep(0)
        CURRENT.get().add(tokens=tokens)

    async def call():
        CURRENT.set(usage := Usage())
        await asyncio.gather(spend(1), spend(2))
        return usage.counts

    async def calls():
        return await asyncio.gather(asyncio.create_task(call()), asyncio.create_task(call()))

    assert asyncio.run(calls()) == [{"tokens": 3}, {"tokens": 3}]
    assert CURRENT.get() is None


def test_a_call_that_lives_tick_by_tick_says_how_far_it_came():
    usage = Usage()
    assert reached() == ""
    with counting(usage):
        assert reached() == ""
        usage.begin(Tick(34, 0, 30_600))
        assert reached() == "; it had reached tick 34 (day 0, 08:30)"
    assert str(Tick(53, 1, 4 * 3600 + 59)) == "tick 53 (day 1, 04:00)"
