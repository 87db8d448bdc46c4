"""A data folder of HurricaneMobility."""

from __future__ import annotations

import json

import pytest
from benchmarks.hurricane_mobility.hurricane_parts import TRUTH

from pytest_agentbench.benchmarks.hurricane_mobility.data import TRUTH_FILE


@pytest.fixture
def folder(tmp_path):
    def write(truth=TRUTH, profiles=None):
        base = tmp_path / "data"
        (base / "groundtruth").mkdir(parents=True)
        (base / TRUTH_FILE).write_text(truth if isinstance(truth, str) else json.dumps(truth))
        if profiles is not None:
            (base / "profiles.json").write_text(json.dumps(profiles))
        return base

    return write
