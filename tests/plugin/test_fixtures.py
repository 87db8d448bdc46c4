"""The fixtures agent and sample, and what a conftest may do with them."""

from __future__ import annotations

import threading

import pytest

from pytest_agentbench.plugin import fixtures


def test_a_conftest_may_override_the_agent(project):
    project.write(
        conftest__py="import pytest\n@pytest.fixture\ndef agent():\n    return lambda c: c['a'] + c['b']\n"
    )
    assert project.pytest("--benchmark=toysum", "-n1").ret == 0
    assert project.scores()["readings"]["exact"]["accuracy"]["value"] == 1.0
    assert project.scores()["agent"]["name"] == "conftest.py:agent"


def test_a_conftest_beside_the_user_may_override_the_agent(project, monkeypatch):
    project.write(
        pytest__ini="[pytest]\n",
        sub___conftest__py="import pytest\n@pytest.fixture\ndef agent(agent):\n    return lambda c: agent(c) + 1\n",
    )
    monkeypatch.chdir(project.path / "sub")
    assert project.pytest("--benchmark=toysum").ret == 0
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
            "*SETUP    M agent",
            "*SETUP    F sample*",
            "*toysum::sum* (fixtures used: agent, *",
            "*TEARDOWN F sample*",
        ]
    )


USES_SAMPLE = "def test_own(sample):\n    assert sample in ('a', 'b')\n"
OWN_SAMPLE = "import pytest\n@pytest.fixture\ndef sample():\n    return 'a'\n"
OWN_SAMPLES = (
    "import pytest\n@pytest.fixture(params=['a', 'b'])\ndef sample(request):\n"
    "    return request.param\n"
)
SEES = """
import pytest

@pytest.fixture(autouse=True)
def seen(request, sample):
    if "toysum" in request.node.nodeid:
        assert agent_of(sample.context) >= 0

def agent_of(context):
    return context["a"] + context["b"]
"""


@pytest.mark.parametrize(
    ("conftest", "own"),
    [(OWN_SAMPLE, 1), (OWN_SAMPLES, 2), (OWN_SAMPLES + SEES, 2)],
    ids=["plain", "parametrised", "seen by another fixture"],
)
def test_samples_are_ours_and_a_projects_own_tests_keep_theirs(project, conftest, own):
    project.write(conftest__py=conftest, test_own__py=USES_SAMPLE)
    result = project.pytest("--benchmark=toysum", "--limit=2", "test_own.py")
    result.assert_outcomes(passed=own + 3)
    assert len(project.records()) == 2
    assert project.scores()["readings"]["exact"]["accuracy"]["value"] == 1.0


def test_a_parametrised_fixture_around_the_sample_is_for_the_projects_tests(project):
    around = OWN_SAMPLES.replace("(request)", "(request, sample)")
    project.write(conftest__py=around)
    project.pytest("--benchmark=toysum", "--limit=2").assert_outcomes(passed=3)


AROUND = """
import dataclasses, pytest

@pytest.fixture
def sample({asked}):
    {get}
    return dataclasses.replace(sample, context={{"a": 1, "b": 1}})
"""


@pytest.mark.parametrize(
    ("asked", "get"),
    [("sample", "pass"), ("request", "sample = request.getfixturevalue('sample')")],
    ids=["argument", "getfixturevalue"],
)
def test_a_fixture_around_the_sample_is_used(project, asked, get):
    project.write(
        conftest__py=AROUND.format(asked=asked, get=get),
        agent__py="def agent(c):\n    return c['a'] + c['b']\n",
    )
    project.pytest("--benchmark=toysum", "--limit=2", "--agent=agent.py")
    assert [record["answer"] for record in project.records()] == [2, 2]


ASKS_REQUEST = """
import pytest

@pytest.fixture(autouse=True)
def noted(request, sample):
    yield
    with open("noted.txt", "a") as file:
        file.write(f"{request.node.name} {sorted(request.node.funcargs)}\\n")
"""


def test_an_item_is_given_no_request_that_it_did_not_ask_for(project):
    project.write(conftest__py=ASKS_REQUEST)
    project.pytest("--benchmark=toysum", "--limit=1").assert_outcomes(passed=2)
    (noted,) = (project.path / "noted.txt").read_text().splitlines()
    name = project.records()[0]["sample"]
    assert noted.startswith(f"{name} [")
    assert "request" not in noted


def test_each_thread_is_given_the_sample_of_the_item_that_it_runs():
    class Asked:
        def __init__(self, given):
            self.given = lambda: given

    both = threading.Barrier(2, timeout=60)
    given = {}

    def run(name):
        fixtures.RUNNING.asked = Asked(name)
        both.wait()  # the other one runs as well
        given[name] = fixtures.give_sample_of_run()

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert given == {"one": "one", "two": "two"}


WITHOUT_PROTOCOL = """
def pytest_runtestloop(session):
    from _pytest.runner import runtestprotocol
    for item in session.items:
        runtestprotocol(item, nextitem=None)
    return True
"""


def test_an_item_that_is_run_without_its_hook_fails_and_is_given_no_other_sample(project):
    project.write(conftest__py=WITHOUT_PROTOCOL)
    result = project.pytest("--benchmark=toysum", "--agent=builtin:right", "--limit=2")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*expected to be run by the hook pytest_runtest_protocol*"])
    assert {record["answer"] for record in project.records()} == {None}
