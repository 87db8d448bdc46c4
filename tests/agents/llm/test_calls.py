"""What callers give becomes one request, and a request one body."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from llm_server import HELLO

from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.llm import calls
from pytest_agentbench.agents.llm.calls import Model, NoLLM, request_of
from pytest_agentbench.agents.llm.entries import Entry
from pytest_agentbench.agents.usage import CURRENT, Usage


class Echo(Model):
    """Answers with the body that it would send, once for each choice."""

    def __init__(self):
        self.stop = None

    def _ask(self, request, stop):
        self.stop = stop
        if CURRENT.get() is not None:
            CURRENT.get().add(llm_calls=1)
        body = request.body(Entry("m1")).decode()
        return [body] * json.loads(body).get("n", 1)


def body(given, entry, defaults=None):
    sent = json.loads(request_of(HELLO, given, defaults).body(entry))
    assert sent.pop("messages") == HELLO
    return sent


def test_the_call_comes_before_the_entry_and_the_entry_before_the_defaults():
    entry = Entry("m1", temperature=0.3, parameters={"top_p": 0.9, "max_tokens": None})
    defaults = {"temperature": 0.0, "max_tokens": 500, "seed": 1}
    assert body({}, entry, defaults) == {
        "model": "m1", "temperature": 0.3, "top_p": 0.9, "seed": 1,
    }  # fmt: skip
    given = {"temperature": 0.7, "top_p": None, "max_tokens": 9, "model": "m2"}
    assert body(given, entry, defaults) == {
        "model": "m2", "temperature": 0.7, "top_p": 0.9, "max_tokens": 9, "seed": 1,
    }  # fmt: skip


def test_what_is_for_the_client_is_not_sent():
    request = request_of(HELLO, {"timeout": 3.0, "retries": 0})
    assert (request.timeout, request.retries) == (3.0, 0)
    assert json.loads(request.body(Entry("m1"))).keys() == {"model", "messages"}


def test_an_option_that_the_caller_left_to_openai_is_not_sent():
    class NotGiven:
        pass

    assert body({"seed": NotGiven(), "tools": None}, Entry("m1")) == {"model": "m1"}


@pytest.mark.parametrize(
    "given", [(HELLO, {}), ("Hello", {}), (None, {"dialog": HELLO}), (None, {"prompt": "Hello"})]
)
def test_messages_have_several_names(given):
    assert request_of(*given).messages == HELLO


@pytest.mark.parametrize("messages", [None, [], {}, [{"content": "x"}], ["Hello"], 7], ids=repr)
def test_what_are_no_messages_is_refused(messages):
    with pytest.raises(TypeError, match="expected messages"):
        request_of(messages, {})


def test_a_message_in_parts_is_shown_as_json():
    assert calls.shown({"role": "user", "content": "Hello"}) == "Hello"
    parts = [{"type": "text", "text": "a"}]
    assert json.loads(calls.shown({"role": "user", "content": parts})) == parts


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


def test_a_caller_that_is_cancelled_stops_its_request():
    class Slow(Model):
        def __init__(self):
            self.asked, self.stopped = threading.Event(), threading.Event()

        def _ask(self, request, stop):
            self.asked.set()
            if stop.wait(30):
                self.stopped.set()
            return ["late"]

    async def give_up():
        model = Slow()
        asking = asyncio.create_task(model.atext_request(HELLO))
        while not model.asked.is_set():
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        return model.stopped.wait(10)

    assert asyncio.run(give_up())


def test_no_model_is_false_and_can_be_looked_at_but_not_asked():
    llm = NoLLM()
    assert (bool(llm), repr(llm), hasattr(llm, "__deepcopy__")) == (False, "NoLLM()", False)
    with pytest.raises(NotProvided, match="none is configured") as caught:
        llm.text_request(HELLO)
    assert not caught.value.transient
