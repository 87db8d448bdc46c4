"""Metrics as properties of the JUnit suite; gates are test cases of it already."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_agentbench.plugin import compat
from pytest_agentbench.runs.scores_file import Scores


def add_properties(config: pytest.Config, scores: Scores, name: str) -> None:
    """Adds a run's scores to ``--junitxml``, if that was asked for; call it before the file is written."""
    add = compat.suite_property(config)
    if add is not None:
        for key, value in properties(scores, name):
            add(key, value)


def properties(scores: Scores, name: str) -> Iterator[tuple[str, str]]:
    """``humob.2023.geobleu`` with ``.low`` and ``.high``, and what the numbers are about."""
    yield f"{name}.agent", scores.agent.label
    yield f"{name}.mode", scores.mode
    yield f"{name}.primary", scores.primary
    yield f"{name}.data", str(scores.dataset.digest)
    for reading, metric, number in scores.numbers():
        yield f"{name}.{reading}.{metric}", repr(number)
