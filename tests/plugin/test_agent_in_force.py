"""Who will answer, by name and digest: the agent of --agent, or a fixture in a conftest of the project."""

from __future__ import annotations

import hashlib

import pytest

OWN = "import pytest\n@pytest.fixture\ndef agent():\n    return lambda c: c['a'] + c['b']\n"
AGENT = "def agent(context):\n    return context['a'] + context['b']\n"


def in_force(project, *args):
    assert project.pytest("--benchmark=toysum", "--limit=1", *args).ret == 0
    return project.scores()["agent"]


def digest(project, name):
    return hashlib.sha256((project.path / name).read_bytes()).hexdigest()


def test_the_agent_of_the_option_has_the_digest_of_its_file(project):
    project.write(agent__py=AGENT, conftest__py="agent = 'no fixture'\n")
    before = in_force(project, "--agent=agent.py")
    assert before["name"] == "agent.py"
    project.write(agent__py=AGENT + "# changed\n")
    assert in_force(project, "--agent=agent.py")["digest"] != before["digest"]


def test_a_fixture_of_a_conftest_comes_before_the_option(project):
    project.write(agent__py=AGENT, conftest__py=OWN)
    found = in_force(project, "--agent=agent.py")
    assert found == {"name": "conftest.py:agent", "digest": digest(project, "conftest.py")}


def test_a_conftest_of_another_folder_answers_nothing(project):
    project.write(other___conftest__py=OWN, other___test_x__py="def test_x(): pass\n")
    assert in_force(project, "other", "--agent=builtin:right")["name"] == "builtin:right"


@pytest.mark.parametrize("own", [False, True], ids=["alone", "beside a fixture"])
def test_a_submission_answers_whatever_a_conftest_has(project, own):
    project.write(
        given__csv="".join(f"{'sum' if n % 4 else 'double'}[s{n}],{2 * n}\n" for n in range(12))
    )
    if own:
        project.write(conftest__py=OWN)
    assert in_force(project, "--submission=given.csv")["name"] == "submission:given.csv"
