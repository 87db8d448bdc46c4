"""Every shape of agent through a real run: the examples, isolation, commands, endpoints, models."""

from __future__ import annotations

import os
import subprocess
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from json_handler import JsonHandler, serving

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["function", "coroutine", "forward", "batch"])
def test_examples_that_answer_humob(project, name):
    result = project.pytest(
        "--benchmark=humob", f"--agent={EXAMPLES / name}_agent.py", "--limit=3", "--concurrency=2"
    )
    assert result.ret == 0
    result.assert_outcomes(passed=4)


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_the_example_of_an_asbench_agent(project, isolation):
    result = project.pytest(
        "--benchmark=BehaviorModeling", f"--agent={EXAMPLES / 'asbench_agent.py'}", "--limit=6",
        "--text-models=none", "--concurrency=3", f"--agent-isolation={isolation}",
    )  # fmt: skip
    assert result.ret == 0
    result.assert_outcomes(passed=7)


def test_the_example_of_a_websociety_agent(project):
    result = project.pytest(
        "--benchmark=BehaviorModeling", f"--agent={EXAMPLES / 'websociety_agent.py'}",
        "-k", "recommendation", "--text-models=none",
    )  # fmt: skip
    assert result.ret == 0
    assert project.scores()["readings"]["documented"]["top_5_hit_rate"]["value"] > 0
    assert project.scores()["readings"]["documented"]["final_score"]["value"] is None


def test_the_command_example(project):
    command = f"cmd:{sys.executable} {EXAMPLES / 'command_agent.py'}"
    result = project.pytest("--benchmark=humob", f"--agent={command}", "--limit=4", "-n2")
    assert result.ret == 0
    evidence = [record["evidence"]["stderr"] for record in project.records()]
    assert all(text.startswith("asked about 80") for text in evidence)


