"""What README and docs say is what the code does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from pytest_agentbench.options import OPTIONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def options_table():
    lines = ["| option | ini key | scenario key | meaning |", "|---|---|---|---|"]
    for option in OPTIONS:
        name = option.name if option.short else f"agentbench-{option.name}"
        given = f"`--{name}`" if option.flag else f"`--{name} {option.metavar}`"
        given = given if option.command_line else ""
        ini = f"`{option.dest}`" if option.ini else ""
        key = f"`{option.key}`" if option.scenario else ""
        lines.append(f"| {given.replace('|', '&#124;')} | {ini} | {key} | {option.help} |")
    return "\n".join(lines)


def test_the_reference_lists_every_option():
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- options: .*? -->\n(.*?)\n<!-- end -->", text, re.DOTALL)
    assert table == options_table()


def test_ci_installs_and_tests_as_the_readme_says():
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    install, test = re.search(r"(pip install .*?) && (pytest .*)", blocks(README, "sh")[1]).groups()
    assert f"\n{install}\n" in run
    assert f"\n{test}\n" in run


def test_the_readmes_agent_and_gates_run(project):
    (code,) = blocks(README, "python")
    project.write(my_agent__py=code)
    commands = [line for block in blocks(README, "sh")[2:] for line in block.splitlines()]
    assert len(commands) == 2
    for command in commands:
        program, *args = shlex.split(command)
        assert program == "pytest"
        result = project.pytest(*args)
        assert result.ret == 0, command


def test_the_output_in_the_readme_is_what_comes_out(project):
    (shown, *_) = blocks(README, "text")
    summary = shown[shown.index("300 samples:") : shown.index("run: ")]
    result = project.pytest("-n", "2", "--benchmark", "humob")
    # The floor is what could be computed in the time there was.
    lines = [line for line in summary.splitlines() if not line.startswith("floor: ")]
    result.stdout.fnmatch_lines([line.replace("*", "[*]") for line in lines])


def test_every_local_link_leads_somewhere():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page.name, target)


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.yaml")), ids=lambda p: p.name)
def test_every_scenario_of_the_repository_passes(project, path):
    result = project.pytest("--benchmark", str(path), "-q")
    assert result.ret == 0


def test_the_example_in_writing_a_benchmark_runs(project):
    (code, *_) = blocks((ROOT / "docs" / "writing-a-benchmark.md").read_text(), "python")
    project.write(sumbench__py=code)
    result = project.pytest("--benchmark=sumbench:Sums")
    assert result.ret == 0
    result.assert_outcomes(passed=21)


def test_the_example_scenario_in_the_reference_passes(project):
    (text,) = blocks((ROOT / "docs" / "reference.md").read_text(), "yaml")
    project.write(s__yaml=text)
    assert project.pytest("s.yaml").ret == 0


def test_nothing_names_a_machine():
    # Paths are joined here so that this file does not match itself.
    forbidden = ["/ro" + "ot/", "/ho" + "me/", "/wo" + "rk/", "pypi" + ".org"]
    for path in ROOT.rglob("*"):
        inside = path.relative_to(ROOT).parts
        if (
            path.suffix in (".py", ".md", ".toml", ".yaml", ".txt")
            and not inside[0].startswith(".")
            and "site-packages" not in inside
        ):
            text = path.read_text(encoding="utf-8", errors="replace")
            assert not [word for word in forbidden if word in text], path
