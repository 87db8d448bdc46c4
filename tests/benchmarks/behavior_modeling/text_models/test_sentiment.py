"""VADER to the last digit, and what happens where it is not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.text_models import sentiment
from pytest_agentbench.metrics.review_text import sentiment_errors

GOLDEN = Path(__file__).parents[3] / "golden" / "vader.json"
needs_vader = pytest.mark.skipif(
    find_spec("nltk") is None or sentiment.missing() is not None,
    reason="needs NLTK and VADER's lexicon: pip install 'pytest-agentbench[text]'",
)


@needs_vader
def test_compounds_are_those_of_nltk_with_its_own_lexicon():
    cases = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
    got = sentiment.compound_scores([case["text"] for case in cases])
    assert got == [case["compound"] for case in cases]


@needs_vader
def test_an_error_is_half_the_difference_of_the_compounds():
    first = sentiment.compound_scores(["flawed", "badass guitar :p"])
    second = sentiment.compound_scores([":p", "badass guitar :p"])
    assert sentiment_errors(first, second).tolist() == [0.17, 0.0]


def test_six_entries_are_mended():
    theirs = {
        ":P": 1.0,
        "heart": 3.2,
        "hearts": 3.3,
        "flawed": -2.1,
        ":p": 1.2,
        "badass": 1.4,
        "good": 1.9,
    }
    assert sentiment.mended(theirs) == {":p": 1.4, "badass": -0.6, "good": 1.9}


def test_another_lexicon_is_refused(tmp_path, monkeypatch):
    other = tmp_path / "vader_lexicon.txt"
    other.write_text("good\t1.8\t0.9\t[]\n", encoding="utf-8")
    monkeypatch.setattr(sentiment, "_packaged_lexicon", lambda: other)
    monkeypatch.setattr(sentiment, "_nltk_has_lexicon", lambda: False)
    with pytest.raises(
        sentiment.LexiconError, match=r"expected the lexicon of vaderSentiment 3\.3\.2"
    ):
        sentiment.lexicon()


@pytest.mark.parametrize("package", ["nltk", "vaderSentiment"])
def test_a_missing_package_is_named_with_the_command_that_mends_it(monkeypatch, package):
    monkeypatch.setattr(sentiment, "_nltk_has_lexicon", lambda: False)
    monkeypatch.setattr(
        sentiment, "find_spec", lambda name: None if name == package else find_spec("json")
    )
    assert "pip install" in (sentiment.missing() or "")


@needs_vader
def test_looking_for_what_is_missing_imports_nothing_heavy():
    code = (
        "import sys; from pytest_agentbench.benchmarks.behavior_modeling.text_models import sentiment; sentiment.missing(); "
        "print([m for m in ('nltk', 'vaderSentiment', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_analyser_comes_without_the_rest_of_nltk_which_stays_importable():
    code = (
        "import sys\n"
        "from pytest_agentbench.benchmarks.behavior_modeling.text_models import sentiment\n"
        "found = sentiment.compound_scores(['a great, great room', 'not good at all'])\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] in ('nltk', 'scipy')]\n"
        "import nltk.sentiment.vader as whole\n"
        "analyser = whole.SentimentIntensityAnalyzer.__new__(whole.SentimentIntensityAnalyzer)\n"
        "analyser.lexicon, analyser.constants = sentiment.lexicon(), whole.VaderConstants()\n"
        "texts = ('a great, great room', 'not good at all')\n"
        "assert found == [analyser.polarity_scores(text)['compound'] for text in texts]\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
