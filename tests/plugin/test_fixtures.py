"""The fixtures agent and sample, and what a conftest may do with them."""

from __future__ import annotations

import pytest


def test_a_conftest_may_override_the_agent(project):
    project.write(
        conftest__py="import pytest\n@pytest.fixture\ndef agent():\n    return lambda c: c['a'] + c['b']\n"
    )
    assert project.pytest("--benchmark=toysum", "-n1").ret == 0
    assert project.scores()["readings"]["exact"]["accuracy"]["value"] == 1.0
    assert project.scores()["agent"]["name"] == "conftest.py:agent"


def test_a_conftest_beside_the_user_may_override_the_agent(project):
    project.write(
        pytest__ini="[pytest]\n",
        sub___conftest__py="import pytest\n@pytest.fixture\ndef agent(agent):\n    return lambda c: agent(c) + 1\n",
    )
    code = (
        "import os, subprocess, sys; os.chdir('sub');"
        "sys.exit(subprocess.call([sys.executable, '-m', 'pytest', '--benchmark=toysum']))"
    )
    assert project.python("-c", code).ret == 0
    exact, lenient = (
        project.scores()["readings"][r]["accuracy"]["value"] for r in ("exact", "lenient")
    )
    assert (exact, lenient) == (0.0, 1.0)


WATCHER = """
import pytest

@pytest.fixture(autouse=True)
def watched(request, sample, agent):
    yield
    given = request.node.funcargs
    assert given["sample"].key == sample.key and given["agent"] is agent
    assert given["sample"].context == request.getfixturevalue("sample").context
    with open("watched.txt", "a") as file:
        file.write(f"{sample.key} {agent(sample.context)}\\n")
"""


@pytest.mark.parametrize("extra", [[], ["-n1"], ["--setup-show"]])
def test_fixtures_of_a_project_see_agent_and_sample_as_the_item_does(project, extra):
    project.write(conftest__py=WATCHER)
    result = project.pytest("--benchmark=toysum", "--agent=builtin:right", "--limit=2", *extra)
    result.assert_outcomes(passed=3)
    seen = (project.path / "watched.txt").read_text().splitlines()
    assert seen == [f"{record['sample']} {record['answer']}" for record in project.records()]


def test_setup_show_shows_what_feeds_a_sample(project):
    result = project.pytest("--benchmark=toysum", "--limit=1", "--setup-show")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "*SETUP    F agent",
            "*SETUP    F sample*",
            "*toysum::sum* (fixtures used: agent, *",
            "*TEARDOWN F sample*",
        ]
    )
