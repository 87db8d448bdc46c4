"""Dates of reviews, as three sources write them."""

from __future__ import annotations

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.review_dates import review_time


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2020-02-01", 1580515200), ("2020-02-01 00:00:10", 1580515210),
        ("2020-02-01T01:00:00+01:00", 1580515200), ("2020-02-01T00:00:00Z", 1580515200),
        ("Sat Feb 01 00:00:00 +0000 2020", 1580515200), (1580515200000, 1580515200),
        ("1580515200000", 1580515200), (1580515200, 1580515200), ("whenever", None), (None, None),
        ([1], None),
    ],
)  # fmt: skip
def test_dates_of_all_three_sources_are_understood(value, seconds):
    assert review_time({"date": value}) == seconds
