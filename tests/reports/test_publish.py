"""What a finished run leaves for other programs: summaries, properties, tables, comparison."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET

import pytest


def test_github_gets_a_summary_and_errors(project, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    result = project.pytest("--benchmark=toysum", "--agent=builtin:half", "--gate=accuracy > 0.9")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["::error *accuracy > 0.9*"])
    summary = (project.path / "summary.md").read_text()
    assert "accuracy" in summary
    assert "accuracy &gt; 0.9 | ❌ failed" in summary
    assert "::error" not in project.pytest("--benchmark=toysum").stdout.str()


def test_junit_has_the_metrics_as_properties(project):
    project.pytest("--benchmark=toysum", "--agent=builtin:half", "--junitxml=out.xml", "-n2")
    properties = {
        p.get("name"): p.get("value") for p in ET.parse(project.path / "out.xml").iter("property")
    }
    assert any("accuracy" in name and float(value) == 0.5 for name, value in properties.items()
               if "accuracy" in name and "low" not in name and "high" not in name)  # fmt: skip


def test_json_and_csv_of_the_session(project):
    result = project.pytest(
        "--benchmark=toysum", "--agentbench-json=all.json", "--agentbench-csv=all.csv", "--limit=3"
    )
    assert result.ret == 0
    (run,) = json.loads((project.path / "all.json").read_text())["runs"]
    assert run["samples"]["total"] == 3
    with (project.path / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert any(row["metric"] == "accuracy" for row in rows)
    with (project.path / "all.samples.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 3


def test_a_baseline_says_how_many_samples_changed(project):
    project.pytest("--benchmark=toysum", "--agent=builtin:half", "--run-dir=old")
    result = project.pytest("--benchmark=toysum", "--baseline=old")
    result.stdout.fnmatch_lines(["  accuracy  +0.5000 *; 6 better, 0 worse, 6 same"])
    samples = project.scores()["baseline"]["samples"]["distance"]
    assert (samples["better"], samples["worse"], samples["same"]) == (6, 0, 6)
    assert samples["largest"][0]["sample"] == "sum[s11]"


def test_a_difference_that_is_absent_says_how_many_samples_changed(project):
    project.write(bad__py="def agent(context):\n    return context['a'] * 2 or 'none'\n")
    project.pytest("--benchmark=toysum", "--run-dir=old")
    result = project.pytest("--benchmark=toysum", "--agent=bad.py", "--baseline=old")
    expected = "  distance  absent (a sample has no valid answer); 0 better, 1 worse, 11 same"
    result.stdout.fnmatch_lines([expected])


def test_a_saved_run_is_a_baseline_by_its_name(project):
    project.pytest("--benchmark=toysum", "--agent=builtin:half")
    code = "import sys; from pytest_agentbench.cli import main; sys.exit(main(['save', 'good']))"
    assert project.python("-c", code).ret == 0
    result = project.pytest("--benchmark=toysum", "--baseline=good", "--gate=delta(accuracy) > 0.4")
    assert result.ret == 0


def test_every_run_has_a_report(project):
    project.pytest("--benchmark=toysum", "--run-dir=out")
    page = (project.path / "out" / "report.html").read_text(encoding="utf-8")
    assert "toysum" in page
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=.?https?:", page), "no network"


def test_scoring_that_fails_costs_no_answer(project):
    project.write(
        conftest__py="import toybench\n"
        "def fail(self, dataset, records):\n    raise RuntimeError('no model')\n"
        "def pytest_configure(config):\n"
        "    if config.getoption('agentbench_submission') is None:\n"
        "        toybench.ToySum.score_run = fail\n"
    )
    result = project.pytest("--benchmark=toysum", "--run-dir=out")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["scoring failed: RuntimeError: no model", "*--submission*out*"])
    assert len(project.records(project.path / "out")) == 12
    again = project.pytest("--benchmark=toysum", "--submission=out")
    assert again.ret == 0
    assert project.scores()["readings"]["exact"]["accuracy"]["value"] == 1.0


@pytest.mark.parametrize("place", ["file.txt/x.json"])
def test_a_table_that_cannot_be_written_fails_the_session(project, place):
    project.write(file__txt="")
    result = project.pytest("--benchmark=toysum", f"--agentbench-json={place}")
    assert result.ret == 1
    assert "INTERNALERROR" not in result.stdout.str()
