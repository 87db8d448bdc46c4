"""Tools stay with us and are asked from the agent's process."""

from __future__ import annotations

import pytest
from isolated_tools import City, Store

from pytest_agentbench.agents.errors import RemoteAgentError

ALL_OF_THEM = """
import datetime
def agent(context):
    uir, city = context["uir"], context["deep"]["city"]
    return [uir.get_user("u1"), uir.get_reviews("i1", before=datetime.date(2020, 1, 2)),
            city["home"], city.place(4), isinstance(city, dict), sorted(city)]
"""


def test_tools_stay_here_and_are_asked_from_there(isolated):
    agent = isolated(ALL_OF_THEM)
    store = Store()
    context = {"uir": store, "deep": {"city": City(home=9)}}
    assert agent(context) == [
        {"user_id": "u1"}, ["i1", "2020-01-02"], 9, {"id": 4, "home": 9}, True, ["home"],
    ]  # fmt: skip
    assert store.asked == ["u1"]
    assert context["uir"] is store


def test_the_same_agent_works_with_and_without_isolation(isolated):
    agent = isolated(ALL_OF_THEM.replace("datetime.date(2020, 1, 2)", "'2020-01-02'"))
    namespace = {}
    exec(ALL_OF_THEM.replace("datetime.date(2020, 1, 2)", "'2020-01-02'"), namespace)

    def context():
        return {"uir": Store(), "deep": {"city": City(home=9)}}

    assert agent(context()) == namespace["agent"](context())


def test_an_error_of_a_tool_is_raised_in_the_agent(isolated):
    agent = isolated(
        """
        def agent(context):
            try: context["uir"].get_user("nobody")
            except KeyError as error: return error.args
        """
    )
    assert agent({"uir": Store()}) == ["no user nobody"]


@pytest.mark.parametrize("name", ["truth", "forget", "_truth", "asked", "__self__"])
def test_a_stub_offers_exactly_the_listed_methods(runs, name):
    store = Store()
    with pytest.raises(
        RemoteAgentError, match=r"expected a method of uir \(get_user, get_reviews\)"
    ):
        runs(f"answer = context['uir'].{name}", uir=store)
    assert store.truth == "the truth"


@pytest.mark.parametrize(
    "call", ["uir.truth", "uir.forget", "uir.__init__", "uir.get_user.__globals__", "x.y", ""]
)
def test_a_forged_call_reaches_only_listed_methods(runs, call):
    expected = r"expected a call of uir.get_user, uir.get_reviews; got"
    with pytest.raises(RemoteAgentError, match=expected):
        runs(f"context['uir']._ask({call!r}, (), {{}})", uir=Store())


def test_a_tool_asked_after_its_call_is_refused_and_later_calls_are_in_step(isolated):
    agent = isolated(
        """
        kept = []
        def agent(context):
            kept.append(context["uir"])
            return kept[0].get_user("u")
        """
    )
    assert agent({"uir": Store()}) == {"user_id": "u"}
    for _ in range(2):
        with pytest.raises(RemoteAgentError, match="take the tool from each context anew"):
            agent({"uir": Store()})


def test_tools_can_be_asked_from_many_threads_of_the_agent(isolated):
    agent = isolated(
        """
        from concurrent.futures import ThreadPoolExecutor
        def agent(context):
            with ThreadPoolExecutor(8) as threads:
                users = list(threads.map(context["uir"].get_user, range(200)))
            return users == [{"user_id": n} for n in range(200)]
        """
    )
    assert agent({"uir": Store()}) is True


def test_a_context_with_tools_can_be_copied(isolated):
    agent = isolated(
        """
        import copy
        def agent(context):
            other = copy.deepcopy(context)
            other["city"]["home"] = 0
            return [other["uir"].get_user(1), other["city"].place(2), context["city"]["home"]]
        """
    )
    assert agent({"uir": Store(), "city": City(home=5)}) == [
        {"user_id": 1}, {"id": 2, "home": 5}, 5,
    ]  # fmt: skip
