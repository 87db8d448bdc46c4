"""Gates as reports of their own: exit code, summary and JUnit agree."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
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
        "--gate=lenient:distance < 100", "--gate=style > 0",
    )  # fmt: skip
    assert result.ret == 1
    gates = {gate["gate"]: gate for gate in project.scores()["gates"]}
    assert [gate for gate, found in gates.items() if found["passed"]] == [
        "coverage >= 1", "accuracy >= 0.5", "lenient:distance < 100",
    ]  # fmt: skip
    assert gates["accuracy > 0.9"]["value"] == 0.5
    assert gates["accuracy > 0.9"]["threshold"] == 0.9
    assert gates["style > 0"]["reason"] == "style is absent in this run: numbers have no style"
    result.assert_outcomes(passed=15, failed=3)
    assert (project.path / "out.xml").read_text().count("<failure") == 3


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


SEES = """
def pytest_sessionfinish(session, exitstatus):
    with open("seen.txt", "a") as file:
        file.write(f"{int(exitstatus)} {session.testsfailed}\\n")
"""


@pytest.mark.parametrize("workers", [[], pytest.param(["-n2"], marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("args", "status"),
    [
        (["--gate=accuracy > 0.9"], 1),
        (["--gate=accuracy > 0.4"], 0),
        (["--gate=accuracy > 0.4", "--agent=agent.py", "-x"], None),
        (["--gate=accuracy > 0.4", "--agent=agent.py", "--maxfail=2"], None),
    ],
)
def test_whoever_looks_at_the_exit_status_sees_what_came_of_gates(project, args, status, workers):
    project.write(conftest__py=SEES, agent__py=MIXED)
    result = project.pytest("--benchmark=toysum", "--agent=builtin:half", *args, *workers)
    seen = (project.path / "seen.txt").read_text().splitlines()[-1].split()
    assert int(seen[0]) == result.ret
    if status is not None:
        assert result.ret == status
    assert (int(seen[1]) > 0) is (result.ret != 0)


@pytest.mark.parametrize(
    ("args", "ret", "why"),
    [
        (["--benchmark=toysum", "-k", "nothing"], 1, "no sample was selected"),
        (["--benchmark=toysum", "-k", "nothing", "-n2"], 1, "no sample was selected"),
        (["--benchmark=toysum", "-k", "own", "test_mine.py"], 1, "no sample was selected"),
        (
            ["--benchmark=toysum", "--agentbench-agent=agent.py", "-x"],
            1,
            "stopping after 1 failures",
        ),
        (["test_mine.py"], 1, "no benchmark ran; give --benchmark NAME"),
        (["test_mine.py", "-n2"], 1, "no benchmark ran; give --benchmark NAME"),
        (["test_mine.py", "-k", "nothing"], 1, "no benchmark ran"),
    ],
)
def test_a_gate_that_was_asked_for_and_not_decided_has_failed(project, args, ret, why):
    project.write(test_mine__py="def test_own(): pass\n", agent__py=MIXED)
    result = project.pytest("--agentbench-gate=accuracy > 0", *args)
    assert result.ret == ret
    assert f"not decided: {why}" in result.stdout.str().replace("the session was cut short (", "")
    assert "gate[accuracy > 0]" in result.stdout.str()


def test_only_what_was_asked_for_must_be_decided(project):
    """The gate on coverage is there by itself: a run of which nothing is selected has not failed."""
    assert (
        project.pytest("--benchmark=toysum", "-k", "nothing").ret
        == pytest.ExitCode.NO_TESTS_COLLECTED
    )
    assert project.pytest("--agentbench-gate=accuracy > 0", "--co", "--benchmark=toysum").ret == 0
    project.write(
        pytest__ini="[pytest]\nagentbench_gate = accuracy > 0\n",
        test_mine__py="def test_own(): pass\n",
    )
    assert project.pytest().ret == 0


def test_last_failed_knows_no_gate(project):
    command = ["--benchmark=toysum", "--agent=builtin:half", "--gate=accuracy > 0.9"]
    assert project.pytest(*command).ret == 1
    cache = project.path / ".pytest_cache" / "v" / "cache" / "lastfailed"
    assert not cache.exists()
    for option in ("--lf", "--ff", "--sw"):
        again = project.pytest(*command, option)
        again.assert_outcomes(passed=13, failed=1)
        assert "known failures" not in again.stdout.str()


# What a conftest does that has functions in mind.
ASSUMES = """
import pytest

def pytest_runtest_setup(item):
    assert "driver" not in item.fixturenames and item.function and item.obj

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        print("screenshot of", item.funcargs.get("driver"))
        {more}
    return report
