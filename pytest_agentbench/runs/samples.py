"""Which samples of the data are asked, under names that pytest can show and take back."""

from __future__ import annotations

import random
import re
from collections.abc import Collection

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


def drawn(total: int, limit: int | None, seed: int, first: int | None = None) -> tuple[int, ...]:
    """The indices of all samples, of the ``first`` in their order, or of ``limit`` drawn with the seed.

    The first may be of one kind; a draw is not.

    >>> drawn(5, None, seed=0), drawn(5, None, seed=0, first=2)
    ((0, 1, 2, 3, 4), (0, 1))
    """
    if first is not None:
        return tuple(range(min(first, total)))
    if limit is None or limit >= total:
        return tuple(range(total))
    return tuple(sorted(random.Random(seed).sample(range(total), limit)))


def kept(
    groups: Collection[tuple[int, ...]], limit: int | None, seed: int, first: int | None
) -> set[tuple[int, ...]]:
    """Those groups of samples (of one each, or chunks) that are asked after a selection.

    Of chunks as many as fit into the number, and at least one.
    """
    ordered = sorted(groups)
    size = max(map(len, ordered), default=1)
    counts = [None if number is None else max(1, number // size) for number in (limit, first)]
    return {ordered[index] for index in drawn(len(ordered), counts[0], seed, counts[1])}
