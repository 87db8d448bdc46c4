"""Metrics as properties of the JUnit suite."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["serial", "xdist"])
def test_metrics_are_properties_of_the_suite(project, workers):
    result = project.pytest("--benchmark=toysum", "--agent=builtin:half", "--junitxml=j.xml", *workers)  # fmt: skip
    assert result.ret == 0
    suite = ET.parse(project.path / "j.xml").getroot().find("testsuite")
    found = {p.get("name"): p.get("value") for p in suite.find("properties")}
    assert found["toysum.exact.accuracy"] == "0.5"
    assert (
        float(found["toysum.exact.accuracy.low"]) < 0.5 < float(found["toysum.exact.accuracy.high"])
    )
    assert found["toysum.agent"] == "builtin:half"
    assert found["toysum.primary"] == "exact"
    assert "toysum.exact.style" not in found  # absent
    assert any(case.get("name") == "gate[coverage >= 1]" for case in suite.iter("testcase"))


def test_without_junit_nothing_happens(project):
    assert project.pytest("--benchmark=toysum", "-p", "no:junitxml").ret == 0
