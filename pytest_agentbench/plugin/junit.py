"""Metrics as properties of the JUnit suite; gates are test cases of it already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pytest_agentbench.runs.scores_file import Scores


def add_properties(config: pytest.Config, scores: Scores, name: str) -> None:
    """Adds a run's scores to ``--junitxml``, if that was asked for; call it before the file is written.

    pytest offers a fixture for this, which hooks cannot use, so its plugin is asked directly; where a
    later pytest has it elsewhere, the file goes without properties.
    """
    xml = _plugin(config)
    if xml is not None:
        for key, value in properties(scores, name):
            xml.add_global_property(key, value)


def _plugin(config: pytest.Config) -> Any:
    try:
        from _pytest.junitxml import xml_key
    except ImportError:
        return None
    xml = config.stash.get(xml_key, None)
    return xml if hasattr(xml, "add_global_property") else None


def properties(scores: Scores, name: str) -> Iterator[tuple[str, str]]:
    """``humob.2023.geobleu`` with ``.low`` and ``.high``, and what the numbers are about."""
    yield f"{name}.agent", str(scores.agent.name)
    yield f"{name}.mode", scores.mode
    yield f"{name}.primary", scores.primary
    yield f"{name}.data", str(scores.dataset.digest)
    for reading, metrics in scores.readings.items():
        for metric, score in metrics.items():
            parts = {"": score.value, ".low": score.low, ".high": score.high}
            for suffix, number in parts.items():
                if number is not None:
                    yield f"{name}.{reading}.{metric}{suffix}", repr(float(number))
