"""Who will answer, by name and digest: an agent that somebody named, or the fixture that pytest gives."""

from __future__ import annotations

import hashlib

import pytest

OWN = "import pytest\n@pytest.fixture\ndef agent():\n    return lambda c: c['a'] + c['b']\n"
ROBOT = (
    "import pytest\n@pytest.fixture(scope='session')\ndef agent():\n    return lambda c: 'beep'\n"
)
WRAPPER = "import pytest\n@pytest.fixture\ndef agent(agent):\n    return lambda c: agent(c) + 0\n"
AGENT = "def agent(context):\n    return context['a'] + context['b']\n"
PLUS_ONE = "def agent(context):\n    return context['a'] + context['b'] + 1\n"
USES_ROBOT = "def test_robot(agent):\n    assert agent(0) == 'beep'\n"


def in_force(project, *args):
    result = project.pytest("--benchmark=toysum", "--limit=1", *args)
    assert result.ret == 0
    found = project.scores()["agent"]
    assert f"toysum (test), 1 of 12 samples, toy data, {found['name']}" in result.stdout.str()
    return found


def digest(project, *names):
    found = [hashlib.sha256((project.path / name).read_bytes()).hexdigest() for name in names]
    return found[0] if len(found) == 1 else hashlib.sha256(" ".join(found).encode()).hexdigest()


def accuracy(project):
    return project.scores()["readings"]["exact"]["accuracy"]["value"]


def test_the_agent_of_the_option_has_the_digest_of_its_file(project):
    project.write(agent__py=AGENT, conftest__py="agent = 'no fixture'\n")
    before = in_force(project, "--agent=agent.py")
    assert before["name"] == "agent.py"
    project.write(agent__py=AGENT + "# changed\n")
    assert in_force(project, "--agent=agent.py")["digest"] != before["digest"]


@pytest.mark.parametrize("more", [[], ["-n2"], ["--setup-show"], ["--concurrency=2"]], ids=str)
def test_an_agent_that_is_named_answers_whatever_a_conftest_calls_agent(project, more):
    project.write(my_agent__py=AGENT, conftest__py=ROBOT, test_mine__py=USES_ROBOT)
    result = project.pytest("--benchmark=toysum", "--agent=my_agent.py", "test_mine.py", *more)
    result.assert_outcomes(passed=14)
    assert (project.scores()["agent"]["name"], accuracy(project)) == ("my_agent.py", 1.0)
    note = "note: the agent my_agent.py answers, not the fixture `agent` of conftest.py"
    assert result.outlines.count(note) == 1


@pytest.mark.parametrize("place", ["ini", "scenario", "asbench"])
def test_it_may_be_named_anywhere(project, place):
    named = {
        "ini": {"pytest__ini": "[pytest]\nagentbench_agent = my_agent.py\n"},
        "scenario": {"s__yaml": "benchmark: toysum\nagent: my_agent.py\n"},
        "asbench": {"s__yaml": "benchmark: toysum\nagent: agent.yml\n"},
    }
    project.write(
        my_agent__py=AGENT, agent__yml="agent_class: my_agent:agent\n", conftest__py=ROBOT
    )
    project.write(**named[place])
    given = ["--benchmark=toysum"] if place == "ini" else ["s.yaml"]
    assert project.pytest(*given, "--limit=1").ret == 0
    assert project.scores()["agent"]["name"].startswith("my_agent")
    assert accuracy(project) == 1.0


@pytest.mark.parametrize("more", [[], ["-n2"]], ids=str)
def test_a_fixture_around_the_agent_is_used_and_both_are_credited(project, more):
    wrapper = WRAPPER.replace("+ 0", "- 1")
    project.write(my_agent__py=PLUS_ONE, conftest__py=wrapper)
    found = in_force(project, "--agent=my_agent.py", *more)
    assert found["name"] == "conftest.py:agent around my_agent.py"
    assert found["digest"] == digest(project, "conftest.py", "my_agent.py")
    assert accuracy(project) == 1.0
    project.write(my_agent__py=AGENT)
    assert in_force(project, "--agent=my_agent.py")["digest"] != found["digest"]
    assert in_force(project)["name"] == "conftest.py:agent around builtin:right"


def test_a_fixture_around_another_fixture_is_not_around_the_agent(project, monkeypatch):
    project.write(pytest__ini="[pytest]\n", my_agent__py=AGENT)
    project.write(conftest__py=OWN, sub___conftest__py=WRAPPER)
    monkeypatch.chdir(project.path / "sub")
    found = in_force(project)
    assert found["name"] == "sub/conftest.py:agent around conftest.py:agent"
    assert found["digest"] == digest(project, "sub/conftest.py", "conftest.py")
    assert in_force(project, "--agent=../my_agent.py")["name"] == "../my_agent.py"


