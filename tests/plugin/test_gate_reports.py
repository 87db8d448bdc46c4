"""Gates as reports of their own: exit code, summary and JUnit agree."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from toy_agents import HALF, MIXED


def test_junit_has_a_case_for_every_sample_and_gate(project):
    project.write(agent__py=MIXED)
    project.pytest("--benchmark=toysum", "--agent=agent.py", "--junitxml=out.xml", "-n2")
    suite = ET.parse(project.path / "out.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("13", "3")
    failed = {
        case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None
    }
    assert failed == {"sum[s1]", "sum[s3]", "gate[coverage >= 1]"}
    assert "agentbench_record" not in (project.path / "out.xml").read_text()


def test_fewer_records_than_samples_can_never_pass(project):
    project.write(
        conftest__py="def pytest_runtest_protocol(item):\n    return True if 's5' in item.name else None\n"
    )
    result = project.pytest("--benchmark=toysum", "--gate=coverage > 0")
    assert result.ret == 1
    result.assert_outcomes(passed=12, failed=1)
    result.stdout.fnmatch_lines(
        ["FAILED toysum::gate[[]every sample recorded] - *1 samples left no record*"]
    )
    assert project.scores()["samples"]["error"] == 1


def test_gates_decide_the_exit_code_and_stand_in_every_report(project):
    result = project.pytest(
        "--benchmark=toysum", "--agent=builtin:half", "-n2", "--junitxml=out.xml",
        "--gate=accuracy >= 0.5", "--gate=accuracy > 0.9", "--gate=accuracy.low >= 0.9",
        "--gate=lenient:distance < 100", "--gate=style > 0", "--gate=beauty > 0",
        "--gate=strict:accuracy > 0", "--gate=accuracy >= baseline",
    )  # fmt: skip
    assert result.ret == 1
    gates = {gate["gate"]: gate for gate in project.scores()["gates"]}
    assert [gate for gate, found in gates.items() if found["passed"]] == [
        "coverage >= 1", "accuracy >= 0.5", "lenient:distance < 100",
    ]  # fmt: skip
    assert gates["accuracy > 0.9"]["value"] == 0.5
    assert gates["accuracy > 0.9"]["threshold"] == 0.9
    assert gates["style > 0"]["reason"] == "style is absent in this run: numbers have no style"
    assert gates["beauty > 0"]["reason"] == (
        "metric 'beauty' does not exist in exact; there are: accuracy, distance, style, coverage"
    )
    assert gates["strict:accuracy > 0"]["reason"].startswith("reading 'strict' does not exist")
    assert "--baseline RUN" in gates["accuracy >= baseline"]["reason"]
    result.assert_outcomes(passed=15, failed=6)
    assert (project.path / "out.xml").read_text().count("<failure") == 6


def test_gates_against_a_baseline_run(project):
    project.write(agent__py=HALF)
    project.pytest("--benchmark=toysum", "--agent=builtin:half", "--run-dir=old")
    common = ["--benchmark=toysum", "--baseline=old"]
    better = project.pytest(
        *common, "--gate=accuracy >= baseline + 0.5", "--gate=delta(accuracy) == 0.5",
        "--gate=delta(accuracy).low > 0", "--run-dir=new",
    )  # fmt: skip
    assert better.ret == 0
    better.stdout.fnmatch_lines(
        ["difference to the baseline old on 12 common samples", "  accuracy  +0.5000*"]
    )
    worse = project.pytest(*common, "--agent=builtin:wrong", "--gate=accuracy >= baseline - 0.4")
    assert worse.ret == 1
    worse.stdout.fnmatch_lines(["gate failed: accuracy >= baseline - 0.4: got 0 against 0.1"])
    last = project.pytest("--benchmark=toysum", "--baseline=last", "-k", "not double")
    assert last.ret == 0
    assert project.scores()["baseline"]["common_samples"] == 9
