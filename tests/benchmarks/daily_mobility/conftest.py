"""Small data folders, loaded as a run would load them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pytest_agentbench.benchmarks.daily_mobility.benchmark import DailyMobility
from pytest_agentbench.benchmarks.daily_mobility.data import DailyMobilityDataset

PLACES = (
    {"id": 1, "x": 0.0, "y": 0.0, "category": "residential"},
    {"id": 2, "x": 600.0, "y": 800.0, "category": "office"},
    {"id": 3, "x": 300.0, "y": 0.0, "category": "shop|restaurant"},
    {"id": 4, "x": 5000.0, "y": 0.0, "category": "park"},
)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes a data folder; keyword arguments replace its parts, None leaves one out."""

    def write(name: str = "data", **parts: Any) -> Path:
        rng = np.random.default_rng(0)
        codes = rng.integers(1, 8, (20, 48))
        content: dict[str, Any] = {
            "profiles": [
                {"id": 10 + n, "age": 30, "occupation": "clerk", "home": 1, "work": 2}
                for n in range(4)
            ],
            "places": list(PLACES),
            "gyration_radius": rng.gamma(2, 2000, 20),
            "daily_location_numbers": rng.uniform(1, 6, 20),
            "daily_intentions_2d": codes,
            "intention_proportions_2d": np.stack([(codes == c).mean(1) for c in range(1, 8)], 1),
            **parts,
        }
        base = tmp_path / name
        (base / "groundtruth").mkdir(parents=True)
        for key, value in content.items():
            if value is None:
                continue
            if isinstance(value, np.ndarray):
                np.save(base / "groundtruth" / f"{key}.npy", value)
            else:
                (base / f"{key}.json").write_text(json.dumps(value), encoding="utf-8")
        return base

    return write


@pytest.fixture
def load() -> Callable[..., DailyMobilityDataset]:
    def load(dataset: str | Path, **parameters: Any) -> DailyMobilityDataset:
        settings: Any = SimpleNamespace(
            dataset=dataset, mode="inference", seed=0, parameters=parameters, bases=()
        )
        loaded = DailyMobility().load(settings)
        assert isinstance(loaded, DailyMobilityDataset)
        return loaded

    return load
