"""Tools in a context, which an agent in a process of its own asks from there."""

from __future__ import annotations


class Store:
    agentbench_methods = ("get_user", "get_reviews")

    def __init__(self, truth="the truth"):
        self.truth = truth
        self.asked = []

    def get_user(self, user_id):
        self.asked.append(user_id)
        if user_id == "nobody":
            raise KeyError(f"no user {user_id}")
        return {"user_id": user_id}

    def get_reviews(self, item_id=None, *, before=None):
        return [item_id, before]

    def forget(self):
        self.truth = None


class City(dict):
    agentbench_methods = ("place",)

    def place(self, number):
        return {"id": number, "home": self["home"]}