"""


@pytest.mark.parametrize("more", ["pass", "item.callspec.params['sample']", "pytest.skip('no')"])
def test_hooks_that_expect_functions_lose_no_gate(project, more):
    project.write(conftest__py=ASSUMES.format(more=more))
    args = ["--benchmark=toysum", "--agent=builtin:half", "--gate=accuracy > 0.9"]
    result = project.pytest(*args, "--junitxml=out.xml")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAILED toysum::gate[[]accuracy > 0.9]*"])
    assert (project.path / "out.xml").read_text().count("<failure") == 1


def test_reruns_repeat_samples_and_no_gate(project):
    args = ["--benchmark=toysum", "--agent=builtin:half", "--gate=accuracy > 0.9"]
    project.pytest_process(*args, "-p", "rerunfailures", "--reruns=2").assert_outcomes(
        passed=13, failed=1
    )


@pytest.mark.parametrize("plugin", [["-p", "no:terminal"], ["-q", "-q"], []])
def test_a_run_that_came_to_its_end_was_not_cut_short(project, plugin):
    result = project.pytest_process("--benchmark=toysum", *plugin)
    assert result.ret == 0
    assert "cut short" not in result.stdout.str() + result.stderr.str()


KNOWN = """
ids = set()

def pytest_collection_modifyitems(items):
    ids.update(item.nodeid for item in items)

def pytest_runtest_logreport(report):
    if report.nodeid not in ids:
        raise KeyError(report.nodeid)
"""
SETUP = "import pytest\ndef pytest_runtest_setup(item):\n    {}\n"
XFAIL = """
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        report.outcome, report.wasxfail = "skipped", "known"
    return report
"""


@pytest.mark.parametrize(
    "conftest",
    [
        KNOWN,
        SETUP.format("item.module.__name__"),
        SETUP.format("if 'gate' in item.name: pytest.skip('not today')"),
        SETUP.format("if 'gate' in item.name: pytest.fail('never')"),
        XFAIL,
        "def pytest_runtest_protocol(item):\n    item.callspec\n",
        "def pytest_runtest_logstart(nodeid):\n    assert 'gate' not in nodeid\n",
    ],
    ids=["collected ids", "module", "skip", "fail", "xfail", "protocol", "logstart"],
)
@pytest.mark.parametrize(("gate", "failed"), [("accuracy > 0.9", 1), ("accuracy > 0.4", 0)])
def test_nobody_decides_a_gate_otherwise_or_counts_it_twice(project, conftest, gate, failed):
    project.write(conftest__py=conftest)
    result = project.pytest(
        "--benchmark=toysum", "--agent=builtin:half", f"--gate={gate}", "--junitxml=out.xml"
    )
    assert result.ret == failed
    result.assert_outcomes(passed=14 - failed, failed=failed)
    suite = ET.parse(project.path / "out.xml").getroot().find("testsuite")
    assert int(suite.get("tests")) == len(list(suite.iter("testcase"))) == 14
    assert int(suite.get("failures")) == failed


def test_a_session_that_somebody_ends_with_0_before_it_asks_does_not_pass(project):
    project.write(
        conftest__py="import pytest\ndef pytest_collection_modifyitems():\n    pytest.exit('enough', 0)\n"
    )
    result = project.pytest("--benchmark=toysum", "--gate=accuracy > 0")
    assert result.ret == 1
    assert "not decided: the session was cut short" in result.stdout.str()


def test_a_session_that_somebody_ends_with_0_says_to_all_that_it_does_not_pass(project):
    project.write(
        conftest__py=SEES + "import pytest\ndef pytest_runtest_teardown(item):\n"
        "    if 's5' in item.name: pytest.exit('enough', 0)\n"
    )
    result = project.pytest("--benchmark=toysum", "--gate=accuracy > 0")
    assert result.ret == 1
    assert (project.path / "seen.txt").read_text().startswith("1 ")
    assert project.scores()["incomplete"] == "the session was cut short (pytest.exit: enough)"


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        ("pytest_agentbench_scores(scores)", "not decided: interrupted in scoring"),
        ("pytest_runtest_setup(item)", "got 0.5 against 0.9"),
    ],
)
def test_ctrl_c_while_a_run_is_scored_or_gated_loses_no_gate(project, hook, said):
    project.write(
        conftest__py=f"done = []\ndef {hook}:\n"
        "    if done or 'gate' not in str(locals()): return\n"
        "    done.append(1)\n    raise KeyboardInterrupt\n"
    )
    result = project.pytest_process(
        "--benchmark=toysum", "--agent=builtin:half", "--gate=accuracy > 0.9", "--junitxml=out.xml"
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED
    report = (project.path / "out.xml").read_text()
    assert "gate[accuracy &gt; 0.9]" in report
    assert said in report
