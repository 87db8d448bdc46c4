"""pytest-cov measures an agent that was given as a file, by the name that the user calls it."""

from __future__ import annotations

import json

import pytest

AGENT = (
    "def agent(context):\n    if context['a'] < 0:\n        return 0\n    return context['a'] * 2\n"
)


def lines(project, name: str) -> list[int]:
    files = json.loads((project.path / "coverage.json").read_text())["files"]
    executed: list[int] = files[name]["executed_lines"]
    return executed


@pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["serial", "xdist"]
)
@pytest.mark.parametrize("named", ["my_agent", "."])
def test_an_agent_in_a_file_is_measured(project, named, workers):
    project.write(my_agent__py=AGENT)
    result = project.pytest_process(
        "--benchmark=toysum", "--agent=my_agent.py", "-p", "pytest_cov", f"--cov={named}",
        "--cov-report=json", *workers,
    )  # fmt: skip
    assert result.ret == 0
    assert "never imported" not in result.stdout.str() + result.stderr.str()
    assert lines(project, "my_agent.py") == [1, 2, 4]
