"""Every test of a benchmark has a cache of its own; a run on the demo data serves a whole module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import html_runs
import pytest


@pytest.fixture(autouse=True)
def own_cache(cache_folder: Path) -> Path:
    return cache_folder


@pytest.fixture(scope="module")
def demo_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str], html_runs.Finished]]:
    """Makes a finished run of 40 samples of the demo data, by the name of its benchmark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield lambda name: html_runs.real(name, 40)
