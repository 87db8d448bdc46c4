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


slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("named", "workers"),
    [
        pytest.param("my_agent", (), id="module"),
        pytest.param(".", (), id="folder", marks=slow),
        pytest.param("my_agent", ("-n2",), id="xdist", marks=slow),
    ],
)
def test_an_agent_in_a_file_is_measured(project, named, workers):
    project.write(my_agent__py=AGENT)
    result = project.pytest_process(
        "--benchmark=toysum", "--agent=my_agent.py", "-p", "pytest_cov", f"--cov={named}",
        "--cov-report=json", *workers,
    )  # fmt: skip
    assert result.ret == 0
    assert "never imported" not in result.stdout.str() + result.stderr.str()
    # Workers import the agent before pytest-cov begins to measure them: line 1 runs then.
    assert lines(project, "my_agent.py") == ([2, 4] if workers else [1, 2, 4])
