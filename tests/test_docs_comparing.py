"""docs/comparing.md and docs/ci.md: every command runs, every workflow is one."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page, language):
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.slow
def test_the_commands_in_comparing_run(project):
    commands = [line for block in blocks("comparing.md", "sh") for line in block.splitlines()]
    assert len(commands) == 8
    programs = {
        name: str(Path(sys.executable).with_name(name)) for name in ("pytest", "agentbench")
    }
    for command in commands:
        program, *arguments = shlex.split(command)
        result = project.run(programs.get(program, program), *arguments)
        assert result.ret == 0, command
    assert "builtin:slot-mode" in (project.path / "board.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_workflows_are_yaml_and_their_scenario_passes(project):
    scenario, github, gitlab, _ = blocks("ci.md", "yaml")
    steps = yaml.safe_load(github)["jobs"]["benchmark"]["steps"]
    (benchmark,) = [step["run"] for step in steps if step.get("name") == "Benchmark"]
    script = yaml.safe_load(gitlab)["benchmark"]["script"]
    (other,) = [line for line in script if "pytest -n" in line]
    command = shlex.split(re.sub(r"\$\{\{.*?\}\}", "", benchmark))
    assert shlex.split(other.removesuffix("$COMPARE")) == command
    project.write(ci__yaml=scenario)
    assert project.pytest(*["2" if word == "auto" else word for word in command[1:]]).ret == 0
    assert (project.path / "agent.xml").exists()
    (project.path / "run").rename(project.path / "baseline")
    (with_baseline,) = re.findall(r"'(--baseline=.*?)' \|\|", benchmark)
    assert project.pytest("--benchmark=ci.yaml", *shlex.split(with_baseline)).ret == 0
