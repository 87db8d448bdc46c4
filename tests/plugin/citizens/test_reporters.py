"""Plugins that report a session say the same as the process: its exit status, and every gate."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

HALF = (
    "def agent(context):\n    return context['a'] + context['b'] if context['a'] % 2 == 0 else -1\n"
)
FAILING = "def agent(context):\n    if context['a'] == 5:\n        raise RuntimeError\n    return context['a'] + context['b']\n"
# Ctrl-C in the terminal: the controller hears it, or the only process.
INTERRUPTING = """
import os, signal, time
def agent(context):
    if context["a"] == 5:
        os.kill(os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid(), signal.SIGINT)
        time.sleep(5)
    return context["a"] + context["b"]
"""
# What a conftest sees; and what pytest-tap does, which pytest 9 cannot load: the plan comes first, from testscollected.
CONFTEST = """
from pathlib import Path
LINES = []
def pytest_runtestloop(session):
    session.config.plan = session.testscollected
def pytest_runtest_logreport(report):
    if report.when == "call":
        LINES.append(f"{'ok' if report.passed else 'not ok'} {report.nodeid}")
def pytest_sessionfinish(session, exitstatus):
    if not hasattr(session.config, "workerinput"):
        Path("seen.txt").write_text(f"{int(exitstatus)} {getattr(session.config, 'plan', '-')}")
        Path("tap.txt").write_text("\\n".join(LINES))
"""
REPORTERS = (
    "-p", "pytest_jsonreport", "-p", "metadata", "--json-report", "--json-report-file=report.json",
    "-p", "pytest_reportlog", "--report-log=log.jsonl",
    "-p", "allure_pytest", "--alluredir=allure",
    "-p", "pytest-teamcity", "--teamcity",
    "--junitxml=out.xml",
)  # fmt: skip
GATE = re.compile(r"gate[\[(](.+?)[\])]$")


def statuses(project) -> dict[str, int]:
    """The exit status of the session, by who says it."""
    log = (project.path / "log.jsonl").read_text().splitlines()
    return {
        "json-report": json.loads((project.path / "report.json").read_text())["exitcode"],
        "reportlog": json.loads(log[-1])["exitstatus"],
        "conftest": int((project.path / "seen.txt").read_text().split()[0]),
    }


def gates(project, result) -> dict[str, dict[str, str]]:
    """The gates and their outcomes, by who says it."""
    found: dict[str, dict[str, str]] = {}

    def say(who: str, name: str, outcome: str) -> None:
        if (gate := GATE.search(name)) is not None:
            found.setdefault(who, {})[gate[1]] = outcome

    for test in json.loads((project.path / "report.json").read_text())["tests"]:
        say("json-report", test["nodeid"], test["outcome"])
    for one in map(json.loads, (project.path / "log.jsonl").read_text().splitlines()):
        if one["$report_type"] == "TestReport" and one["when"] == "call":
            say("reportlog", one["nodeid"], one["outcome"])
    for file in (project.path / "allure").glob("*-result.json"):
        one = json.loads(file.read_text())
        say("allure", one["name"], one["status"])
    for case in ET.parse(project.path / "out.xml").getroot().iter("testcase"):
        say("junit", str(case.get("name")), "passed" if case.find("failure") is None else "failed")
    for line in (project.path / "tap.txt").read_text().splitlines():
        say("tap", line, "passed" if line.startswith("ok") else "failed")
    for line in result.stdout.lines:
        event = re.search(r"##teamcity\[test(\w+) .*name='(.*?[^|])'\]", line)
        if event is not None and event[1] != "Started":
            name = event[2].replace("_", ".")
            outcome = "failed" if event[1] == "Failed" else "passed"
            if (
                found.get("teamcity", {}).get(GATE.sub(r"\1", name[name.find("gate") :]))
                != "failed"
            ):
                say("teamcity", name, outcome)
    return found


WHO = {"json-report", "reportlog", "allure", "junit", "tap", "teamcity"}


@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "xdist"])
def test_a_failed_gate_is_in_every_report_and_in_every_exit_status(project, workers):
    project.write(agent__py=HALF, conftest__py=CONFTEST)
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--gate=accuracy >= 0.9", *REPORTERS, *workers
    )
    assert result.ret == 1
    assert statuses(project) == {"json-report": 1, "reportlog": 1, "conftest": 1}
    said = gates(project, result)
    assert said == {key: {"coverage >= 1": "passed", "accuracy >= 0.9": "failed"} for key in WHO}
    summary = json.loads((project.path / "report.json").read_text())["summary"]
    assert summary == {"passed": 13, "failed": 1, "total": 14, "collected": 14}
    (case,) = (
        one
        for file in (project.path / "allure").glob("*-result.json")
        if (one := json.loads(file.read_text()))["name"] == "gate[accuracy >= 0.9]"
    )
    assert "got 0.5 against 0.9" in case["statusDetails"]["message"]
    assert len((project.path / "tap.txt").read_text().splitlines()) == 14
    if not workers:  # pytest-tap's plan with xdist is the number of the workers' tests
        assert (project.path / "seen.txt").read_text() == "1 14"


def test_where_all_gates_pass_everybody_says_so(project):
    project.write(agent__py=HALF, conftest__py=CONFTEST)
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", *REPORTERS)
    assert result.ret == 0
    assert statuses(project) == {"json-report": 0, "reportlog": 0, "conftest": 0}
    assert gates(project, result) == {key: {"coverage >= 1": "passed"} for key in WHO}


@pytest.mark.parametrize(
    ("agent", "args", "status"),
    [
        pytest.param(FAILING, ["-x"], 1, id="-x"),
        pytest.param(FAILING, ["--maxfail=1"], 1, id="maxfail", marks=pytest.mark.slow),
        pytest.param(FAILING, ["-x", "-n2"], 2, id="-x-xdist", marks=pytest.mark.slow),
        pytest.param(INTERRUPTING, [], 2, id="ctrl-c"),
        pytest.param(INTERRUPTING, ["-n2"], 2, id="ctrl-c-xdist", marks=pytest.mark.slow),
    ],
)
def test_of_a_session_that_was_cut_short_they_say_the_same(project, agent, args, status):
    project.write(agent__py=agent, conftest__py=CONFTEST)
    result = project.pytest_process(
        "--benchmark=toysum", "--agent=agent.py", "--gate=accuracy >= 0.1", *REPORTERS, *args
    )
    assert result.ret == status
    assert statuses(project) == dict.fromkeys(("json-report", "reportlog", "conftest"), status)
    # The gate that was asked for was not decided; the one that every run has is no news.
    assert gates(project, result) == {who: {"accuracy >= 0.1": "failed"} for who in WHO}
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
