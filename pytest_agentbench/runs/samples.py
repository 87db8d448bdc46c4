"""Which samples of the data are asked, under names that pytest can show and take back."""

from __future__ import annotations

import random
import re

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Dataset

# What pytest prints unchanged in a node id and a shell can quote.
_NAME = re.compile(r"[A-Za-z_]\w*\[[!-Z^-~]+\]", re.ASCII)


def check_names(dataset: Dataset) -> None:
    """Refuses data without samples, and samples whose names are strange or used twice."""
    if not dataset.keys:
        raise BenchmarkError(f"{dataset.description}: expected samples, got none")
    names = set()
    for key in dataset.keys:
        name = str(key)
        if not _NAME.fullmatch(name) or name in names:
            why = "a name used once" if name in names else "a plain name such as uid[80012]"
            raise BenchmarkError(
                f"{dataset.description}: expected {why} for a sample, got {name!r}"
            )
        names.add(name)


def drawn(total: int, limit: int | None, seed: int) -> tuple[int, ...]:
    """The indices of all samples, or of ``limit`` drawn with the seed, because the first ones may all be of one kind."""
    if limit is None or limit >= total:
        return tuple(range(total))
    return tuple(sorted(random.Random(seed).sample(range(total), limit)))
