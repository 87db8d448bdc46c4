"""The libraries that read a corpus are imported once, before pytester notes which modules to forget."""

from __future__ import annotations

import pytest
import review_corpus


@pytest.fixture(scope="session", autouse=True)
def _libraries(tmp_path_factory):
    pytest.importorskip("datasets", reason="needs pip install 'pytest-agentbench[hub]'")
    from pytest_agentbench.benchmarks.behavior_modeling.corpus import assemble, row_sources

    assert assemble
    for suffix in (".jsonl.gz", ".csv", ".parquet"):
        path = tmp_path_factory.mktemp("rows") / f"rows{suffix}"
        source = row_sources.find_source(review_corpus.write([{"a": "b"}], path), "--reviews")
        assert list(row_sources.batches(source, "--reviews")) == [[{"a": "b"}]]
