"""Every hook is called in a real run, with the arguments that it documents."""

from __future__ import annotations

import json

from pytest_agentbench.plugin import hookspecs

HOOKS = """
import json, os
from pathlib import Path

def note(hook, **told):
    with Path("calls.jsonl").open("a") as file:
        file.write(json.dumps({"hook": hook, "worker": "PYTEST_XDIST_WORKER" in os.environ, **told}) + "\\n")

def pytest_agentbench_record(record, settings):
    logged = sum((path.read_text().count(record.sample)) for path in Path(".agentbench").rglob("records.jsonl"))
    note("pytest_agentbench_record", benchmark=settings.benchmark.name, sample=record.sample,
         status=record.status, logged=logged)

def pytest_agentbench_scores(scores, folder, settings):
    written = json.loads((folder / "scores.json").read_text())
    note("pytest_agentbench_scores", benchmark=settings.benchmark.name, folder=str(folder),
         accuracy=scores["readings"]["exact"]["accuracy"]["value"],
         same=written["readings"] == scores["readings"])
"""


def test_hooks_tell_other_plugins_of_records_and_scores_on_the_controller(project):
    project.write(conftest__py=HOOKS)
    assert project.pytest("--benchmark=toysum", "-n1", "--limit=2").ret == 0
    lines = (project.path / "calls.jsonl").read_text().splitlines()
    *records, scores = map(json.loads, lines)
    assert {call["hook"] for call in (*records, scores)} == {
        name for name in vars(hookspecs) if name.startswith("pytest_")
    }
    assert not any(call["worker"] for call in (*records, scores))
    logged = [record["sample"] for record in project.records()]
    assert len(logged) == 2
    assert [call["sample"] for call in records] == logged
    assert {(call["status"], call["logged"], call["benchmark"]) for call in records} == {
        ("ok", 1, "toysum")
    }
    assert scores["benchmark"] == "toysum"
    assert scores["folder"] == str(project.runs()[0])
    assert (scores["accuracy"], scores["same"]) == (1.0, True)
