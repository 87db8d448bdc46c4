"""Metrics as properties of the JUnit suite."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

CONFTEST = """
from pytest_agentbench.reports import junit

def pytest_configure(config):
    global kept
    kept = config

def pytest_agentbench_scores(scores, folder, settings):
    junit.add_properties(kept, scores, "mine")
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["serial", "xdist"])
def test_metrics_are_properties_of_the_suite(project, workers):
    project.write(conftest__py=CONFTEST)
    result = project.pytest("--benchmark=toysum", "--agent=builtin:half", "--junitxml=j.xml", *workers)  # fmt: skip
    assert result.ret == 0
    suite = ET.parse(project.path / "j.xml").getroot().find("testsuite")
    found = {p.get("name"): p.get("value") for p in suite.find("properties")}
    assert found["mine.exact.accuracy"] == "0.5"
    assert float(found["mine.exact.accuracy.low"]) < 0.5 < float(found["mine.exact.accuracy.high"])
    assert found["mine.agent"] == "builtin:half"
    assert found["mine.primary"] == "exact"
    assert "mine.exact.style" not in found  # absent
    assert any(case.get("name") == "gate[coverage >= 1]" for case in suite.iter("testcase"))


def test_without_junit_nothing_happens(project):
    project.write(conftest__py=CONFTEST)
    assert project.pytest("--benchmark=toysum", "-p", "no:junitxml").ret == 0
