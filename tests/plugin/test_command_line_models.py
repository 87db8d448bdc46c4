"""--model: a first try without a scenario; with several, a run for each in one session, then their comparison."""

from __future__ import annotations

import json
import shutil

import pytest
from llm_server import reply, serving

AGENT = """
def answer(context, llm, plus=0):
    said = llm(messages=[{"role": "user", "content": f"{context['a']} {context['b']}"}])
    return int(said) + plus
"""
FREE = "meta-llama/Llama-3-8B:free"


def adds(handler):
    """A model that adds; one that is free is wrong where the first number is odd, and gives none for 3."""
    a, b = map(int, handler.asked["messages"][-1]["content"].split())
    wrong = a % 2 and handler.asked["model"] == FREE
    handler.send(200, reply(("none" if a == 3 else "-1") if wrong else str(a + b)))


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving() as server:
        server.usual = adds
        yield server


@pytest.fixture
def ours(project, server):
    """A project with an agent, and the options that ask it with models of the server."""
    project.write(llm_agent__py=AGENT)
    return ["--benchmark=toysum", "--agent=llm_agent.py", f"--base-url={server.url}"]


def models_asked(project, server):
    """The models of all requests since the last look. What they replied is forgotten, to be asked again."""
    found = [one["body"]["model"] for one in server.seen if "body" in one]
    server.seen.clear()
    shutil.rmtree(project.path / ".agentbench" / "llm-cache", ignore_errors=True)
    return found


def test_a_first_try_without_a_scenario(project, ours, server, monkeypatch):
    monkeypatch.setenv("TRY_KEY", "sk-canary-0123456789")
    result = project.pytest(*ours, "--model=small", "--api-key-env=TRY_KEY", "--agent-param=plus=1")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["agentbench: toysum (test), 12 samples, *llm_agent.py", f"  model: small at {server.url}"]
    )
    result.stdout.fnmatch_lines(["agent: llm_agent.py small"])
    assert {one["key"] for one in server.seen} == {"Bearer sk-canary-0123456789"}
    (folder,) = project.runs()
    assert folder.name.endswith("-toysum-llm_agent-small")
    scores = project.scores()
    assert scores["agent"]["models"] == ["small"]
    assert scores["readings"]["exact"]["accuracy"]["value"] == 0  # each is 1 too many
    texts = [path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()]
    assert not any("canary" in text for text in texts)
    settings = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["settings"]
    assert settings["agent_params"] == {"plus": 1}
    assert settings["llm"][0]["api_key"] == "${TRY_KEY}"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--model=m", "--api-key-env=NOT_SET"], "*NOT_SET, which is not set*"),
        (["--model=m", "--agent-param=style=x"], "*expected parameters of *answer (plus), got 'style'*"),
        (["--base-url=http://localhost:1"], "*--base-url: expected --model NAME beside it*"),
        (["--model=a", "--model=b", "--agent=builtin:half"], "*--model: expected an agent that asks*"),
        (["--model=a", "--model=b", "--resume=somewhere"], "*--resume=somewhere: expected --resume alone*"),
        (["--model=a", "toysum@c::double"], "*@c: expected one of the models that --model names (a)*"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_the_first_sample(project, server, options, told):
    project.write(llm_agent__py=AGENT)
    result = project.pytest("--benchmark=toysum", "--agent=llm_agent.py", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])
    assert not server.seen
    assert not project.runs()


