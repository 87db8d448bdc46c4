"""Hooks for other plugins and for conftest.py files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.settings.settings import Settings


@pytest.hookspec
def pytest_agentbench_record(record: Record, settings: Settings) -> None:
    """Called on the controller for every record, after it was logged."""


@pytest.hookspec
def pytest_agentbench_scores(scores: Mapping[str, Any], folder: Path, settings: Settings) -> None:
    """Called on the controller once a run, after scores.json was written to ``folder``."""
