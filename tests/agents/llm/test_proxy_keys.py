"""Which call of the agent is credited with a request to the proxy."""

from __future__ import annotations

from pytest_agentbench.agents.llm.proxy_keys import Keys
from pytest_agentbench.agents.usage import CURRENT, Usage, counting


def ask(keys, key, **counts):
    """A request as the model counts it."""
    with keys.counting_for(key):
        usage = CURRENT.get()
        usage.add(**counts)
        usage.said("user", "Hello")
        return usage


def test_a_key_is_found_by_its_header_until_it_is_revoked():
    keys = Keys()
    key = keys.new()
    assert keys.find(f"Bearer {key.token}") is keys.find(f"bearer {key.token} ") is key
    assert keys.find(key.token) is keys.find(None) is keys.find(f"Basic {key.token}") is None
    assert keys.find(f"Bearer {keys.secret}") is None
    keys.revoke(key)
    assert keys.find(f"Bearer {key.token}") is None
    assert keys.secret in key.token
    assert key.token not in repr(key)


def test_a_key_of_a_process_stands_for_the_question_that_it_answers():
    keys, usage, other = Keys(), Usage(), Usage()
    key = keys.new()
    with counting(other):
        key.usage = usage
        ask(keys, key, llm_calls=1)
        key.usage = None
        ask(keys, key, llm_calls=1)  # between two questions: nobody's
    assert usage.counts == {"llm_calls": 1}
    assert other.counts == {}


def test_code_in_this_process_asks_for_the_only_call_in_flight():
    keys, usage = Keys(), Usage()
    ask(keys, keys.here, llm_calls=1)
    with counting(usage):
        CURRENT.set(None)  # as in a thread of the proxy
        ask(keys, keys.here, llm_calls=1)
    assert usage.counts == {"llm_calls": 1}
    assert usage.messages == [{"role": "user", "content": "Hello"}]


def test_what_cannot_be_told_apart_counts_for_the_oldest_call_and_names_no_sample():
    keys, oldest, other = Keys(), Usage(), Usage()
    with counting(oldest), counting(other):
        usage = ask(keys, keys.here, llm_calls=1, input_tokens=7)
    assert oldest.counts == {"llm_calls": 1, "input_tokens": 7, "llm_calls_unattributed": 1}
    assert other.counts == {}
    assert oldest.messages == []
    assert usage.question is None


def test_a_spent_budget_marks_every_call_that_may_have_asked():
    keys, oldest, other = Keys(), Usage(), Usage()
    with counting(oldest), counting(other):
        ask(keys, keys.here, budget_exceeded=1)
    assert oldest.counts["budget_exceeded"] == other.counts["budget_exceeded"] == 1
