"""The secrets that a run knows: those of its agent's address or command, of its models, of the environment."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_agentbench.agents import specs
from pytest_agentbench.base import redaction
from pytest_agentbench.base.redaction import Secrets

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.entries import Entry


def known_to(
    agent: str,
    models: Sequence[Entry] = (),
    params: Mapping[str, Any] | None = None,
    passed_on: Collection[str] | None = None,
    made: Collection[str] = (),
) -> Secrets:
    """The secrets of a run.

    ``passed_on``: the names of the variables that an isolated agent is given; None for an agent that
    has the whole environment. ``made``: secrets that the run has made up itself.
    """
    found = redaction.in_parameters(params or {}) | {*made}
    if specs.is_endpoint(agent):
        found |= redaction.in_address(agent)
        import urllib.request  # imports http and ssl

        for proxy in urllib.request.getproxies().values():
            found |= redaction.in_address(proxy)
    if (command := specs.command_of(agent)) is not None:
        found |= redaction.in_command(command)
    given = {n: v for n, v in os.environ.items() if passed_on is None or n in passed_on}
    found |= redaction.in_environment(given)
    for model in models:
        try:
            entry = model.expanded()
        except ValueError:  # a variable is not set: whoever asks the model says so
            continue
        found |= redaction.in_address(entry.base_url) | redaction.in_parameters(entry.parameters)
        if entry.api_key is not None:
            found.add(entry.api_key.reveal())
    return Secrets(found)
