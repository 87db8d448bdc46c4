"""Whole sessions with --llm-proxy: agents of every kind bring a client of their own."""

from __future__ import annotations

import os
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from json_handler import JsonHandler, serving
from llm_server import KEY, reply


def adds(handler):
    """The sum of the numbers in the last message, and as many tokens as the first of them."""
    numbers = [int(word) for word in handler.asked["messages"][-1]["content"].split()]
    handler.send(200, reply(str(sum(numbers)), usage=(numbers[0], 1)))


@pytest.fixture
def chat(server, monkeypatch):
    server.usual = adds
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    return server


@pytest.fixture
def run(project, chat):
    def run(*args, agent="agent.py", more=""):
        project.write(
            s__yaml=f"benchmark: toysum\nagent: '{agent}'\nllm_proxy: true\n{more}llm:\n"
            f"  - model: tiny\n    base_url: {chat.url}\n    api_key: ${{OPENAI_API_KEY}}\n"
            "    price_input: 100\n    price_output: 200\n"
        )
        return project.pytest("s.yaml", *args)

    return run


# Any client will do. This one starts fast.
CLIENT = """
import json, os, sys, urllib.request

def _ask(numbers, url=None, key=None):
    url, key = url or os.environ["OPENAI_BASE_URL"], key or os.environ["OPENAI_API_KEY"]
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": numbers}]}
    headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
    request = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as reply:
        return int(json.load(reply)["choices"][0]["message"]["content"])

def agent(context):
    return _ask(f"{context['a']} {context['b']}")
"""
COMMAND = "\nfor line in sys.stdin:\n    print(agent(json.loads(line)), flush=True)\n"
OPENAI = """
import os
from openai import OpenAI

client = OpenAI()
print(os.environ["OPENAI_API_KEY"])

class _Agent:
    def forward(self, context):
        print(os.environ["OPENAI_API_KEY"], client.api_key)
        text = f"{context['a']} {context['b']}"
        asked = [{"role": "user", "content": text}]
        said = client.chat.completions.create(model="gpt-4o", messages=asked)
        return int(said.choices[0].message.content)

    def close(self):
        client.close()

agent = _Agent()
"""


def test_the_openai_package_is_served_and_counted_and_sees_no_real_key(project, chat, run):
    project.write(agent__py=OPENAI)
    result = run("-s")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["model proxy: agents' own clients are served by tiny"])
    assert os.environ["OPENAI_API_KEY"] == KEY
    assert "OPENAI_BASE_URL" not in os.environ
    assert {(one["key"], one["body"]["model"]) for one in chat.seen} == {(f"Bearer {KEY}", "tiny")}
    usage = {one["sample"]: one["usage"] for one in project.records()}["sum[s5]"]
    assert (usage["llm_calls"], usage["input_tokens"], usage["output_tokens"]) == (1, 5, 1)
    assert usage["cost"] == pytest.approx((5 * 100 + 1 * 200) / 1e6)
    assert KEY not in result.stdout.str()


def test_its_keys_are_hidden_in_what_is_kept(project, run):
    project.write(agent__py=OPENAI)
    assert run("--first=1").ret == 0
    (record,) = project.records()
    assert record["evidence"]["stdout"].startswith("sk-agentbench-***-")


class Endpoint(JsonHandler):
    """An agent behind HTTP."""

    def do_POST(self):
        context, found = self.body(), {}
        exec(CLIENT, found)
        url = self.headers["X-Agentbench-OpenAI-Base-URL"]
        key = self.headers["X-Agentbench-OpenAI-Api-Key"]
        self.give(200, found["_ask"](f"{context['a']} {context['b']}", url, key))


@pytest.fixture
def agents(project):
    """What to give as --agent, and the options beside it, by the kind of agent."""
    project.write(agent__py=CLIENT, command__py=CLIENT + COMMAND)
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)) as server:
        yield {
            "isolated": ("agent.py", ["--agent-isolation=process"]),
            "command": (f"cmd:{sys.executable} command.py", []),
            "endpoint": (f"http://localhost:{server.server_port}/", []),
        }


