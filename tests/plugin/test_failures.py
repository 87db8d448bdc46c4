"""A run whose first samples all fail alike is stopped; failures alike are shown once, with a count."""

from __future__ import annotations

import json

import pytest

FAILS = """
def agent(context):
    with open("asked", "a") as file:
        file.write("x\\n")
    raise RuntimeError(f"no idea about {context['a']}")
"""
STOPPED = "the first 4 samples failed in the same way: RuntimeError: no idea about "


def asked(project):
    return (project.path / "asked").read_text().count("\n")


@pytest.mark.parametrize(
    ("extra", "most"),
    [([], 4), (["--chunk=9"], 4), (["--concurrency=2"], 6), (["-n2"], 11), (["-n2", "--concurrency=2"], 12)],
    ids=str,
)  # fmt: skip
def test_a_run_whose_first_samples_fail_alike_is_stopped_and_kept(project, extra, most):
    project.write(agent__py=FAILS)
    common = ["--benchmark=toysum", "--agent=agent.py", "--max-identical-errors=4", *extra]
    result = project.pytest(*common, "--run-dir=out")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert [line for line in result.outlines if line.startswith("!")] != []
    assert STOPPED in result.stdout.str()
    assert 4 <= asked(project) <= most
    folder = project.path / "out"
    assert STOPPED in project.scores(folder)["incomplete"]
    assert 4 <= len(project.records(folder)) <= asked(project)
    assert f"--resume={folder.name}" in result.stdout.str()
    if extra:
        return
    on = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--max-identical-errors=0", "--resume=out"
    )
    assert on.ret == pytest.ExitCode.TESTS_FAILED
    assert len({record["sample"] for record in project.records(folder)}) == 12


@pytest.mark.parametrize(
    "extra",
    [["--max-identical-errors=12"], ["--max-identical-errors=0"], ["-k", "s1", "--max-identical-errors=4"]],
    ids=str,
)  # fmt: skip
def test_a_short_run_just_fails_and_zero_never_stops(project, extra):
    project.write(agent__py=FAILS)
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", *extra)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert asked(project) == (3 if "-k" in extra else 12)
    assert "failed in the same way: RuntimeError" not in result.stdout.str()


def test_invalid_answers_alike_stop_it_too_and_a_valid_one_never(project):
    project.write(
        invalid__py="def agent(context):\n    return f'about {context}'\n",
        half__py="def agent(context):\n    return context['a'] * 2 if context['a'] == 8 else 'x'\n",
    )
    common = ["--benchmark=toysum", "--max-identical-errors=4"]
    stopped = project.pytest(*common, "--agent=invalid.py")
    assert stopped.ret == pytest.ExitCode.INTERRUPTED
    assert "samples failed in the same way: expected a whole number" in stopped.stdout.str()
    assert project.pytest(*common, "--agent=half.py").ret == pytest.ExitCode.TESTS_FAILED


SEES = """
def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"others see {len(terminalreporter.stats['failed'])} failures")
"""


def test_failures_alike_are_shown_once_with_a_count_and_reported_all(project):
    project.write(
        agent__py="def agent(context):\n"
        "    if context['a'] == 5: raise KeyError('other')\n"
        "    if context['a'] % 2: raise RuntimeError(f\"no idea about {context['a']}\")\n"
        "    return context['a'] + context['b']\n",
        conftest__py=SEES,
    )
    common = ["--benchmark=toysum", "--agent=agent.py"]
    result = project.pytest(
        *common, "--junitxml=out.xml", "-p", "pytest_reportlog", "--report-log=log"
    )
    result.assert_outcomes(passed=6, failed=7)  # and the gate
    text = result.stdout.str()
    shown = [line for line in result.outlines if line.startswith("FAILED")]
    assert len(shown) == 3
    assert text.count("E       RuntimeError: no idea about") == 1
    result.stdout.fnmatch_lines(
        [
            "*- and 4 more failed in the same way -*",
            "sum[[]s3], sum[[]s7], sum[[]s9] …",
            "others see 7 failures",
            "FAILED toysum::sum[[]s1] - RuntimeError: no idea about 1",
            "… and 4 more failed in the same way as toysum::sum[[]s1]",
        ]
    )
    assert (project.path / "out.xml").read_text().count("<failure") == 7
    logged = map(json.loads, (project.path / "log").read_text().splitlines())
    failed = [one for one in logged if one.get("outcome") == "failed"]
    assert len(failed) == 7
    assert not any("more failed" in str(one["sections"]) for one in failed)
    whole = project.pytest(*common, "-vv")
    assert whole.stdout.str().count("E       RuntimeError: no idea about") == 5
    again = project.pytest(*common, "--lf")
    again.assert_outcomes(failed=7)