NAMED = "import pytest\n@pytest.fixture(name='agent')\ndef adder():\n    return lambda c: c['a'] + c['b']\n"
INSTANCE = """
import pytest

class Adder:
    @pytest.fixture
    def agent(self):
        return self.add

    def add(self, context):
        return context["a"] + context["b"]

    @property
    def broken(self):
        raise RuntimeError("nobody may look")

def pytest_addoption(pluginmanager):
    pluginmanager.register(Adder())
"""


@pytest.mark.parametrize(
    ("files", "name", "sources"),
    [
        ({"conftest__py": OWN}, "conftest.py:agent", ["conftest.py"]),
        ({"conftest__py": NAMED}, "conftest.py:agent", ["conftest.py"]),
        (
            {"conftest__py": "from adders import agent\n", "adders__py": OWN},
            "conftest.py:agent",
            ["conftest.py", "adders.py"],
        ),
        (
            {"conftest__py": "pytest_plugins = ['adders']\n", "adders__py": OWN},
            "plugin adders:agent",
            ["adders.py"],
        ),
        (
            {"conftest__py": "pytest_plugins = ['adders']\n", "adders__py": NAMED},
            "plugin adders:agent",
            ["adders.py"],
        ),
        ({"conftest__py": INSTANCE}, "plugin Adder:agent", ["conftest.py"]),
    ],
)
@pytest.mark.parametrize("default", ["builtin:right", "builtin:wrong"])
def test_where_no_agent_is_named_the_fixture_that_answers_is_credited(
    project, files, name, sources, default
):
    project.write(**files)
    if default == "builtin:wrong":  # one that is named is credited, and answers
        assert in_force(project, f"--agent={default}")["name"] == default
        assert accuracy(project) == 0.0
        return
    assert in_force(project) == {"name": name, "digest": digest(project, *sources)}
    assert accuracy(project) == 1.0
    manifest = (project.runs()[-1] / "manifest.json").read_text()
    assert f'"name": "{name}"' in manifest


def test_of_a_plugin_that_comes_before_ours_nothing_is_asked(project, monkeypatch):
    """pytest gives the fixture of the plugin that was registered last: -p comes first."""
    project.write(adders__py=ROBOT)
    monkeypatch.syspath_prepend(str(project.path))
    assert in_force(project, "-p", "adders")["name"] == "builtin:right"
    assert accuracy(project) == 1.0
    note = "note: the agent builtin:right answers, not the fixture `agent` of plugin adders, which was loaded before us"
    for conftest in ("", WRAPPER):
        project.write(conftest__py=conftest)
        shown = project.pytest("--benchmark=toysum", "-p", "adders", "--limit=1")
        assert shown.stdout.str().count(note) == 1
    named = project.pytest("--benchmark=toysum", "-p", "adders", "--agent=builtin:half")
    assert "note:" not in named.stdout.str()


def test_a_plugin_of_the_environment_is_credited(project, monkeypatch):
    project.write(adders__py=OWN)
    monkeypatch.setenv("PYTEST_PLUGINS", "adders")
    monkeypatch.syspath_prepend(str(project.path))
    assert in_force(project)["name"] == "plugin adders:agent"


def test_a_conftest_of_another_folder_answers_nothing(project):
    project.write(other___conftest__py=OWN, other___test_x__py="def test_x(): pass\n")
    assert in_force(project, "other")["name"] == "builtin:right"


def test_the_conftest_beside_a_scenario_file_answers(project):
    project.write(s___x__yaml="benchmark: toysum\nlimit: 1\n", s___conftest__py=OWN)
    assert project.pytest("s/x.yaml").ret == 0
    assert project.scores()["agent"]["name"] == "s/conftest.py:agent"
    assert project.pytest("--benchmark=s/x.yaml").ret == 0
    assert project.scores()["agent"]["name"] == "builtin:right"


def test_the_conftest_where_pytest_was_started_answers_also_beside_tests_there(
    project, monkeypatch
):
    project.write(
        pytest__ini="[pytest]\n", sub___conftest__py=ROBOT, sub___test_mine__py=USES_ROBOT
    )
    monkeypatch.chdir(project.path / "sub")
    result = project.pytest("--benchmark=toysum", "--limit=1", ".")
    result.assert_outcomes(passed=1, failed=2)  # "beep" is no sum
    assert project.scores()["agent"]["name"] == "sub/conftest.py:agent"
    assert project.records()[0]["answer"] == "beep"


