"""The model as WebSocietySimulator's agents have it."""

from __future__ import annotations

import asyncio
import copy
import threading

import pytest

from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.llm.calls import Exchange, Model, NoLLM, configured_as
from pytest_agentbench.agents.usage import CURRENT, Usage, counting
from pytest_agentbench.agents.websociety.models import (
    CallModel,
    InfinigenceLLM,
    LLMBase,
    OpenAILLM,
    is_configured,
)


class Counting(Model):
    """Counts what it is asked where a call is counted."""

    model = "counting"

    def exchange(self, path, body, **own):
        CURRENT.get().add(asked=1)
        said = f"{body.get('model')} {body['messages'][0]['content']}"
        return Exchange({"choices": [{"message": {"content": said}}] * body.get("n", 1)})

    def embeddings(self, texts):
        return [[1.0]] * len(texts)


def in_thread(function):
    found = []

    def work():
        try:
            found.append(function())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0]


def test_plain_threads_ask_in_the_name_of_the_call_that_made_them():
    usages = [Usage(), Usage()]
    models = []
    for usage in usages:
        with counting(usage):
            models.append(CallModel(Counting()))
    with counting(usages[0]), counting(usages[1]):  # two in flight: only the model can tell
        for model in models:
            assert in_thread(lambda model=model: model("hello")) == "None hello"
            assert in_thread(lambda model=model: asyncio.run(model.atext_request("x"))) == "None x"
    assert [usage.counts["asked"] for usage in usages] == [2, 2]


def test_it_is_the_model_that_it_stands_for():
    model = CallModel(Counting())
    assert model
    assert model.model == "counting"
    assert copy.deepcopy(model) is model
    assert model.get_embedding_model().embed_query("x") == [1.0]
    assert not CallModel(NoLLM())


def test_without_a_model_the_call_is_marked_from_a_thread_too():
    usage = Usage()
    with counting(usage):
        model = CallModel(NoLLM())
    assert isinstance(in_thread(lambda: model("hello")), NotProvided)
    (missing,) = usage.missing
    assert missing.what == "a model, and none is configured"
    assert "test_models.py:" in missing.at


@pytest.mark.parametrize(
    "made",
    [
        lambda: LLMBase("m"),
        lambda: InfinigenceLLM(api_key="k", model="m"),
        lambda: OpenAILLM("k", "m"),
    ],
)
def test_a_model_that_an_agent_makes_is_the_configured_one(made):
    llm = made()
    assert llm.model == "m"
    with configured_as(Counting()), counting(Usage()):
        assert llm(messages=[{"role": "user", "content": "hello"}], model="theirs") == "None hello"
        assert llm(messages="hello", n=2) == ["None hello"] * 2
        assert llm.get_embedding_model().embed_documents(["a", "b"]) == [[1.0], [1.0]]
        made = llm.client.chat.completions.create(
            model="theirs", messages=[{"role": "user", "content": "hello"}]
        )
        assert made.choices[0].message.content == "theirs hello"
    with configured_as(None), pytest.raises(NotProvided, match="none is configured"):
        llm(messages="hello")


def test_a_class_that_derives_from_a_published_one_may_keep_a_client_of_its_own():
    class Own(OpenAILLM):
        def __init__(self):
            super().__init__("k", "m")
            self.client, self.embedding_model = "theirs", "vectors"

        def __call__(self, messages, **options):
            return self.client

    assert (Own()(messages="hello"), Own().embedding_model) == ("theirs", "vectors")
    assert is_configured(OpenAILLM("k"))
    assert not is_configured(Own())
    assert not is_configured(print)
