"""Plugins that choose what to run next: a failed gate is nothing to run again, a sample is never left out."""

from __future__ import annotations

import json

import pytest

HALF = (
    "def agent(context):\n    return context['a'] + context['b'] if context['a'] % 2 == 0 else -1\n"
)


@pytest.mark.parametrize("option", ["--lf", "--ff", "--sw", "--nf"])
def test_after_a_failed_gate_all_samples_run_again(project, option):
    project.write(agent__py=HALF)
    run = ("--benchmark=toysum", "--agent=agent.py", "--gate=accuracy >= 0.9", option)
    for _ in range(2):
        result = project.pytest(*run)
        assert result.ret == 1
        result.assert_outcomes(passed=13, failed=1)
        assert "known failures" not in result.stdout.str()
        assert "stopping" not in result.stdout.str()
        assert "previously failed test" not in result.stdout.str().replace("no previously", "")
    kept = project.path / ".pytest_cache" / "v" / "cache"
    for name in ("lastfailed", "nodeids", "stepwise"):
        if (kept / name).exists():
            assert "gate[" not in json.dumps(json.loads((kept / name).read_text()))


def test_a_failed_sample_is_what_lf_runs_again(project):
    agent = "def agent(context):\n    return 'x' if context['a'] == 5 else 0\n"
    project.write(agent__py=agent)
    run = ("--benchmark=toysum", "--agent=agent.py", "--gate=accuracy >= 0.9", "--lf")
    project.pytest(*run).assert_outcomes(passed=11, failed=3)
    again = project.pytest(*run)
    again.assert_outcomes(failed=3)  # its two gates are decided on this sample


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["serial", "xdist"]
)
def test_testmon_leaves_out_tests_and_no_samples(project, workers):
    """A score is of all samples, also where no change of the agent touches them."""
    project.write(
        agent__py=HALF,
        own__py="def double(x):\n    return 2 * x\n",
        test_own__py="import own\ndef test_double():\n    assert own.double(2) == 4\n",
    )
    run = ("--benchmark=toysum", "--agent=agent.py", "--gate=accuracy >= 0.5", "test_own.py")
    run = (*run, "-p", "pytest-testmon", "--testmon", *workers)
    first = project.pytest_process(*run)
    assert first.ret == 0
    first.assert_outcomes(passed=15)
    second = project.pytest_process(*run)
    assert second.ret == 0
    second.assert_outcomes(passed=14, deselected=0 if workers else 1)
    assert all(project.scores(run)["samples"]["ok"] == 12 for run in project.runs())
