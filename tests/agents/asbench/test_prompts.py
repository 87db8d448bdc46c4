"""Prompts with places, filled in as agentsociety does."""

from __future__ import annotations

import asyncio

import pytest

from pytest_agentbench.agents.asbench.memories import Memory, MemoryAttribute
from pytest_agentbench.agents.asbench.prompts import FormatPrompt


def formatted(prompt, *args, **values):
    return asyncio.run(prompt.format(*args, **values))


def test_arguments_are_filled_in_and_doubled_braces_stay():
    prompt = FormatPrompt(
        '{name} likes {what}. {{"stars": {stars}}}', "Answer in JSON.", "You are Ada."
    )
    assert prompt.variables == ["name", "what", "stars"]
    text = formatted(prompt, name="Ada", what="{tea}", stars=4, unused=1)
    assert text == 'Ada likes {tea}. {"stars": 4}'
    assert prompt.to_dialog() == [
        {"role": "system", "content": "You are Ada."},
        {"role": "user", "content": f"{text}\nAnswer in JSON."},
    ]


def test_memory_and_context_are_filled_in():
    home = MemoryAttribute(
        name="home", type=dict, default_or_value={"aoi": [7, 9]}, description="where"
    )
    template = (
        "${status.home['aoi'][1]} ${profile.home[\"aoi\"][0]} ${context.time} ${context.x} {a}"
    )
    prompt = FormatPrompt(template, memory=Memory([home]))
    assert formatted(prompt, {"time": "noon"}, a=1) == "9 7 noon Don't know 1"
    assert prompt.to_dialog() == [{"role": "user", "content": "9 7 noon Don't know 1"}]


def test_what_is_missing_is_named():
    with pytest.raises(KeyError, match="expected a value for what, got name"):
        formatted(FormatPrompt("{name} {what}"), name="Ada")
    with pytest.raises(ValueError, match=r"expected \$\{status.NAME\}.* got \$\{__import__"):
        formatted(FormatPrompt("${__import__('os')}"))
    with pytest.raises(KeyError, match="'mood'"):
        formatted(FormatPrompt("${status.mood}", memory=Memory()))
