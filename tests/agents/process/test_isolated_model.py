"""The model stays with us and is asked from the agent's process."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pytest_agentbench.agents.errors import AgentTimeout, RemoteAgentError
from pytest_agentbench.agents.process.isolated import IsolatedAgent
from pytest_agentbench.agents.usage import CURRENT, Usage


class Model:
    """Stands for agents.llm.LLM, which is tested by itself."""

    agentbench_methods = ("relayed",)

    def __init__(self, text):
        self._text = text

    def relayed(self, path, body, own):
        assert path == "/chat/completions"
        reply = {"choices": [{"message": {"content": self._text(body["messages"])}}]}
        return {"body": reply, "chunks": None, "source": "a model"}


ASKS = """
import asyncio
async def agent(context, llm):
    asked = (llm.atext_request([{"role": "user", "content": str(n)}]) for n in range(context))
    return await asyncio.gather(*asked)
"""


def test_the_model_is_asked_here_as_often_at_once_as_the_agent_asks(isolated):
    together = threading.Barrier(3)

    def texts(messages):
        together.wait(10)
        CURRENT.get().add(input_tokens=5)
        return f"about {messages[0]['content']}"

    agent = isolated(ASKS, llm=Model(texts))
    usage = Usage()
    token = CURRENT.set(usage)
    try:
        assert agent(3) == ["about 0", "about 1", "about 2"]
    finally:
        CURRENT.reset(token)
    assert usage.counts == {"input_tokens": 15}


def test_without_a_model_the_agent_is_told_so(isolated):
    with pytest.raises(
        RemoteAgentError, match="NotProvided: the agent asked for a model, and none is configured"
    ):
        isolated(ASKS)(1)


def test_an_error_of_the_model_is_raised_in_the_agent_and_still_known_as_transient(isolated):
    class TooMany(Exception):
        status, transient = 429, True

    def texts(messages):
        raise TooMany("slow down")

    with pytest.raises(RemoteAgentError, match="slow down") as caught:
        isolated(ASKS, llm=Model(texts))(1)
    assert (caught.value.transient, caught.value.status) == (True, 429)


def test_a_slow_model_does_not_hold_up_the_timeout(isolated):
    answer = threading.Event()
    agent = isolated(ASKS, llm=Model(lambda _: str(answer.wait(20))))
    with pytest.raises(AgentTimeout):
        agent(1, timeout=0.3)
    answer.set()
    assert agent(1) == ["True"]


def test_what_ends_the_run_there_ends_it_here(isolated):
    class Spent(BaseException):
        pass

    def texts(messages):
        raise Spent("the budget")

    with pytest.raises(Spent, match="the budget"):
        isolated(ASKS, llm=Model(texts))(1)


def test_a_question_to_the_model_that_nobody_waits_for_disturbs_no_later_call(isolated):
    answer = threading.Event()
    agent = isolated(
        """
        import threading
        def agent(context, llm):
            if context == "leave":
                threading.Thread(target=llm.text_request, args=("hello",), daemon=True).start()
            elif context == "ask":
                return llm.text_request("hello")
            return context
        """,
        llm=Model(lambda _: str(answer.wait(20))),
    )
    assert agent("leave") == "leave"
    assert [agent(n) for n in range(3)] == [0, 1, 2]
    answer.set()
    assert agent("ask") == "True"
    assert agent(3) == 3


def test_an_agent_of_asbench_works_in_the_child():
    example = Path(__file__).resolve().parents[3] / "examples" / "asbench_agent.py"
    agent = IsolatedAgent(str(example), [Path.cwd()], timeout=20)

    class Reviews:
        agentbench_methods = ("get_reviews",)

        def get_reviews(self, item_id=None, user_id=None):
            return [{"stars": 2}] * (item_id == "b")

    context = {"target": "recommendation", "candidate_list": ["a", "b"], "uir": Reviews()}
    assert agent(context) == {"item_list": ["b", "a"]}
    agent.close()


def test_the_openai_client_works_in_the_child_and_holds_no_key(isolated):
    agent = isolated(
        """
        def agent(context, llm):
            made = llm.client.chat.completions.create(model="m", messages=[{"role": "user", "content": context}])
            return [made.choices[0].message.content, llm.client.api_key]
        """,
        llm=Model(lambda messages: f"about {messages[0]['content']}"),
        timeout=60,
    )
    assert agent("x") == ["about x", "agentbench"]
