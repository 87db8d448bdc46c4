"""What --agent may say."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents import specs


@pytest.mark.parametrize(
    ("spec", "baseline", "command", "endpoint"),
    [
        ("builtin:mode", "mode", None, False),
        ("cmd: ./agent --json ", None, "./agent --json", False),
        ("cmd:", None, "", False),
        ("http://localhost:1/answer", None, None, True),
        ("https://example.org", None, None, True),
        ("agent.py:Agent", None, None, False),
        ("package.module:Agent", None, None, False),
        ("http.py", None, None, False),
        ("my_builtin:mode", None, None, False),
    ],
)
def test_every_form_is_one_thing_only(spec, baseline, command, endpoint):
    found = (specs.baseline_of(spec), specs.command_of(spec), specs.is_endpoint(spec))
    assert found == (baseline, command, endpoint)


def test_a_baseline_is_found_by_the_spec_that_names_it():
    assert specs.baseline_of(specs.builtin("slot-mode")) == "slot-mode"


@pytest.mark.parametrize(
    "spec", ["https://me:pass@localhost:1/answer", "https://localhost:1/answer?key=pass"]
)
def test_the_address_of_an_endpoint_is_shown_without_its_secrets(spec):
    assert specs.shown(spec) == "https://localhost:1/answer"


def test_what_is_no_address_is_shown_as_it_is():
    assert specs.shown("cmd:ask --where me:pass@host?x=1") == "cmd:ask --where me:pass@host?x=1"
