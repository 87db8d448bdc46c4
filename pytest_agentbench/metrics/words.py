"""The words of texts, as numbers: equal words have equal ones."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_WORD = re.compile(r"\w+(?:['’]\w+)*")


class Words(NamedTuple):
    """The words of several texts, one text after the other."""

    codes: Ints  # 0, 1, …
    lengths: Ints  # how many words each text has

    @property
    def owner(self) -> Ints:
        """The text that each word is in."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def words(text: str) -> list[str]:
    """Runs of letters, digits and underscores in lower case; an apostrophe inside a word stays.

    >>> words("Don't go: 2 stars!")
    ["don't", 'go', '2', 'stars']
    """
    return _WORD.findall(text.lower())


def numbered(texts: Sequence[str]) -> Words:
    """The words of these texts.

    >>> numbered(["so very good", "very good", ""])
    Words(codes=array([0, 1, 2, 1, 2]), lengths=array([3, 2, 0]))
    """
    found = [words(text) for text in texts]
    known = {word: code for code, word in enumerate(dict.fromkeys(itertools.chain(*found)))}
    codes = np.fromiter(map(known.__getitem__, itertools.chain(*found)), np.int64)
    return Words(codes, np.array([len(text) for text in found], np.int64))
