"""The ways to ask a model, each as one exchange."""

from __future__ import annotations

import asyncio
import json

import pytest
from llm_server import HELLO

from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.llm.calls import Exchange, LLMError, Model, NoLLM, RelayedLLM
from pytest_agentbench.agents.usage import CURRENT, Usage


class Echo(Model):
    """Answers with the body that it is given, once for each choice."""

    def exchange(self, path, body, defaults=None, **own):
        assert path == "/chat/completions"
        if CURRENT.get() is not None:
            CURRENT.get().add(llm_calls=1)
        told = json.dumps({**(defaults or {}), **body, **own})
        return Exchange({"choices": [{"message": {"content": told}}] * body.get("n", 1)})


def test_several_choices_are_a_list_and_one_is_a_text():
    assert len(Echo()(messages=HELLO, n=2)) == 2
    alone = json.loads(Echo()(messages=HELLO))
    assert "n" not in alone
    assert (alone["temperature"], alone["max_tokens"]) == (0.0, 500)


def test_a_request_in_a_thread_counts_for_the_call_that_made_it():
    async def ask():
        CURRENT.set(usage := Usage())
        await Echo().atext_request(HELLO)
        return usage.counts

    assert asyncio.run(ask()) == {"llm_calls": 1}


def test_what_is_for_the_client_is_no_part_of_the_body():
    told = json.loads(Echo().text_request(HELLO, timeout=3.0, retries=0, top_p=0.5))
    assert told == {"messages": HELLO, "timeout": 3.0, "retries": 0, "top_p": 0.5}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"choices": [{"message": {"content": None}}]}, "None"),
        ({"choices": [{"finish_reason": "length"}]}, "'length'"),
    ],
)
def test_a_reply_without_a_text_is_an_error_of_the_sample(reply, reason, usage):
    class Silent(Model):
        def exchange(self, path, body, **own):
            return Exchange(reply, source="m1 at http://x")

    with pytest.raises(
        LLMError, match=rf"m1 at http://x: .*got none \(finish_reason {reason}\)"
    ) as caught:
        Silent().text_request(HELLO)
    assert not caught.value.transient
    assert usage.counts == {"llm_errors": 1}
    assert [message["role"] for message in usage.messages] == ["error"]


def test_a_relayed_exchange_takes_body_and_own_options_along():
    class Remote:
        def relayed(self, path, body, own):
            self.got = (path, body, own)
            return {"body": {"ok": 1}, "chunks": None, "source": "m"}

    relayed = RelayedLLM()
    relayed.remote = Remote()
    assert relayed.exchange("/responses", {"input": "x"}, timeout=3) == Exchange(
        {"ok": 1}, None, "m"
    )
    assert relayed.remote.got == ("/responses", {"input": "x"}, {"timeout": 3})
    assert asyncio.run(relayed.aexchange("/x", {})).body == {"ok": 1}


@pytest.mark.parametrize("transient", [True, False])
def test_an_error_of_the_other_process_stays_an_error_of_the_model(transient):
    class Refused(Exception):
        status = 429

    class Remote:
        def relayed(self, *given):
            error = Refused("slow down")
            error.transient = transient
            raise error

    relayed = RelayedLLM()
    relayed.remote = Remote()
    with pytest.raises(LLMError, match="slow down") as caught:
        relayed.exchange("/x", {})
    assert (caught.value.status, caught.value.transient) == (429, transient)


def test_no_model_is_false_and_can_be_looked_at_but_not_asked():
    llm = NoLLM()
    assert (bool(llm), repr(llm), hasattr(llm, "__deepcopy__")) == (False, "NoLLM()", False)
    with pytest.raises(NotProvided, match="none is configured") as caught:
        llm.text_request(HELLO)
    assert not caught.value.transient
