"""Which shard a session is."""

from __future__ import annotations

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs.scores_file import Scores
from pytest_agentbench.settings.sharding import Shard

SCORES = {"benchmark": "toysum", "primary": "exact", "readings": {"exact": {}}}


def test_a_shard_comes_back_from_scores():
    shard = Shard(2, 3, "pytest-split")
    written = Scores.from_json(SCORES, "scores.json")
    assert "shard" not in written.as_json()
    said = {**SCORES, "shard": {"number": 2, "of": 3, "by": "pytest-split"}}
    read = Scores.from_json(said, "scores.json")
    assert read.shard == shard
    assert read.as_json()["shard"] == said["shard"]
    assert shard.undecided == "shard 2 of 3: agentbench merge decides it"


@pytest.mark.parametrize("number", [0, 4, "2", True, 1.5])
def test_no_other_number_is_a_shard(number):
    said = {**SCORES, "shard": {"number": number, "of": 3, "by": "pytest-split"}}
    with pytest.raises(BenchmarkError, match=r"scores.json: `shard.*expected"):
        Scores.from_json(said, "scores.json")
