"""Every test of a benchmark has a cache of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_cache(cache_folder: Path) -> Path:
    return cache_folder
