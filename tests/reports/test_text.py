"""Numbers as plain text."""

from __future__ import annotations

import pytest

from pytest_agentbench.reports.text import number


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0.0000"), (0.12345, "0.1235"), (-0.5, "-0.5000"), (71.345, "71.34"), (12345.678, "12345.68"), (None, "-"),
     (9.99999, "10.0000")],
)  # fmt: skip
def test_numbers(value, shown):
    assert number(value) == shown
