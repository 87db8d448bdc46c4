"""Sessions that pytest-split or pytest-shard give a part of the samples: known by the options of these plugins.

Such a session decides none of the gates that were asked for: ``agentbench merge`` does, on all parts together.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings.sharding import Shard

_SPLIT, _SHARD = "pytest-split", "pytest-shard"


def shard_of(config: pytest.Config) -> Shard | None:
    """Which shard this session is; None where it asks all samples that it selects."""
    found = [shard for shard in (_by_split(config), _by_shard(config)) if shard is not None]
    if len(found) > 1:
        raise BenchmarkError(
            f"--splits: expected either {_SPLIT} or {_SHARD} (--num-shards) to divide the samples, got both"
        )
    return found[0] if found else None


def _by_split(config: pytest.Config) -> Shard | None:
    """``--splits 4 --group 1``; pytest-split has refused what is wrong in them."""
    splits, group = (config.getoption(name, None) for name in ("splits", "group"))
    if not isinstance(splits, int) or not isinstance(group, int) or splits < 2:
        return None
    return Shard(group, splits, _SPLIT)


def _by_shard(config: pytest.Config) -> Shard | None:
    """``--shard-id 0 --num-shards 4``; the first shard is 0 there."""
    number, of = (config.getoption(name, None) for name in ("shard_id", "num_shards"))
    if not isinstance(number, int) or not isinstance(of, int) or of < 2:
        return None
    if number >= of:  # pytest-shard would end in an internal error
        raise BenchmarkError(
            f"--shard-id: expected 0 to {of - 1} beside --num-shards {of}, got {number}"
        )
    return Shard(number + 1, of, _SHARD)


def check(shard: Shard | None, plans: Iterable[Plan]) -> None:
    """Refuses a draw that would be another one in each shard."""
    if shard is not None and shard.by == _SHARD and any(plan.draws_late for plan in plans):
        raise BenchmarkError(
            "--limit, --first: expected none beside -k, -m or names of samples where pytest-shard divides "
            "these, for it does so before they are counted, and each shard would ask as many; use "
            "pytest-split, or leave one of them out"
        )
