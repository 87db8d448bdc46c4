"""Sentiment by VADER: NLTK's analyser and NLTK's own lexicon, without a download.

NLTK ships its analyser without the lexicon. If the lexicon is among NLTK's data on this machine, it is
used; otherwise the one in the package vaderSentiment is, with the six entries in which the two differ
set to NLTK's. That package's analyser gives other numbers and is never imported.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import sys
import warnings
from collections.abc import Iterable
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

INSTALL = 'pip install "pytest-agentbench[text]"'

_NLTK_FILE = "sentiment/vader_lexicon.zip/vader_lexicon/vader_lexicon.txt"
_ONLY_IN_VADERSENTIMENT = (":P", "heart", "hearts", "flawed")
_OTHER_IN_NLTK = {":p": 1.4, "badass": -0.6}
# Of the mended lexicon. Another one would silently give other numbers.
_MENDED_SHA256 = "a27de1cf826c623bc26445aa70a58a17322392fa818df9e365a5c00225a0542b"


class LexiconError(RuntimeError):
    """The lexicon is missing, or is not the one that the metric is defined with."""


def compound_scores(texts: Iterable[str]) -> list[float]:
    """VADER's compound score (-1 to 1) of every text; equal texts are analysed once."""
    return [_compound(text) for text in texts]


@functools.lru_cache(maxsize=100_000)
def _compound(text: str) -> float:
    return float(_analyser().polarity_scores(text)["compound"])


def missing() -> str | None:
    """What has to be installed before a sentiment can be had; None if nothing. NLTK stays unimported."""
    if find_spec("nltk") is None:
        return f"the sentiment of a text needs the package nltk; install it with: {INSTALL}"
    if _nltk_has_lexicon():
        return None
    if _packaged_lexicon() is None:
        return f"the sentiment of a text needs VADER's lexicon; install it with: {INSTALL}"
    try:
        lexicon()
    except LexiconError as error:
        return str(error)
    return None


@functools.cache
def _analyser() -> Any:
    problem = missing()
    if problem is not None:
        raise LexiconError(problem)
    vader = _vader()
    # Its __init__ only loads a file, and refuses one that is not among NLTK's data.
    analyser: Any = vader.SentimentIntensityAnalyzer.__new__(vader.SentimentIntensityAnalyzer)
    analyser.lexicon = lexicon()
    analyser.constants = vader.VaderConstants()
    return analyser


def _vader() -> Any:
    """NLTK's module with the analyser, without the rest of NLTK: that imports SciPy, for a second and more.

    The packages around it, and the module that only its __init__ needs, are empty while it is imported.
    Afterwards NLTK is as it was: not imported.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NLTK's imports warn, and users run pytest -W error
        if "nltk" in sys.modules:
            return importlib.import_module("nltk.sentiment.vader")
        for name in ("nltk", "nltk.sentiment", "nltk.data"):
            found = find_spec(name)
            assert found is not None  # missing() has looked
            sys.modules[name] = module_from_spec(found)
        try:
            return importlib.import_module("nltk.sentiment.vader")
        finally:
            for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
                del sys.modules[name]


def lexicon() -> dict[str, float]:
    """Words and emoticons with their valence, as NLTK has them."""
    if _nltk_has_lexicon():
        data: Any = importlib.import_module("nltk.data")
        return _parse(str(data.load(_NLTK_FILE, format="text")))
    packaged = _packaged_lexicon()
    if packaged is None:
        raise LexiconError("VADER's lexicon is not installed")
    words = _read(packaged, packaged.stat().st_mtime_ns)
    if words is None:
        raise LexiconError(
            f"{packaged}: expected the lexicon of vaderSentiment 3.3.2, got another one; install it "
            f"with: pip install vaderSentiment==3.3.2"
        )
    return words


@functools.lru_cache(maxsize=1)
def _read(packaged: Path, _stamp: int) -> dict[str, float] | None:
    """The mended lexicon of a file; None if it is not the one that is meant. Asked for several times."""
    words = mended(_parse(packaged.read_text(encoding="utf-8")))
    return words if digest(words) == _MENDED_SHA256 else None


def mended(words: dict[str, float]) -> dict[str, float]:
    """vaderSentiment's lexicon with the six entries in which NLTK's differs set to NLTK's."""
    kept = {word: value for word, value in words.items() if word not in _ONLY_IN_VADERSENTIMENT}
    return {**kept, **_OTHER_IN_NLTK}


def digest(words: dict[str, float]) -> str:
    """Of a lexicon's content, whatever the order of its lines."""
    lines = "\n".join(f"{word}\t{value!r}" for word, value in sorted(words.items()))
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()


def _parse(text: str) -> dict[str, float]:
    rows = (line.strip().split("\t")[:2] for line in text.split("\n") if line.strip())
    return {word: float(value) for word, value in rows}


def _packaged_lexicon() -> Path | None:
    spec = find_spec("vaderSentiment")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / "vader_lexicon.txt"
        if path.is_file():
            return path
    return None


@functools.cache
def _nltk_has_lexicon() -> bool:
    """Looks into NLTK's documented folders, because its import takes seconds."""
    given = [Path(p) for p in os.environ.get("NLTK_DATA", "").split(os.pathsep) if p]
    roots = [Path(sys.prefix), Path(sys.prefix) / "share", Path(sys.prefix) / "lib",
             Path("/usr/share"), Path("/usr/local/share"), Path("/usr/lib"), Path("/usr/local/lib"),
             Path.home()]  # fmt: skip
    folders = given + [root / "nltk_data" for root in roots]
    return any((folder / "sentiment" / "vader_lexicon.zip").is_file() for folder in folders)
