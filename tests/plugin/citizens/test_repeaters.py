"""Plugins that run a test several times: every attempt is in the log, and the last one counts."""

from __future__ import annotations

import pytest
from toy_agents import FLAKY

RETRIES = {
    "rerunfailures": ("-p", "rerunfailures", "--reruns=2"),
    "flaky": ("-p", "flaky", "--force-flaky", "--max-runs=3"),
    "pytest-retry": ("-p", "pytest-retry", "--retries=2"),
}
slow = pytest.mark.slow


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=slow)], ids=["serial", "xdist"]
)
@pytest.mark.parametrize("plugin", ["flaky", "pytest-retry"])  # rerunfailures: test_item.py
def test_of_a_sample_that_is_retried_all_attempts_are_logged_and_the_last_counts(
    project, plugin, workers
):
    project.write(agent__py=FLAKY)
    run = project.pytest_process if workers else project.pytest  # pytest-retry leaves a server
    result = run(
        "--benchmark=toysum", "--agent=agent.py", "--gate=accuracy >= 1", *RETRIES[plugin], *workers
    )
    assert result.ret == 0, result.stdout.str()
    assert project.scores()["samples"]["ok"] == 12
    assert [r["status"] for r in project.records() if r["sample"] == "sum[s3]"] == ["error", "ok"]
    assert len(project.records()) == 13


@pytest.mark.parametrize("plugin", RETRIES)
def test_a_sample_that_fails_every_time_has_failed(project, plugin):
    project.write(agent__py=FLAKY.replace("and not os.path.exists(flag)", ""))
    # pytest-rerunfailures leaves a thread behind, pytest-retry what it was told.
    run = project.pytest if plugin == "flaky" else project.pytest_process
    result = run("--benchmark=toysum", "--agent=agent.py", "--gate=accuracy >= 1", *RETRIES[plugin])
    assert result.ret == 1
    assert project.scores()["samples"]["error"] == 1
    statuses = [r["status"] for r in project.records() if r["sample"] == "sum[s3]"]
    assert statuses == ["error"] * 3
    # And the gates, which fail, are decided once.
    assert result.stdout.str().count("toysum::gate[accuracy >= 1]") == 1


PARAMETERS = """
import pytest
@pytest.fixture(autouse=True, params=["warm", "cold"])
def cache(request):
    return request.param
"""
REPEATS = {
    "pytest-repeat": ("", ("-p", "repeat", "--count=2")),
    "flake-finder": ("", ("-p", "flakefinder", "--flake-finder", "--flake-runs=2")),
    "autouse-params": (PARAMETERS, ()),
}


@pytest.mark.parametrize("plugin", REPEATS)
def test_repeats_are_attempts_of_one_question(project, plugin):
    conftest, options = REPEATS[plugin]
    project.write(agent__py=FLAKY, conftest__py=conftest)
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--gate=accuracy >= 1", *options
    )
    # The first attempt of sample 3 is a failed test; its second one counts for the gates.
    assert result.ret == 1
    result.assert_outcomes(passed=25, failed=1)
    assert len(project.records()) == 24
    assert project.scores()["samples"] == {
        "total": 12, "ok": 12, "invalid": 0, "error": 0, "timeout": 0,
    }  # fmt: skip
    assert all(gate["passed"] for gate in project.scores()["gates"])
    result.stdout.fnmatch_lines(["*24 attempts*"])


@slow
@pytest.mark.parametrize("plugin", REPEATS)
def test_repeats_in_several_processes_are_attempts_of_one_question(project, plugin):
    conftest, options = REPEATS[plugin]
    project.write(conftest__py=conftest)
    result = project.pytest("--benchmark=toysum", "--gate=accuracy >= 1", "-n2", *options)
    assert result.ret == 0
    result.assert_outcomes(passed=26)
    assert len(project.records()) == 24
    assert project.scores()["samples"]["total"] == 12


GROUPS = """
import pytest
def pytest_collection_modifyitems(items):
    for number, item in enumerate(items):
        item.add_marker(pytest.mark.xdist_group(f"group{number % 2}"))
"""


def test_groups_of_xdist_lose_no_gate(project):
    project.write(conftest__py=GROUPS)
    result = project.pytest(
        "--benchmark=toysum", "--agent=builtin:half", "--gate=accuracy >= 0.9", "-n2", "--dist=loadgroup"
    )  # fmt: skip
    assert result.ret == 1
    result.assert_outcomes(passed=13, failed=1)
    assert len(project.records()) == 12