def test_also_beside_tests_of_another_folder(project, monkeypatch):
    """pytest would load it only when it collects: too late for the manifest."""
    project.write(pytest__ini="[pytest]\n", sub___conftest__py=OWN)
    # No other test's name: modules outside the folder of the command outlive it in this process.
    project.write(other___test_beside_samples__py="def test_x():\n    pass\n")
    monkeypatch.chdir(project.path / "sub")
    assert in_force(project, "../other")["name"] == "sub/conftest.py:agent"
    assert accuracy(project) == 1.0
    (project.path / "sub" / "conftest.py").write_text("1 / 0\n")
    broken = project.pytest("--benchmark=toysum", "--limit=1", "../other")
    assert broken.ret != 0
    assert "ZeroDivisionError" in broken.stdout.str()


@pytest.mark.parametrize("own", [False, True], ids=["alone", "beside a fixture"])
def test_a_submission_answers_whatever_a_conftest_has(project, own):
    project.write(
        given__csv="".join(f"{'sum' if n % 4 else 'double'}[s{n}],{2 * n}\n" for n in range(12))
    )
    if own:
        project.write(conftest__py=OWN)
    assert in_force(project, "--submission=given.csv")["name"] == "submission:given.csv"


PARAMETER = "import pytest\ndef pytest_generate_tests(metafunc):\n    metafunc.parametrize('agent', [len], ids=[pytest.HIDDEN_PARAM])\n"
LATE = """
import pytest

class Late:
    @pytest.fixture
    def agent(self):
        return len

def pytest_configure(config):
    config.pluginmanager.register(Late())
"""
REPLACED = "import pytest\n@pytest.fixture(autouse=True)\ndef put(request, agent):\n    request.node.funcargs['agent'] = len\n"


@pytest.mark.parametrize(
    ("conftest", "got"),
    [
        (LATE, "the fixture `agent` of conftest.py, line 5"),
        (PARAMETER, "a parameter `agent`, set by "),
        (REPLACED, "an object of type builtin_function_or_method that a hook"),
    ],
    ids=["registered late", "parameter", "replaced"],
)
def test_an_agent_that_is_not_credited_is_not_asked(project, conftest, got):
    project.write(conftest__py=conftest)
    project.pytest("--benchmark=toysum", "--limit=2").assert_outcomes(passed=0, failed=3)
    said = f"expected the agent builtin:right, which is credited with the answers, got {got}"
    records = project.records()
    assert [(said in record["error"], record["answer"]) for record in records] == [(True, None)] * 2


def test_nor_is_ours_where_a_fixture_is_credited(project):
    project.write(conftest__py=OWN + PARAMETER.replace("[len]", "[lambda c: c['a'] + c['b']]"))
    project.pytest("--benchmark=toysum", "--limit=2").assert_outcomes(passed=0, failed=3)
    assert "expected the agent conftest.py:agent, which is" in project.records()[0]["error"]


def test_a_conftest_comes_before_a_plugin_that_is_registered_late(project):
    project.write(conftest__py=OWN + LATE)
    assert in_force(project)["name"] == "conftest.py:agent"


MARKED = "import pytest\n\n@pytest.mark.agentbench('toysum')\ndef test_marked(agent, sample):\n    agent(sample.context)\n"
FEW = "--agentbench-limit=2"


@pytest.mark.parametrize(
    ("files", "name", "more"),
    [
        ({"tests___test_m__py": MARKED}, "builtin:right", []),
        (
            {"tests___test_m__py": MARKED, "tests___conftest__py": OWN},
            "tests/conftest.py:agent",
            [],
        ),
        ({"tests___test_m__py": OWN + MARKED}, "tests/test_m.py:agent", []),
        ({"tests___test_m__py": OWN + MARKED}, "tests/test_m.py:agent", ["-n2"]),
        (
            {"tests___test_m__py": MARKED, "tests___conftest__py": WRAPPER},
            "tests/conftest.py:agent around builtin:right",
            [],
        ),
    ],
)
def test_what_answers_marked_tests_is_credited(project, files, name, more):
    project.write(pytest__ini="[pytest]\n", **files)
    project.pytest(FEW, *more).assert_outcomes(passed=3)
    assert project.scores()["agent"]["name"] == name
    if name.endswith(":agent"):
        assert project.scores()["agent"]["digest"] == digest(project, name.partition(":")[0])


