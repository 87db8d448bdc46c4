"""One item: how it asks, fails and is recorded."""

from __future__ import annotations

import pytest
from toy_agents import FLAKY, MIXED


def test_each_sample_fails_alone_and_the_run_goes_on(project):
    project.write(agent__py=MIXED)
    result = project.pytest("--benchmark=toysum", "--agent=agent.py")
    assert result.ret == 1
    result.assert_outcomes(passed=10, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*def agent(context):*",
            "E *RuntimeError: no idea",
            "agent.py:6: RuntimeError",
            "sum[[]s3]: expected a whole number, got 'three'",
            "FAILED toysum::gate[[]coverage >= 1] - *got 0.833333 against 1",
        ]
    )
    for ours in ("evaluation.py", "calling.py", "asyncio", "hidden"):
        assert ours not in result.stdout.str()
    statuses = {r["sample"]: (r["status"], r["answer"], r["error"]) for r in project.records()}
    assert statuses["sum[s1]"] == ("error", None, "RuntimeError: no idea")
    assert statuses["sum[s3]"] == ("invalid", "three", "expected a whole number, got 'three'")
    scores = project.scores()
    assert scores["readings"]["exact"]["accuracy"]["value"] == pytest.approx(10 / 12)
    assert scores["readings"]["exact"]["distance"] == {
        "value": None, "reason": "a sample has no valid answer",
    }  # fmt: skip


def test_a_failing_agent_fixture_is_an_error_of_that_sample(project):
    project.write(
        conftest__py="import pytest\n@pytest.fixture\ndef agent():\n    raise OSError('no server')\n"
    )
    result = project.pytest("--benchmark=toysum", "--limit=2")
    assert result.ret == 1
    result.assert_outcomes(errors=2, failed=1)
    assert {r["error"] for r in project.records()} == {"OSError: no server"}


def test_a_skipped_sample_has_no_valid_answer(project):
    project.write(
        conftest__py="import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    items[0].add_marker(pytest.mark.skip(reason='not today'))\n"
    )
    result = project.pytest("--benchmark=toysum")
    assert result.ret == 1
    result.assert_outcomes(skipped=1, passed=11, failed=1)
    assert project.scores()["samples"]["error"] == 1
    assert "not today" in project.records()[0]["error"]


@pytest.mark.parametrize(
    ("raised", "option"),
    [
        ("pytest.skip('too hard')", []),
        ("pytest.skip('too hard')", ["--chunk=3"]),
        ("pytest.skip('too hard')", ["-n1"]),
        ("pytest.xfail('too hard')", []),
        ("pytest.importorskip('no_such_module')", []),
        ("raise unittest.SkipTest('too hard')", []),
    ],
)
def test_an_agent_that_skips_has_not_answered(project, raised, option):
    """Its test fails as for any other exception, also where the gate allows some failures."""
    project.write(
        agent__py="import pytest, unittest\n"
        "def agent(context):\n"
        "    if context['a'] == 5:\n"
        f"        {raised}\n"
        "    return context['a'] + context['b']\n"
    )
    gate = "--gate=coverage >= 0.9"
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", gate, *option)
    assert result.ret == 1
    assert result.parseoutcomes()["failed"] == 1
    assert not {"skipped", "xfailed"} & set(result.parseoutcomes())
    scores = project.scores()
    assert (scores["samples"]["ok"], scores["samples"]["error"]) == (11, 1)
    (failed,) = [record for record in project.records() if record["status"] == "error"]
    assert failed["sample"] == "sum[s5]"
    assert "too hard" in failed["error"] or "no_such_module" in failed["error"]


def test_the_debugger_stops_in_the_agent(project):
    project.write(
        agent__py="def agent(context):\n    clue = 'found'\n    raise RuntimeError\n",
        pdbrc="p clue\nq\n",
    )
    (project.path / "pdbrc").rename(project.path / ".pdbrc")
    result = project.pytest_process("--benchmark=toysum", "--agent=agent.py", "--pdb")
    result.stdout.fnmatch_lines(["*'found'"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.parametrize("extra", [[], ["-n2"]], ids=["serial", "xdist"])
def test_a_rerun_replaces_what_it_repeats(project, extra):
    project.write(agent__py=FLAKY)
    result = project.pytest_process(
        "--benchmark=toysum", "--agent=agent.py", "-p", "rerunfailures", "--reruns=1", *extra
    )
    assert result.ret == 0
    assert project.scores()["samples"] == {
        "total": 12,
        "ok": 12,
        "invalid": 0,
        "error": 0,
        "timeout": 0,
    }
    assert len(project.records()) == 13


def test_pytest_timeout_fails_a_sample_alone(project):
    project.write(
        agent__py="import time\ndef agent(c):\n    if c['a'] == 3: time.sleep(600)\n    return c['a'] + c['b']\n"
    )
    result = project.pytest_process(
        "--benchmark=toysum", "--agent=agent.py", "-p", "timeout", "--timeout=3"
    )
    assert result.ret == 1
    result.assert_outcomes(passed=11, failed=2)
    (record,) = [r for r in project.records() if r["status"] != "ok"]
    assert record["sample"] == "sum[s3]"
    assert "Timeout" in record["error"]


def test_an_agent_that_answers_with_anything_at_all_loses_nothing(project):
    project.write(
        agent__py="import numpy as np\n"
        "ODD = [np.float64(1), float('nan'), {1: {2}}, '\\ud800', b'x', object, 10**5000, None,\n"
        "       [[[]]], np.arange(3), lambda: 0, 'x' * 100000]\n"
        "def agent(c):\n"
        "    if c['a'] == 8: raise ValueError('\\ud800')\n"
        "    print('\\ud800')\n"
        "    return ODD[c['a']]\n"
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "-n2")
    assert result.ret == 1
    assert "INTERNALERROR" not in result.stdout.str()
    records = {r["sample"]: r for r in project.records()}
    assert len(records) == 12
    # The whole number 10**5000 passes the check, and then the toy cannot measure it.
    assert {r["status"] for r in records.values()} == {"invalid", "error"}
    assert records["sum[s9]"]["answer"] == [0, 1, 2]
    assert records["sum[s11]"]["answer"] == "x" * 100000
