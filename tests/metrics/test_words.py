"""Words and their numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.words import numbered, words


@given(st.lists(st.text(alphabet="ab '’.é\n", max_size=12), max_size=6))
def test_equal_words_have_equal_numbers(texts):
    listed = [word for text in texts for word in words(text)]
    found = numbered(texts)
    assert [listed.index(word) for word in listed] == [
        found.codes.tolist().index(code) for code in found.codes
    ]
    assert found.lengths.tolist() == [len(words(text)) for text in texts]
    assert len(found.owner) == len(listed)


def test_case_and_punctuation_do_not_count():
    assert words("It's GREAT — isn’t it?") == ["it's", "great", "isn’t", "it"]
    assert words("!!! ...") == []