def test_a_marked_test_that_is_given_another_agent_than_the_one_named_is_not_asked(project):
    project.write(test_m__py=MARKED, conftest__py=OWN)
    project.pytest(FEW, "--agentbench-agent=builtin:half").assert_outcomes(failed=3)
    said = "expected the agent builtin:half, which is credited with the answers, got the fixture"
    assert [record["answer"] for record in project.records()] == [None, None]
    assert all(said in record["error"] for record in project.records())


def test_nor_is_one_beside_samples_that_another_agent_answers(project):
    project.write(
        pytest__ini="[pytest]\n", tests___test_beside__py=MARKED, tests___conftest__py=OWN
    )
    result = project.pytest("--benchmark=toysum", "tests", "--limit=2")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(
        "*expected the agent builtin:right, which is credited with the answers, got the fixture "
        "`agent` of tests/conftest.py, line 2; the sample was not asked: one run measures one agent: "
        "run this test by itself, with no --benchmark beside it and no agent named, or *"
    )
    assert "a fixture `agent` of a conftest.py" not in result.stdout.str()
    project.pytest("tests", FEW).assert_outcomes(passed=3)


BOTH = "import pytest\n@pytest.fixture(params=[1, 2])\ndef agent(request):\n    return lambda c: c['a'] + c['b'] + request.param - 1\n"
MODELS = "import pytest\n@pytest.fixture(params=[1, 2])\ndef model(request):\n    return request.param\n@pytest.fixture\ndef agent(model):\n    return lambda c: c['a'] + c['b'] + model - 1\n"
HOOK = "import pytest\ndef pytest_generate_tests(metafunc):\n    metafunc.parametrize('agent', [1, 2], indirect=True)\n@pytest.fixture\ndef agent(request):\n    return lambda c: c['a'] + c['b'] + request.param - 1\n"
MARKED_BOTH = MARKED.replace(
    "\ndef", "\n@pytest.mark.parametrize('agent', [1, 2], indirect=True)\ndef"
)
SEVERAL = "expected one agent, which the run measures, got one of several: the fixture `{}` has several parameters; the sample was not asked: run each agent by itself, with --agent"


@pytest.mark.parametrize(
    ("files", "args", "fixture"),
    [
        ({"conftest__py": BOTH}, ["--benchmark=toysum"], "agent"),
        ({"conftest__py": BOTH}, ["toysum::sum[1-s1]", "toysum::sum[1-s2]"], "agent"),
        ({"conftest__py": MODELS}, ["--benchmark=toysum"], "model"),
        ({"conftest__py": OWN, "test_m__py": MARKED_BOTH}, [], "agent"),
    ],
    ids=["params", "pasted", "of another fixture", "marked"],
)
def test_several_agents_are_not_measured_as_one(project, files, args, fixture):
    project.write(**files)
    result = project.pytest("--agentbench-limit=2", *args)
    assert result.ret == 1
    records = project.records()
    assert {(SEVERAL.format(fixture) in one["error"], one["answer"]) for one in records} == {
        (True, None)
    }


def test_of_several_agents_that_a_hook_gives_only_one_is_asked(project):
    project.write(conftest__py=HOOK)
    result = project.pytest("--benchmark=toysum", "--limit=2")
    result.assert_outcomes(passed=3, failed=2)
    assert SEVERAL.format("agent") in result.stdout.str()
    assert len({one["sample"] for one in project.records()}) == len(project.records()) == 2


@pytest.mark.parametrize("files", [
    {"conftest__py": BOTH.replace("[1, 2]", "[1]")},
    {"conftest__py": BOTH, "test_m__py": MARKED_BOTH.replace("[1, 2]", "[1]")},
], ids=["fixture", "mark"])  # fmt: skip
def test_a_single_parameter_is_one_agent(project, files):
    project.write(**files)
    args = [] if "test_m__py" in files else ["--benchmark=toysum"]
    project.pytest(FEW, *args).assert_outcomes(passed=3)
    assert accuracy(project) == 1.0


GETS = "import pytest\n@pytest.fixture\ndef agent(request):\n    inner = request.getfixturevalue('agent')\n    return lambda c: inner(c) - 1\n"


def test_a_wrapper_may_ask_for_the_agent_while_it_runs(project):
    project.write(conftest__py=GETS, my_agent__py=PLUS_ONE)
    assert in_force(project, "--agent=my_agent.py")["name"] == (
        "conftest.py:agent around my_agent.py"
    )
    assert accuracy(project) == 1.0
    other = GETS.replace("'agent')", "'tmp_path')\n    {'agent': inner}").replace("inner(c)", "0")
    project.write(conftest__py=other)
    assert in_force(project, "--agent=my_agent.py")["name"] == "my_agent.py"
