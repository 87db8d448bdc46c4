"""Record and replay in whole runs: serial, ahead, in several processes, isolated, resumed."""

from __future__ import annotations

import json
import sys

import pytest
from llm_server import KEY, text

ASKING = """
async def agent(context, llm):
    a, b = context['a'], context['b']
    first = await llm.atext_request(f"{a} {b}")
    second = await llm.atext_request(f"{a} {b}")  # the same once more
    return int(first) if first == second else None
"""
CATCHING = """
def agent(context, llm):
    try:
        return int(llm.text_request(f"{context['a']} {context['b']}\\nQUESTION", temperature=0.5))
    except Exception:
        return context['a'] + context['b']
"""


@pytest.fixture
def chat(server, monkeypatch):
    """Adds what it is asked to add; ``server.seen`` has what was sent."""
    monkeypatch.setenv("CHAT_KEY", KEY)

    def answer(handler):
        words = handler.asked["messages"][-1]["content"].split()
        text(str(sum(int(word) for word in words if word.isdigit())))(handler)

    server.usual = answer
    return server


@pytest.fixture
def run(project, chat):
    """Runs with some options: how many requests were sent, and the outcome."""

    def run(*options, url=chat.url):
        project.write(
            s__yaml=f"benchmark: toysum\nagent: agent.py\nllm:\n  - model: tiny\n    base_url: {url}\n"
            "    api_key: ${CHAT_KEY}\n    price_input: 100\n    price_output: 200\n"
        )
        chat.seen.clear()
        result = project.pytest("s.yaml", *options)
        return len(chat.seen), result

    return run


def measured(project):
    """What the run came to, without what its calls cost and took."""
    return project.scores()["readings"]


def test_a_second_run_sends_nothing_however_it_is_run(project, chat, run, monkeypatch):
    project.write(agent__py=ASKING)
    assert run("--epochs=2", "--concurrency=8")[0] == 48
    first = measured(project)
    records = {(r["sample"], r["epoch"]): r for r in project.records()}
    used = records["sum[s5]", 2]
    assert used["usage"]["llm_calls"] == 2
    assert len(used["evidence"]["llm_seconds"]) == 2
    nobody = "http://127.0.0.1:1/v1"
    ways = [("--concurrency=8",), (), ("-n2",), ("--llm-cache=replay",)]
    if sys.platform != "win32":
        ways.append(("--agent-isolation=process",))
    for options in ways:
        sent, result = run("--epochs=2", *options, url=nobody)
        assert (sent, result.ret) == (0, 0), options
        assert measured(project) == first
        (record,) = [r for r in project.records() if (r["sample"], r["epoch"]) == ("sum[s5]", 2)]
        assert record["usage"]["llm_cache_hits"] == 2
        assert record["usage"]["replayed_cost"] == pytest.approx(used["usage"]["cost"])
        assert "cost" not in record["usage"]
        assert record["evidence"]["messages"] == used["evidence"]["messages"]
    monkeypatch.delenv("CHAT_KEY")  # nothing is sent, so nobody needs it
    assert run("--llm-cache=replay", url="${NOT_SET}/v1")[1].ret == 0
    unset = run()[1]
    assert unset.ret == pytest.ExitCode.USAGE_ERROR
    unset.stderr.fnmatch_lines(["*names the environment variable CHAT_KEY, which is not set*"])
    monkeypatch.setenv("CHAT_KEY", KEY)
    assert run("--llm-cache=off")[0] == 24
    house = project.path / ".agentbench"
    assert (house / ".gitignore").read_text().endswith("*\n")
    files = list((house / "llm-cache" / "toysum").iterdir())
    assert len(files) == 12
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert {(line["n"], line["epoch"]) for line in lines} == {(0, 1), (1, 1), (0, 2), (1, 2)}
    assert all(KEY not in path.read_text() for path in files)


def test_several_processes_record_and_a_changed_prompt_asks_only_what_changed(project, chat, run):
    project.write(agent__py=ASKING)
    assert run("-n2")[0] == 24
    assert run()[0] == 0
    project.write(agent__py=ASKING.replace("{a} {b}", "{a} {b}{' !' * (a == 3)}"))
    sent, result = run()
    assert (sent, result.ret) == (2, 0)
    assert {one["body"]["messages"][0]["content"] for one in chat.seen} == {"3 3 !"}


def test_a_replay_fails_what_is_not_recorded_though_the_agent_catches_it(project, chat, run):
    project.write(agent__py=CATCHING.replace("QUESTION", "How much?"))
    assert run()[0] == 12
    project.write(agent__py=CATCHING.replace("QUESTION", "How much is it?"))
    sent, result = run("--llm-cache=replay", "--max-identical-errors=0")
    assert (sent, result.ret) == (0, 1)
    records = project.records()
    assert {record["status"] for record in records} == {"error"}
    told = records[0]["error"]
    assert told.startswith("LLMError: llm tiny: --llm-cache replay has no recorded reply")
    assert "- messages[0] user: How much?" in told
    assert "+ messages[0] user: How much is it?" in told
    assert run()[0] == 12


def test_a_run_that_was_cut_short_goes_on_where_it_was(project, chat, run):
    project.write(agent__py=ASKING)
    assert run("--max-tokens=60")[0] == 6
    sent, result = run("--resume")
    assert (sent, result.ret) == (18, 0)
    assert run()[0] == 0


def test_a_baseline_makes_no_cache(project, chat, run):
    project.write(agent__py=ASKING)
    sent, result = run("--agent=builtin:right")
    assert (sent, result.ret) == (0, 0)
    assert not (project.path / ".agentbench" / "llm-cache").exists()
