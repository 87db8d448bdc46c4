"""Metrics as properties of the JUnit suite; gates are test cases of it already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest


def add_properties(config: pytest.Config, scores: Mapping[str, Any], name: str) -> None:
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


def properties(scores: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """``humob.2023.geobleu`` with ``.low`` and ``.high``, and what the numbers are about."""
    yield f"{name}.agent", str((scores.get("agent") or {}).get("name"))
    yield f"{name}.mode", str(scores.get("mode"))
    yield f"{name}.primary", str(scores.get("primary"))
    yield f"{name}.data", str((scores.get("dataset") or {}).get("digest"))
    for reading, metrics in scores["readings"].items():
        for metric, score in metrics.items():
            for part in ("value", "low", "high"):
                if score.get(part) is not None:
                    suffix = "" if part == "value" else f".{part}"
                    yield f"{name}.{reading}.{metric}{suffix}", repr(float(score[part]))
