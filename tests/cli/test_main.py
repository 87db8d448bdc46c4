"""The command ``agentbench``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_agentbench.benchmarks import registry
from pytest_agentbench.cli import main


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


@pytest.mark.parametrize("name", ["DailyMobility", "HurricaneMobility"])
def test_the_template_of_an_agent_that_lives_tick_by_tick(agentbench, name):
    template = agentbench("new-agent", name, "--ticks")
    assert template.ret == 0
    assert template.stdout.str().strip() == registry.get(name).agent_template(ticks=True).strip()
    assert f"pytest --benchmark {name} --agent" in template.stdout.str()


def test_a_benchmark_without_a_city_has_no_such_template(agentbench):
    result = agentbench("new-agent", "humob", "--ticks")
    assert result.ret == 2
    assert result.errlines == [
        "agentbench: --ticks: humob has no city to live in; its agents answer a context "
        "(`agentbench new-agent humob`)"
    ]


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


def test_ctrl_c_ends_a_command_with_one_line(capsys, monkeypatch):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "get", interrupted)
    assert main(["new-agent", "humob"]) == 130
    assert capsys.readouterr().err == "agentbench: interrupted\n"