def test_the_http_example(project):
    command = [sys.executable, str(EXAMPLES / "http_agent.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        address = server.stdout.readline().strip()
        result = project.pytest(
            "--benchmark=humob", f"--agent={address}", "--limit=4", "--concurrency=2"
        )
        server.kill()
    assert result.ret == 0


CRASHING = """
import ctypes, os, time
def agent(context):
    a = context["a"]
    print("asked", a)
    if a == 1: os._exit(3)
    if a == 2: ctypes.string_at(0)
    if a == 3: raise LookupError("three")
    if a == 5: time.sleep(600)
    if a == 6: return [bytearray(1 << 40)]
    return a + context["b"]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="process isolation needs POSIX")
@pytest.mark.parametrize(
    "extra",
    [[], pytest.param(["-n2"], marks=pytest.mark.slow), ["--concurrency=3"]],
    ids=["serial", "xdist", "ahead"],
)
def test_an_isolated_agent_may_crash_and_hang_and_the_run_goes_on(project, extra):
    project.write(agent__py=CRASHING)
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--agent-isolation=process",
        "--agent-timeout=2", "--agent-memory=512", *extra,
    )  # fmt: skip
    assert result.ret == 1
    records = {r["sample"]: r for r in project.records()}
    assert {name: r["status"] for name, r in records.items() if r["status"] != "ok"} == {
        "sum[s1]": "error", "sum[s2]": "error", "sum[s3]": "error", "sum[s5]": "timeout",
        "sum[s6]": "error",
    }  # fmt: skip
    assert "exit code 3" in records["sum[s1]"]["error"]
    assert "SIGSEGV" in records["sum[s2]"]["error"]
    assert records["sum[s3]"]["error"] == "LookupError: three"
    assert "MemoryError" in records["sum[s6]"]["error"]
    assert records["sum[s7]"]["evidence"]["stdout"] == "asked 7\n"
    result.stdout.fnmatch_lines(["sum[[]s3]: LookupError: three", "*agent.py*line 8*"])
    assert "hidden" not in result.stdout.str()


def test_a_mistake_in_an_isolated_agents_file_is_a_usage_error(project):
    project.write(agent__py="import nothing_of_this_name\ndef agent(c): ...\n")
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--agent-isolation=process")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "nothing_of_this_name" in result.stderr.str()


class ChatServer(ThreadingHTTPServer):
    """Speaks the chat-completions protocol: adds the two numbers in the message."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.keys: list[str | None] = []
        self.refused = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class ChatHandler(JsonHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.body()
        self.server.keys.append(self.headers.get("Authorization"))
        text = body["messages"][-1]["content"]
        if "6" in text.split() and not self.server.refused:
            self.server.refused += 1
            self.give(429, {"error": {"message": "slow down"}}, Retry_After="0")
            return
        answer = {"role": "assistant", "content": str(sum(map(int, text.split())))}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        reply = {"choices": [{"message": answer, "finish_reason": "stop"}], "usage": usage}
        self.give(200, reply, Content_Type="application/json")


@pytest.fixture
def chat(monkeypatch):
    monkeypatch.setenv("CHAT_KEY", "sk-very-secret")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(ChatServer()) as server:
        yield server


ASKING = """
async def agent(context, llm):
    reply = await llm.atext_request(f"{context['a']} {context['b']}")
    return int(reply)
"""


def scenario(chat, more=""):
    return (
        f"benchmark: toysum\nagent: agent.py\n{more}"
        f"llm:\n  - model: tiny\n    base_url: {chat.url}\n    api_key: ${{CHAT_KEY}}\n"
        "    price_input: 100\n    price_output: 200\n"
    )


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_an_agent_may_ask_a_model_and_what_it_used_is_counted(project, chat, isolation):
    project.write(agent__py=ASKING, s__yaml=scenario(chat))
    result = project.pytest("s.yaml", "--concurrency=4", f"--agent-isolation={isolation}")
    assert result.ret == 0
    assert set(chat.keys) == {"Bearer sk-very-secret"}
    records = {r["sample"]: r for r in project.records()}
    usage = records["sum[s5]"]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (10, 5)
    assert usage["cost"] == pytest.approx((10 * 100 + 5 * 200) / 1e6)
    assert records["sum[s6]"]["usage"]["llm_retries"] == 1
    assert [m["content"] for m in records["sum[s5]"]["evidence"]["messages"]] == ["5 5", "10"]
    for path in project.path.rglob("*"):
        if path.is_file():
            assert b"sk-very-secret" not in path.read_bytes(), path
    assert "sk-very-secret" not in result.stdout.str()


@pytest.mark.parametrize(
    "extra", [[], pytest.param(["-n2"], marks=pytest.mark.slow)], ids=["serial", "xdist"]
)
@pytest.mark.parametrize("budget", ["max_tokens: 60\n", "max_cost: 0.008\n"])
def test_a_run_stops_with_what_it_has_when_its_budget_is_spent(project, chat, extra, budget):
    project.write(agent__py=ASKING, s__yaml=scenario(chat, budget))
    result = project.pytest("s.yaml", *extra)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    scores = project.scores()
    assert "the budget is spent" in scores["incomplete"]
    assert scores["partial"] is True
    assert 4 <= scores["samples"]["ok"] <= 8
    assert scores["samples"]["error"] == 0
    assert scores["gates"][0]["passed"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("llm: [{base_url: x}]\n", "llm: entry 1: expected the key model"),
        ("llm: [{model: m, api_key: sk-literal, prise: 1}]\n", "llm: entry 1: expected the keys"),
        (
            "llm: [{model: m, base_url: 'http://127.0.0.1:9', api_key: '${NO_SUCH_KEY}'}]\n",
            "NO_SUCH_KEY",
        ),
    ],
)
def test_mistakes_about_models_hide_keys(project, text, message):
    project.write(agent__py=ASKING, s__yaml=f"benchmark: toysum\nagent: agent.py\n{text}")
    result = project.pytest("s.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()
    assert "sk-literal" not in result.stderr.str() + result.stdout.str()
    assert os.environ.get("NO_SUCH_KEY") is None
