"""The command ``agentbench``."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_agentbench.benchmarks import registry


@pytest.fixture
def agentbench(project):
    return project.agentbench


def test_list_shows_benchmarks_of_third_parties_too(agentbench):
    result = agentbench("list")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "humob: *",
            "  readings   2023, 2025 (the first is primary)",
            "  metric     dtw in km, lower is better",
            "toysum: add two numbers",
            "  baselines  builtin:right, *(default: builtin:right)",
        ]
    )


@pytest.mark.parametrize("name", ["humob", "toysum"])
def test_the_template_of_an_agent_runs(project, agentbench, name):
    template = agentbench("new-agent", name)
    assert template.ret == 0
    (project.path / "my_agent.py").write_text(template.stdout.str() + "\n")
    result = project.pytest(f"--benchmark={name}", "--agent=my_agent.py", "--limit=3")
    assert result.ret == 0
    result.assert_outcomes(passed=4)


def test_mistakes_are_one_line_on_stderr(agentbench):
    known = ", ".join(sorted({*registry.available(), "toysum"}, key=str.lower))
    result = agentbench("new-agent", "humbo")
    assert result.ret == 2
    assert result.errlines == [
        f"agentbench: expected a benchmark ({known}) or a scenario file "
        "(*.yaml), got 'humbo'; did you mean humob?"
    ]


def test_without_a_command_it_says_which_there_are(agentbench):
    result = agentbench()
    assert result.ret == 2
    assert "required: COMMAND" in result.stderr.str()


@pytest.fixture
def two_runs(project):
    """Real runs: half of the sums right, then all of them."""
    for agent in ("half", "right"):
        assert project.pytest("--benchmark=toysum", f"--agent=builtin:{agent}", "-q").ret == 0
    return project.runs()


def test_runs_saved_compared_ranked_and_reported(project, agentbench, two_runs):
    first, second = two_runs
    listed = agentbench("runs")
    assert listed.ret == 0
    listed.stdout.fnmatch_lines(
        [
            "time * benchmark  agent * headline * samples  gates  run",
            f"20* toysum * builtin:half * accuracy 0.5000 [[]0.* .. 0.*[]] * 12 *1/1  {first.name}",
            f"20* toysum * builtin:right * accuracy 1.0000 * {second.name}",
        ]
    )
    saved = agentbench("save", "main", str(first))
    assert saved.ret == 0
    shutil.rmtree(first)  # what is saved stays
    compared = agentbench("compare", "main", "last")
    assert compared.ret == 0
    compared.stdout.fnmatch_lines(
        ["before: main, builtin:half, 12 samples", "accuracy * 0.5000 * 1.0000 * +0.5000 *better"]
    )
    ranked = agentbench("leaderboard", ".agentbench")
    ranked.stdout.fnmatch_lines(
        ["toysum (test), reading exact", "builtin:right * 1 *", "builtin:half * 2 *"]
    )
    agentbench("runs").stdout.fnmatch_lines(["saved", "*", "*builtin:half * main"])
    reported = agentbench("report", "last", "-o", "again.html")
    assert reported.ret == 0
    assert "builtin:right" in (project.path / "again.html").read_text(encoding="utf-8")


def test_a_comparison_in_every_format(project, agentbench, two_runs):
    first, second = (str(run) for run in two_runs)
    found = json.loads(agentbench("compare", first, second, "--json").stdout.str())
    assert found["readings"]["exact"][0]["value"] == 0.5
    assert (
        "| accuracy | 0.5000 |" in agentbench("compare", first, second, "--markdown").stdout.str()
    )
    assert agentbench("compare", first, second, "--html", "-o", "c.html").ret == 0
    assert (project.path / "c.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    both = agentbench("compare", first, second, "--html", "--json")
    assert both.ret == 2
    lenient = agentbench("compare", first, second, "--reading=lenient").stdout.str()
    assert lenient.index("reading lenient") < lenient.index("reading exact")


def test_an_inspect_log_lands_where_inspect_looks(project, agentbench, two_runs):
    result = agentbench("export", "--format", "inspect", "last")
    assert result.ret == 0
    (path,) = (project.path / "logs").glob("20*_toysum_*.json")
    assert result.stdout.str() == f"logs/{path.name}"
    assert json.loads(path.read_text())["samples"][0]["input"] == '{"a": 0, "b": 0}'
    moved = agentbench("export", "--format=inspect", "last", "--dataset=gone.csv", "-o", "x.json")
    assert moved.ret == 0
    assert "neither contexts nor truths" in moved.stderr.str()
    assert json.loads((project.path / "x.json").read_text())["samples"][0]["target"] == ""


def test_mistakes_about_runs_say_what_to_do(project, agentbench):
    for arguments, said in [
        (["compare", "last", "last"], "so no 'last' one"),
        (["compare", "old", "new"], "old: expected the folder of a run"),
        (["save", "main"], "so no 'last' one"),
        (["runs"], "expected finished runs below it, got none"),
        (["leaderboard", "nowhere"], "nowhere: expected a folder with runs below it"),
        (["report", "nothing"], "`agentbench save NAME` makes one"),
    ]:
        result = agentbench(*arguments)
        assert (result.ret, len(result.errlines)) == (2, 1), arguments
        assert said in result.errlines[0]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_is_no_error(project, monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    command = Path(sys.executable).with_name("agentbench")
    process = subprocess.Popen(
        [str(command), "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()
