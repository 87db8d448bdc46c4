"""The environment leads clients to the proxy, and is the user's again afterwards."""

from __future__ import annotations

import os

import pytest

from pytest_agentbench.agents.llm import handed


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", "the user's")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    yield
    handed.use(None)


def test_each_use_takes_the_place_of_the_one_before_and_none_restores():
    first, second = (handed.variables(f"http://{n}", n) for n in "ab")
    handed.use(first)
    handed.use(second)
    assert os.environ["OPENAI_API_KEY"] == "b"
    assert os.environ["OPENAI_BASE_URL"] == os.environ["OPENAI_API_BASE"] == "http://b"
    handed.use(first)
    assert os.environ["OPENAI_API_KEY"] == "a"
    handed.use(None)
    assert os.environ["OPENAI_API_KEY"] == "the user's"
    assert "OPENAI_BASE_URL" not in os.environ


def test_proxies_of_the_environment_are_not_asked_for_this_machine(monkeypatch):
    assert "NO_PROXY" not in handed.variables("http://127.0.0.1:1/v1", "k")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:8080")
    monkeypatch.setenv("no_proxy", "example.org")
    found = handed.variables("http://127.0.0.1:1/v1", "k")
    assert found["NO_PROXY"] == found["no_proxy"] == "example.org,127.0.0.1"
