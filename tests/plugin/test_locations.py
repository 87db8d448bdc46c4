"""Reports point to the agent's file and to the gate's line, and never into this package."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_agentbench.benchmarks.registry import get
from pytest_agentbench.plugin import locations
from pytest_agentbench.settings.settings import Settings

SECOND = "# An agent that answers half.\n\ndef agent(context):\n    return context['a'] + context['b'] if context['a'] % 2 == 0 else -1\n"
SCENARIO = (
    "benchmark: toysum\nagent: agent.py\ngates:\n  - coverage >= 1\n  - 'accuracy >= 0.9'  # soon\n"
)


def where(tmp_path: Path, **changes) -> tuple[Path, int]:
    given = {"benchmark": get("humob"), "nodeid": "humob", "bases": (tmp_path,)}
    given |= {"mode": "test", "dataset": "demo", "reading": "2023"}
    return locations.of_samples(Settings(**{**given, "agent": "builtin:x", **changes}), tmp_path)


@pytest.mark.parametrize(
    ("source", "spec", "line"),
    [
        ("x = 1\ndef agent(context): ...\n", "a.py", 1),
        ("async def agent(context): ...\n", "a.py:agent", 0),
        ("def _help(): ...\nclass Net: ...\nclass A:\n    def forward(self, c): ...\n", "a.py", 2),
        ("\n\nclass A:\n    def workflow(self): ...\nagent = A()\n", "a.py:agent", 4),
        ("def one(c): ...\ndef two(c): ...\n", "a.py:two", 1),
        ("\ndef one(c): ...\ndef two(c): ...\n", "a.py", 0),  # not clear which
        ("\nfrom elsewhere import agent\n", "a.py:agent", 0),
        ("def broken(:\n", "a.py", 0),
    ],
)
def test_a_sample_stands_where_its_agent_is_defined(tmp_path, source, spec, line):
    (tmp_path / "a.py").write_text(source)
    assert where(tmp_path, agent=spec) == (tmp_path / "a.py", line)


def test_a_module_is_found_as_its_import_finds_it(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "mine.py").write_text("\nclass Agent:\n    def forward(self, c): ...\n")
    assert where(tmp_path, agent="pack.mine:Agent") == (tmp_path / "pack" / "mine.py", 1)


def test_without_a_file_of_the_agents_it_is_the_datas_or_none(tmp_path):
    data = tmp_path / "data.csv"
    data.touch()
    assert where(tmp_path, dataset=data) == (data, 0)
    assert where(tmp_path, submission=data) == (data, 0)
    assert where(tmp_path, dataset="demo", agent="cmd:./a") == (tmp_path / "humob", 0)


def test_a_gate_stands_in_the_scenario_or_the_ini_file(tmp_path):
    (tmp_path / "ci.yaml").write_text(SCENARIO)
    ini = tmp_path / "pyproject.toml"
    ini.write_text('[tool.pytest.ini_options]\nagentbench_gate = [\n  "accuracy>=0.8",\n]\n')
    assert locations.of_gate("accuracy >= 0.9", "ci.yaml", tmp_path, ini) == (
        tmp_path / "ci.yaml",
        4,
    )
    assert locations.of_gate("accuracy >= 0.8", "ci.yaml", tmp_path, ini) == (ini, 2)
    assert locations.of_gate("accuracy >= 0", "toysum", tmp_path, ini) == (tmp_path / "toysum", 0)
    assert locations.of_gate("accuracy >= 0", "toysum", tmp_path, None) == (tmp_path / "toysum", 0)


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["serial", "xdist"]
)
def test_reports_point_to_the_agent_and_to_the_gate(project, workers):
    project.write(agent__py=SECOND, ci__yaml=SCENARIO)
    result = project.pytest(
        "--benchmark=ci.yaml", "-v", "--junitxml=out.xml", "-o", "junit_family=xunit1",
        "-p", "pytest_reportlog", "--report-log=log.jsonl", *workers,
    )  # fmt: skip
    assert result.ret == 1
    lines = (project.path / "log.jsonl").read_text().splitlines()
    found = {
        tuple(one["location"][:2]) if "gate" not in one["nodeid"] else one["location"][2]: one
        for one in map(json.loads, lines)
        if one["$report_type"] == "TestReport"
    }
    assert set(found) == {("agent.py", 2), "gate[coverage >= 1]", "gate[accuracy >= 0.9]"}
    assert found["gate[coverage >= 1]"]["location"][:2] == ["ci.yaml", 3]
    assert found["gate[accuracy >= 0.9]"]["location"][:2] == ["ci.yaml", 4]
    cases = ET.parse(project.path / "out.xml").getroot().iter("testcase")
    assert {(case.get("file"), case.get("line")) for case in cases} == {
        ("agent.py", "2"), ("ci.yaml", "3"), ("ci.yaml", "4"),
    }  # fmt: skip
    assert "item.py" not in result.stdout.str()


@pytest.mark.parametrize("others", [False, True], ids=["alone", "beside-annotate-failures"])
def test_github_is_told_of_a_failed_gate_once(project, monkeypatch, others):
    project.write(agent__py=SECOND, ci__yaml=SCENARIO)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    plugin = "pytest_github_actions_annotate_failures"
    result = project.pytest("--benchmark=ci.yaml", "-p", plugin if others else f"no:{plugin}")
    told = [
        line
        for line in (*result.stdout.lines, *result.stderr.lines)
        if line.startswith("::error") and "got 0.5 against 0.9" in line
    ]
    assert len(told) == 1
    assert told[0].startswith("::error file=ci.yaml,line=5" if others else "::error title=gate")


FIXTURE = (
    "import pytest\n\n\n@pytest.fixture\ndef agent({}):\n    return lambda c: c['a'] + c['b']\n"
)


@pytest.mark.parametrize(
    ("asks", "args", "place"),
    [
        ("", [], ("conftest.py", "3")),
        ("agent", [], ("conftest.py", "3")),  # around one that has no file
        ("agent", ["--agent=agent.py"], ("agent.py", "2")),
        ("", ["--agent=agent.py"], ("agent.py", "2")),
    ],
)
def test_reports_point_to_the_fixture_that_answers(project, asks, args, place):
    project.write(conftest__py=FIXTURE.format(asks), agent__py=SECOND)
    project.pytest(
        "--benchmark=toysum", "--limit=2", "--junitxml=out.xml", "-o", "junit_family=xunit1", *args
    )
    cases = ET.parse(project.path / "out.xml").getroot().iter("testcase")
    found = {(case.get("file"), case.get("line")) for case in cases if "[s" in case.get("name")}
    assert found == {place}


NOTES_LOCATIONS = """
import json
import pytest

def pytest_collection_modifyitems(items):
    items[1].name = "renamed"
    items[2].reportinfo = lambda: ("elsewhere.py", 7, "moved")

@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    found = [(item.location[1:], item.reportinfo()[1:]) for item in session.items]
    with open("noted.json", "w") as file:
        json.dump(found, file)
"""


def test_items_of_one_function_share_their_place_and_keep_their_names(project):
    project.write(conftest__py=NOTES_LOCATIONS, agent__py=SECOND)
    project.pytest("--benchmark=toysum", "--agent=agent.py", "--limit=4")
    noted = json.loads((project.path / "noted.json").read_text())
    assert [shared for shared, _ in noted] == [looked_up for _, looked_up in noted]
    assert [line for (line, _), _ in noted] == [2, 2, 7, 2]
    assert noted[1][0][1] == "renamed"
