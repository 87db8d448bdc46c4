"""Distinct-2: the share of different pairs of neighbouring words among all pairs of many texts (0 to 1).

Li et al., A Diversity-Promoting Objective Function for Neural Conversation Models, NAACL 2016. Low where
texts repeat each other. It falls as texts are added or grow longer: only sets of equally many texts are
worth comparing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pytest_agentbench.metrics.words import Words

Floats = npt.NDArray[np.float64]


def distinct_shares(texts: Words) -> tuple[Floats, Floats]:
    """For each text, its share in the different pairs of all texts, and how many pairs it has.

    A pair that occurs k times counts 1/k at each place, so that the shares add up to the number of
    different pairs, and sum(shares) / sum(counts) is distinct-2.

    >>> from pytest_agentbench.metrics.words import numbered
    >>> distinct_shares(numbered(["So very good", "very good!", "good"]))
    (array([1.5, 0.5, 0. ]), array([2., 1., 0.]))
    """
    codes, owner = texts.codes, texts.owner
    inside = owner[1:] == owner[:-1]
    pairs = (codes[:-1] * (codes.max(initial=0) + 1) + codes[1:])[inside]
    _, which, times = np.unique(pairs, return_inverse=True, return_counts=True)
    size, home = len(texts.lengths), owner[1:][inside]
    worth: Floats = 1.0 / times[which]
    shares = np.bincount(home, worth, minlength=size).astype(np.float64)
    return shares, np.bincount(home, minlength=size).astype(np.float64)
