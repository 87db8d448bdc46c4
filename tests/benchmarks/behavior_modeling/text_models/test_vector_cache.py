"""Vectors are kept by text, a batch at a time."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from pytest_agentbench.benchmarks.behavior_modeling.text_models.vector_cache import VectorCache

pytestmark = pytest.mark.filterwarnings("default")  # the libraries' own are not ours to judge


def test_a_batch_is_remembered_as_a_whole_or_not_at_all(tmp_path):
    kept = VectorCache("digest", tmp_path)
    kept.write({"a": np.ones(3, np.float32)})
    with pytest.raises(ValueError, match="could not convert"):
        kept.write({"b": np.ones(3, np.float32), "c": np.array(["no"])})
    assert set(kept.read(["a", "b", "c"])) == {"a"}
    with sqlite3.connect(next(tmp_path.glob("*.sqlite"))) as database:
        assert database.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    database.close()


def test_many_texts_are_found_again(tmp_path):
    kept = VectorCache("digest", tmp_path)
    texts = [f"text {n}" for n in range(1234)]
    kept.write({text: np.full(4, n, np.float32) for n, text in enumerate(texts)})
    found = kept.read([*texts, "unknown"])
    assert len(found) == 1234
    assert all(found[text].tolist() == [n] * 4 for n, text in enumerate(texts))