def test_two_models_are_two_runs_of_one_session(project, ours, server):
    two = [*ours, "--model=gpt-4o-mini", f"--model={FREE}"]
    result = project.pytest(*two, "--gate=accuracy >= 0.9", "--junitxml=junit.xml", "-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    # One after the other, each with its gates, and at the end the comparison.
    assert models_asked(project, server) == ["gpt-4o-mini"] * 12 + [FREE] * 12
    result.stdout.fnmatch_lines(
        [
            "agentbench: toysum (test), 12 samples, toy data, llm_agent.py",
            f"  model: gpt-4o-mini at {server.url}",
            "agentbench: toysum (test), 12 samples, toy data, llm_agent.py",
            f"  model: {FREE} at {server.url}",
            "toysum@gpt-4o-mini::double*PASSED*",
            f"toysum@{FREE}::double*PASSED*",
            "toysum@gpt-4o-mini::gate*accuracy*PASSED*",
            f"toysum@{FREE}::gate*accuracy*FAILED*",
            "*= agentbench: toysum, 2 models =*",
            f"toysum (test): llm_agent.py gpt-4o-mini → llm_agent.py {FREE}",
            "compared on 12 common samples",
            "accuracy*worse",
            "all readings, and the largest changes: agentbench compare .agentbench*",
        ]
    )
    first = project.runs()  # later ones may be of the same second, and stand between them
    names = [folder.name.partition("-toysum-")[2] for folder in first]
    assert names == ["llm_agent-gpt-4o-mini", "llm_agent-meta-llama_Llama-3-8B_free"]
    assert f"toysum@{FREE}.exact.accuracy" in (project.path / "junit.xml").read_text()

    # What failed alone; and a node id, pasted back, of its model alone.
    project.pytest(*two, "--lf").assert_outcomes(failed=2)  # with its gate
    assert models_asked(project, server) == [FREE]
    pasted = project.pytest(f"toysum@{FREE}::sum[s1]", *ours[1:])
    pasted.assert_outcomes(passed=2)  # and its gate
    assert models_asked(project, server) == [FREE]
    assert project.pytest(f"toysum@{FREE}::sum[s1]", *two).ret == 0
    assert models_asked(project, server) == [FREE]
    assert project.pytest("toysum::sum[s1]", *two, "-q").ret == 0
    assert models_asked(project, server) == ["gpt-4o-mini", FREE]

    listed = project.agentbench("runs").stdout.str()
    assert "llm_agent.py gpt-4o-mini " in listed
    assert f"llm_agent.py {FREE} " in listed
    board = project.agentbench("leaderboard", *map(str, first)).stdout
    board.fnmatch_lines(
        ["llm_agent.py gpt-4o-mini*1*", "without a rank", f"llm_agent.py {FREE}*gate*"]
    )


def test_workers_a_scenario_and_a_folder_for_each(project, server):
    project.write(
        llm_agent__py=AGENT,
        scenarios___my__yaml=f"""
benchmark: toysum
agent: llm_agent.py
agent_params: {{plus: 1}}
llm: {{model: unused, base_url: "{server.url}", price_input: 1, price_output: 1}}
gates: [coverage >= 1]
""",
        scenarios___conftest__py="import pytest\n@pytest.fixture\ndef agent(agent):\n    return agent\n",
    )
    two = [
        "scenarios/my.yaml",
        "--model=a",
        f"--model={FREE}",
        "-p",
        "xdist",
        "--agent-param=plus=0",
    ]
    result = project.pytest(*two, "-n2", "--run-dir=out")
    assert result.ret == pytest.ExitCode.TESTS_FAILED  # the gate of one of them
    assert sorted(models_asked(project, server)) == ["a"] * 12 + [FREE] * 12
    folders = sorted(folder.name for folder in (project.path / "out").iterdir())
    assert folders == ["scenarios_my.yaml@a", "scenarios_my.yaml@meta-llama_Llama-3-8B_free"]
    assert project.scores(project.path / "out" / folders[0])["agent"] == {
        "name": "scenarios/conftest.py:agent around llm_agent.py",
        "digest": project.scores(project.path / "out" / folders[0])["agent"]["digest"],
        "models": ["a"],
    }
    result.stdout.fnmatch_lines(["*agentbench: scenarios/my.yaml, 2 models*", "accuracy*worse"])
    pasted = project.pytest(*two[1:], f"scenarios/my.yaml@{FREE}::sum[s1]")
    pasted.assert_outcomes(passed=2)
    assert models_asked(project, server) == [FREE]


def test_what_was_cut_short_goes_on_with_each_model(project, ours, server):
    two = [*ours, "--model=a", "--model=b"]
    project.pytest(*two)
    for folder in project.runs():  # that was an earlier session, which is whole
        manifest = folder / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"started": "2', '"started": "1'))
    models_asked(project, server)
    server.script = [adds] * 3 + [lambda handler: handler.send(400, b"{}")]
    result = project.pytest(*two, "-x")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["to go on, give the same command with --resume"])
    models_asked(project, server)
    assert project.pytest(*two, "--resume").ret == 0
    assert models_asked(project, server) == ["a"] * 9 + ["b"] * 12
    assert len(project.runs()) == 4


def test_two_models_whose_names_make_one_folder_are_refused(project, server):
    project.write(agent__py=AGENT)
    two = ["--agent=agent.py", "--model=o/m", "--model=o_m", f"--base-url={server.url}"]
    result = project.pytest("--benchmark=toysum", *two, "--run-dir=out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--run-dir: expected a folder of its own for each run, got *o_m*"]
    )
    assert not server.seen


def test_an_agent_that_asked_no_model_has_its_name_alone(project, server):
    project.write(plain__py="def answer(context):\n    return context['a'] + context['b']\n")
    for agent in ("plain.py", "builtin:half"):
        options = [f"--agent={agent}", "--model=m", f"--base-url={server.url}"]
        result = project.pytest("--benchmark=toysum", *options, "--run-dir", agent[:5])
        result.stdout.fnmatch_lines([f"agent: {agent}"])
        assert ("m was never asked: an agent gets" in result.stdout.str()) == (agent == "plain.py")
        scores = project.scores(project.path / agent[:5])
        assert scores["agent"].keys() == {"name", "digest"}
    result.stdout.no_fnmatch_line("*model: m*")  # a baseline never asks one
