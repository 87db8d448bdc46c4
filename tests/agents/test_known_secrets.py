"""A run knows the secrets of its agent, its models and its environment."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.known_secrets import known_to
from pytest_agentbench.agents.llm.entries import parse_llm

SECRET = "sesame-open-7"


@pytest.fixture(autouse=True)
def _only_this(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OWN_API_KEY", "other-key-1")


@pytest.mark.parametrize(
    "given",
    [
        {"agent": f"http://me:{SECRET}@host/"},
        {"agent": f"cmd:./agent --api-key {SECRET}"},
        {"agent": "a.py", "params": {"llm": {"api_key": SECRET}}},
        {"agent": "a.py", "models": parse_llm({"model": "m", "api_key": SECRET})},
        {
            "agent": "a.py",
            "models": parse_llm({"model": "m", "base_url": f"http://h/v1?key={SECRET}"}),
        },
    ],
)
def test_a_secret_that_was_given_is_known(given):
    assert known_to(**given).cleaned(f"it is {SECRET}") == "it is ***"


def test_variables_are_known_as_far_as_an_agent_has_them():
    assert known_to("a.py").cleaned("other-key-1") == "***"
    assert known_to("a.py", passed_on=("OWN_API_KEY",)).cleaned("other-key-1") == "***"
    assert known_to("a.py", passed_on=()).cleaned("other-key-1") == "other-key-1"


def test_a_variable_of_a_model_that_is_not_set_is_none():
    models = parse_llm({"model": "m", "api_key": "${NOT_SET_AT_ALL}"})
    assert not known_to("a.py", models, passed_on=())


def test_the_password_of_a_proxy(monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://me:{SECRET}@proxy:3128")
    assert known_to("http://host/").cleaned(SECRET) == "***"