@pytest.mark.parametrize("kind", ["isolated", "command", "endpoint"])
def test_agents_elsewhere_are_credited_exactly_however_many_calls_overlap(
    project, chat, run, agents, kind
):
    agent, options = agents[kind]
    result = run("-n2", "--concurrency=3", *options, agent=agent)
    assert result.ret == 0
    assert len(chat.seen) == 12
    for record in project.records():
        usage, number = record["usage"], int(record["sample"].partition("[s")[2][:-1])
        assert (usage["llm_calls"], usage["input_tokens"]) == (1, number)
        assert "llm_calls_unattributed" not in usage


def test_calls_in_this_process_that_overlap_are_counted_once_each(project, chat, run):
    project.write(agent__py=CLIENT)
    together = threading.Barrier(3)  # of 12 calls, three at once

    def step(handler):
        together.wait(60)
        adds(handler)

    chat.usual = step
    result = run("--concurrency=3")
    assert result.ret == 0
    assert "calls of the model could not be told apart" in result.stdout.str()
    totals = {}
    for record in project.records():
        for name, count in record["usage"].items():
            totals[name] = totals.get(name, 0) + count
    assert (totals["llm_calls"], totals["input_tokens"]) == (12, sum(range(12)))
    assert totals["llm_calls_unattributed"] >= 8


CATCHING = CLIENT.replace(
    "    return _ask(",
    """    try:
        return _ask(str(context["a"]) + " " + str(context["b"]))
    except Exception as error:
        if context["a"] % 2:
            raise ValueError("no model")
        return -1
    return _ask(""",
)


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_run_stops_when_its_budget_is_spent_whatever_the_agent_makes_of_it(
    project, run, isolation
):
    project.write(agent__py=CATCHING)
    result = run(f"--agent-isolation={isolation}", more="max_tokens: 20\n")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    scores = project.scores()
    assert "the budget is spent" in scores["incomplete"]
    assert scores["samples"]["error"] == 0
    assert all(record["metrics"]["exact"]["accuracy"] == 1 for record in project.records())


def test_two_runs_of_one_session_are_served_by_their_own_models(project, chat, run):
    project.write(agent__py=OPENAI)
    run("--collect-only")  # writes the scenario
    text = (project.path / "s.yaml").read_text(encoding="utf-8")
    project.write(t__yaml=text.replace("tiny", "other"))
    assert project.pytest("s.yaml", "t.yaml", "--first=2").ret == 0
    assert [one["body"]["model"] for one in chat.seen] == ["tiny", "tiny", "other", "other"]
    assert {one["key"] for one in chat.seen} == {f"Bearer {KEY}"}


def test_without_a_model_it_is_refused_before_anything_is_asked(project):
    result = project.pytest("--benchmark=toysum", "--llm-proxy")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--llm-proxy: expected a model to serve" in result.stderr.str()


def test_an_agent_that_cannot_be_imported_leaves_the_environment_as_it_was(project, run):
    project.write(agent__py="import nothing_of_this_name\n")
    assert run().ret == pytest.ExitCode.USAGE_ERROR
    assert os.environ["OPENAI_API_KEY"] == KEY


def test_a_second_run_asks_nothing_and_replays_the_same_scores(project, chat, run):
    project.write(agent__py=CLIENT)
    assert run("--agent-isolation=process").ret == 0
    first = project.scores()["readings"]
    sent = len(chat.seen)
    assert run("--agent-isolation=process", "--llm-cache=replay").ret == 0
    assert len(chat.seen) == sent
    assert project.scores()["readings"] == first
    usage = project.records()[0]["usage"]
    assert usage["llm_cache_hits"] == 1
    assert "input_tokens" not in usage


def test_what_is_not_recorded_fails_its_sample_in_a_replay_whatever_the_agent_answers(project, run):
    project.write(agent__py=CATCHING)
    options = ("--first=2", "--llm-cache=replay", "--agent-isolation=process")
    assert run(*options).ret == pytest.ExitCode.TESTS_FAILED
    assert {record["status"] for record in project.records()} == {"error"}


def test_the_example(project, server, chat):
    server.usual = lambda handler: handler.send(200, reply("3, 1 and 99"))
    example = Path(__file__).parents[3] / "examples" / "openai_agent.py"
    project.write(
        s__yaml=f"benchmark: BehaviorModeling\nagent: {example}\nllm_proxy: true\ntext_models: none\n"
        f"llm:\n  - {{model: tiny, base_url: '{chat.url}'}}\n"
    )
    assert project.pytest_process("s.yaml", "--limit=6").ret == 0
    assert {record["usage"]["llm_calls"] for record in project.records()} == {1}
