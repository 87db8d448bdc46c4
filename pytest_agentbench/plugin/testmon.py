"""Keeps samples from pytest-testmon, which leaves out tests that no change touches: a score is of all samples."""

from __future__ import annotations

from collections.abc import Container

import pytest


def forget(report: pytest.TestReport, samples: Container[str]) -> None:
    """Takes samples, by their node ids, out of what testmon is about to remember.

    Its name for that are the lines that several tests have run, on the report of the last one.
    """
    measured = getattr(report, "nodes_files_lines", None)
    if measured:
        kept = {nodeid: lines for nodeid, lines in measured.items() if nodeid not in samples}
        report.nodes_files_lines = kept  # type: ignore[attr-defined]
