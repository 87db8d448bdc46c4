"""Sessions beside plugins that are at work whether samples want it or not."""

from __future__ import annotations

import lean
import pytest


@pytest.mark.parametrize("option", ["--benchmark-skip", "--benchmark-disable"])
def test_pytest_benchmark_leaves_samples_alone(project, option):
    result = project.pytest("--benchmark=toysum", "-p", "benchmark", option)
    assert result.ret == 0
    result.assert_outcomes(passed=13)


def test_samples_that_pytest_benchmark_skips_are_no_errors_and_gates_are_not_decided(project):
    result = project.pytest(
        "--benchmark=toysum", "-p", "benchmark", "--benchmark-only", "--gate=accuracy >= 0.1"
    )
    assert result.ret == 1
    result.assert_outcomes(skipped=12, failed=1)
    result.stdout.fnmatch_lines(["FAILED toysum::gate[[]accuracy >= 0.1] - *not decided*"])
    assert "12 error" not in result.stdout.str()


SHUFFLED = """
import random, pytest
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    random.Random(7).shuffle(items)
def pytest_runtest_setup(item):
    random.seed(7)
"""


def test_shuffled_samples_are_scored_like_others(project):
    """What pytest-randomly and pytest-random-order do."""
    project.write(conftest__py=SHUFFLED)
    result = project.pytest("--benchmark=toysum", "--agent=builtin:half", "--gate=accuracy >= 0.5")
    assert result.ret == 0
    order = [record["sample"] for record in project.records()]
    assert order != sorted(order, key=lambda name: (len(name), name))
    assert project.scores()["readings"]["exact"]["accuracy"]["value"] == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "xdist"])
def test_beside_all_of_them_at_once(project, workers):
    names = [f"-p {word.removeprefix('no:')}" for word in lean.OPTIONS.split() if word[:3] == "no:"]
    project.write(test_own__py="def test_own():\n    pass\n")
    result = project.pytest_process(
        "--benchmark=toysum", "--agent=builtin:half", "test_own.py", "--gate=accuracy >= 0.9",
        *" ".join(names).split(), *workers,
    )  # fmt: skip
    assert result.ret == 1
    result.assert_outcomes(passed=14, failed=1)
    assert [record["status"] for record in project.records()] == ["ok"] * 12


# What pytest-forked does, which fails with pytest 9 for every test: reports come back from a child as builtins.
FORKED = """
import json, os
from _pytest.runner import runtestprotocol
def pytest_runtest_protocol(item, nextitem):
    config, hook = item.config, item.config.hook
    read, write = os.pipe()
    if os.fork() == 0:
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        told = [hook.pytest_report_to_serializable(config=config, report=report) for report in reports]
        os.write(write, json.dumps(told).encode())
        os._exit(0)
    os.close(write)
    os.wait()
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for data in json.loads(open(read, "rb").read()):
        report = hook.pytest_report_from_serializable(config=config, data=data)
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
"""


def test_records_come_back_from_a_child_that_ran_the_test(project):
    project.write(conftest__py=FORKED)
    result = project.pytest_process("--benchmark=toysum", "--agent=builtin:half")
    assert result.ret == 0
    assert [record["status"] for record in project.records()] == ["ok"] * 12
    assert project.scores()["readings"]["exact"]["accuracy"]["value"] == 0.5
