"""What an exchange is, and what an error of one says."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_agentbench.agents.llm import calls, exchanges


def test_it_is_frozen_and_known_where_models_are():
    found = exchanges.Exchange({"a": 1})
    assert (found.body, found.chunks) == ({"a": 1}, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.body = {}
    assert calls.Exchange is exchanges.Exchange


def test_an_error_knows_its_status_and_whether_it_may_pass():
    error = exchanges.LLMError("no", status=429, transient=True)
    assert (str(error), error.status, error.transient) == ("no", 429, True)
    assert not exchanges.LLMError("no").transient
