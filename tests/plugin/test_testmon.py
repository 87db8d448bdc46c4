"""What pytest-testmon remembers of a session, without samples (citizens/test_selectors.py has real sessions)."""

from __future__ import annotations

import pytest

from pytest_agentbench.plugin import testmon


def test_samples_are_forgotten_and_tests_are_not():
    report = pytest.TestReport("b.py::test", ("b.py", 0, "test"), {}, "passed", None, "teardown")
    report.nodes_files_lines = {"toysum::s[1]": {"agent.py": {1}}, "b.py::test": {"b.py": {2}}}
    testmon.forget(report, {"toysum::s[1]"})
    assert report.nodes_files_lines == {"b.py::test": {"b.py": {2}}}


def test_without_testmon_a_report_stays_as_it_is():
    report = pytest.TestReport("b.py::test", ("b.py", 0, "test"), {}, "passed", None, "call")
    testmon.forget(report, {"b.py::test"})
    assert not hasattr(report, "nodes_files_lines")
