"""What a marked test does with the agent, and what is recorded of it."""

from __future__ import annotations

import pytest

HEAD = "import pytest\n\n@pytest.mark.agentbench('toysum')\ndef test_toysum(agent, sample):\n    "


@pytest.mark.parametrize(
    ("body", "passed", "statuses"),
    [
        ("assert agent(sample.context) == sample.truth", False, {"ok": 12}),
        ("assert agent(sample.context) != sample.truth", False, {"ok": 12}),
        ("agent(sample.context); agent({'a': 1, 'b': 2})", True, {"ok": 12}),
        ("pass", False, {"error": 12}),
        ("agent(dict(sample.context))", False, {"error": 12}),
        ("pytest.skip('not today')", False, {"error": 12}),
        ("assert False, 'before it asked'", False, {"error": 12}),
    ],
)
def test_records_are_of_what_the_agent_answered(project, body, passed, statuses):
    project.write(test_mine__py=HEAD + body)
    result = project.pytest("--agentbench-agent=builtin:half")
    assert (result.ret == 0) is passed
    found = project.scores()["samples"]
    assert {status: n for status, n in found.items() if n and status != "total"} == statuses
    if statuses == {"ok": 12}:
        assert project.scores()["readings"]["exact"]["accuracy"]["value"] == 0.5


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("pass", "the test did not ask the agent: call agent(sample.context)"),
        ("assert False, 'before it asked'", "before it asked"),
        ("pytest.skip('not today')", "not today"),
    ],
)
def test_a_sample_that_was_not_asked_says_why(project, body, error):
    project.write(test_mine__py=HEAD + body)
    project.pytest("--agentbench-limit=1")
    (record,) = project.records()
    assert error in record["error"]


AGENT = """
def agent(context):
    if context["a"] == 3:
        raise RuntimeError("no idea")
    return "five" if context["a"] == 5 else context["a"] + context["b"]
"""


@pytest.mark.parametrize(
    "body", ["agent(sample.context)", "try: agent(sample.context)\n    except RuntimeError: pass"]
)
def test_an_answer_that_is_not_valid_fails_the_test_as_it_fails_a_sample(project, body):
    project.write(test_mine__py=HEAD + body, agent__py=AGENT)
    result = project.pytest("--agentbench-agent=agent.py")
    result.assert_outcomes(passed=10, failed=3)  # two samples and the gate on coverage
    result.stdout.fnmatch_lines(
        ["*RuntimeError: no idea", "*sum[[]s5]: expected a whole number, got 'five'*"]
    )
    bad = {r["sample"]: r["status"] for r in project.records() if r["status"] != "ok"}
    assert bad == {"sum[s3]": "error", "sum[s5]": "invalid"}


def test_a_conftests_own_agent_is_recorded_and_keeps_its_attributes(project):
    project.write(
        conftest__py="import pytest\nclass Own:\n    name = 'own'\n    def __call__(self, context):\n"
        "        return context['a'] + context['b']\n@pytest.fixture\ndef agent():\n    return Own()\n",
        test_mine__py=HEAD
        + "import copy\n    assert copy.copy(agent).name == agent.name == 'own'\n    agent(sample.context)",
    )
    assert project.pytest().ret == 0
    assert project.scores()["agent"]["name"] == "conftest.py:agent"
    assert project.scores()["readings"]["exact"]["accuracy"]["value"] == 1.0


# Each beside a marked test that answers all samples; the agent is not asked by any of them.
SKIPPED = """
@pytest.mark.skip("not today")
@pytest.mark.agentbench("toysum")
def test_{name}(agent, sample):
    agent(sample.context)
"""
BROKEN = """
@pytest.fixture(params=["bad", "good"] if {first} else ["good", "bad"], autouse=True)
def server(request):
    assert request.param == "good", "no server"
"""
REFUSED = """
class Test{name}:
    @pytest.fixture
    def agent(self):
        return lambda context: 0

    @pytest.mark.agentbench("toysum")
    def test_own(self, agent, sample):
        agent(sample.context)
"""


@pytest.mark.parametrize(
    "file",
    [
        HEAD + "agent(sample.context)\n" + SKIPPED.format(name="z"),
        "import pytest\n" + SKIPPED.format(name="a") + HEAD + "agent(sample.context)\n",
        HEAD + "agent(sample.context)\n" + BROKEN.format(first=False),
        HEAD + "agent(sample.context)\n" + BROKEN.format(first=True),
        HEAD + "agent(sample.context)\n" + REFUSED.format(name="Z"),
    ],
    ids=["skipped last", "skipped first", "setup fails last", "setup fails first", "refused"],
)
def test_a_test_that_did_not_ask_is_no_attempt(project, file):
    project.write(test_mine__py=file)
    result = project.pytest("--agentbench-limit=3")
    result.stdout.fnmatch_lines(["3 samples: 3 ok*"])
    assert "more than once" not in result.stdout.str()


def test_workers_agree_on_what_is_no_attempt(project):
    project.write(
        test_a__py="import pytest\n" + SKIPPED.format(name="a"),
        test_b__py=HEAD + "agent(sample.context)\n" + REFUSED.format(name="Z"),
        test_c__py="import pytest\n" + REFUSED.format(name="C"),
        test_d__py=HEAD
        + "agent(sample.context)\n"
        + BROKEN.format(first=True).replace('["bad", "good"]', '["bad"]'),
    )
    result = project.pytest("--agentbench-limit=3", "-n2")
    result.stdout.fnmatch_lines(["3 samples: 3 ok*"])
    assert "more than once" not in result.stdout.str()


def test_samples_that_no_test_asks_are_errors(project):
    project.write(
        test_mine__py="import pytest\n" + SKIPPED.format(name="a") + SKIPPED.format(name="b")
    )
    result = project.pytest("--agentbench-limit=3")
    result.stdout.fnmatch_lines(["3 samples: 0 ok, 3 error*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [record["status"] for record in project.records()] == ["error"] * 3


@pytest.mark.skipif(not hasattr(pytest, "Subtests"), reason="subtests are built in since pytest 9")
def test_subtests_are_parts_of_the_test_and_no_attempts(project):
    body = (
        "given = agent(sample.context)\n    for n in range(3):\n"
        "        with subtests.test(n=n):\n            assert n < 2 and given == sample.truth\n"
    )
    head = HEAD.replace("sample)", "sample, subtests)")
    before = head.replace("test_toysum", "test_early") + (
        "with subtests.test(early=True):\n        pass\n    agent(sample.context)\n"
    )
    project.write(test_mine__py=head + body + before)
    result = project.pytest("--agentbench-limit=2", "--agentbench-agent=builtin:right")
    result.stdout.fnmatch_lines(
        ["2 samples: 2 ok*", "2 samples were asked more than once, 4 attempts in all*"]
    )
    assert [record["status"] for record in project.records()] == ["ok"] * 4


def test_a_fixture_that_asks_is_told_that_the_test_must(project):
    fixture = "\n@pytest.fixture\ndef answer(agent, sample):\n    return agent(sample.context)\n"
    head = HEAD.replace("agent, sample)", "agent, sample, answer)")
    project.write(test_mine__py=head + "assert answer is not None\n" + fixture)
    project.pytest("--agentbench-limit=1")
    (record,) = project.records()
    assert "in the test function itself; what a fixture asks is not recorded" in record["error"]
