"""The interaction tool asks the store by its methods, and offers the data as views."""

from __future__ import annotations

import threading

import pytest

from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.websociety.interaction import (
    CacheInteractionTool,
    InteractionTool,
    serving,
)


class Store:
    """Three users in pages, one review of each."""

    def __init__(self):
        self.pages = []

    def get_user(self, user_id):
        return {"user_id": user_id} if user_id in ("u0", "u1", "u2") else None

    get_item = get_user

    def get_reviews(self, item_id=None, user_id=None, review_id=None, limit=None):
        found = [{"review_id": f"r{n}", "user_id": f"u{n}"} for n in range(3)]
        return [r for r in found if r["user_id"] == user_id or r["review_id"] == review_id][:limit]

    def count_reviews(self, user_id):
        return 1

    def count_ids(self, kind):
        return 3

    def ids(self, kind, after=None, limit=2):
        self.pages.append(after)
        known = [f"{'r' if kind == 'review' else 'u'}{n}" for n in range(3)]
        return [one for one in known if after is None or one > after][:2]


def test_views_are_read_page_by_page():
    store = Store()
    tool = InteractionTool.of(store)
    assert list(tool.user_data) == ["u0", "u1", "u2"]
    assert store.pages == [None, "u1", "u2"]
    assert len(tool.review_data) == 3
    assert tool.review_data["r1"]["user_id"] == "u1"
    assert tool.user_reviews["u2"][0]["review_id"] == "r2"
    assert [user["user_id"] for user in tool.item_data.values()] == ["u0", "u1", "u2"]
    with pytest.raises(KeyError, match="nobody"):
        tool.user_data["nobody"]
    with pytest.raises(TypeError):
        tool.user_data["u0"] = {}
    tool.user_data["u0"]["user_id"] = "changed"
    assert tool.user_data["u0"] == {"user_id": "u0"}
    assert tool.count_reviews("u0") == 1


def test_a_tool_that_an_agent_makes_is_that_of_its_task():
    own = CacheInteractionTool(data_dir="anywhere")
    with pytest.raises(NotProvided, match=r"outside a task.*test_interaction\.py:\d+"):
        own.get_user("u1")
    seen = []
    with serving(InteractionTool.of(Store())):
        assert own.get_user("u1") == {"user_id": "u1"}
        thread = threading.Thread(target=lambda: seen.append(own.get_user("u2")))
        thread.start()
        thread.join()
    assert seen == [{"user_id": "u2"}]
    with pytest.raises(NotProvided):
        own.get_user("u1")


def test_without_a_store_there_is_nothing_to_serve():
    with serving(None), pytest.raises(NotProvided):
        InteractionTool().get_item("i")
