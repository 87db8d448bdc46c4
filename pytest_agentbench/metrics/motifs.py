"""Daily motifs: the small directed graph of the places of a day, whatever the places are.

After Schneider, Belik, Couronné, Smoreda and González (2013), "Unravelling daily human mobility motifs",
J. R. Soc. Interface 10: 20130246. Nodes are places, edges are trips; two days have the same motif
where the graphs are equal up to the names of the places.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Iterable

import numpy as np
import numpy.typing as npt

MOST_PLACES = 6  # nearly all real days have no more
ONE_PLACE = "one place"
LARGER = f"more than {MOST_PLACES} places"


def motif(stops: Iterable[Hashable]) -> str:
    """Return the motif of a day, of the places in the order in which they were visited.

    The text lists the edges of the graph under the numbering that puts them first. A place visited
    twice in a row is visited once.

    >>> motif(["home", "work", "home"]), motif([7, 7])
    ('0>1 1>0', 'one place')
    >>> motif("habha") == motif("xyzxy") == motif("wabwab")
    True
    """
    numbers: dict[Hashable, int] = {}
    path = [numbers.setdefault(stop, len(numbers)) for stop in stops]
    if len(numbers) < 2:
        return ONE_PLACE
    if len(numbers) > MOST_PLACES:
        return LARGER
    return _canonical(
        len(numbers), frozenset((a, b) for a, b in itertools.pairwise(path) if a != b)
    )


@functools.lru_cache(maxsize=10_000)
def _canonical(places: int, edges: frozenset[tuple[int, int]]) -> str:
    """The edges under the best numbering: as bits of a number, edge 0>0 first, the largest one."""
    numberings = _numberings(places)
    first, second = np.array(sorted(edges)).T
    at = numberings[:, first] * places + numberings[:, second]
    bits = (np.int64(1) << (places * places - 1 - at)).sum(axis=1)
    best = at[int(bits.argmax())]
    return " ".join(f"{edge // places}>{edge % places}" for edge in sorted(best.tolist()))


@functools.cache
def _numberings(places: int) -> npt.NDArray[np.int64]:
    return np.array(list(itertools.permutations(range(places))), np.int64)
