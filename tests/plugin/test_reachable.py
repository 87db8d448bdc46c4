"""Servers that nobody can reach are told before the first sample; those that a fixture starts are not looked for."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture
def nobody():
    """An address where nobody listens: the port is taken, by a socket that takes no connection."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


ASKS = "def agent(context, llm):\n    return llm.text_request('How much?')\n"


def scenario(address):
    entry = f"{{model: m, base_url: 'http://{address}/v1', api_key: k}}"
    return f"benchmark: toysum\nagent: agent.py\nllm: [{entry}]\n"


@pytest.mark.parametrize("extra", [[], ["-n2"]], ids=["serial", "xdist"])
def test_an_endpoint_or_a_model_that_nobody_serves_is_a_usage_error(project, nobody, extra):
    project.write(agent__py=ASKS, model__yml=scenario(nobody))
    for options, said in (
        (["--benchmark=toysum", f"--agent=http://{nobody}/answer"], "expected an endpoint that can be"),
        (["--benchmark=model.yml"], "llm m: expected a server at"),
    ):  # fmt: skip
        result = project.pytest(*options, *extra)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert result.stderr.str().count(said) == 1
        assert nobody in result.stderr.str()
        assert not project.runs()


def test_what_is_not_asked_is_not_looked_for(project, nobody):
    project.write(agent__py=ASKS, model__yml=scenario(nobody))
    assert project.pytest("--benchmark=model.yml", "--agent=builtin:right").ret == 0
    assert project.pytest("--benchmark=model.yml", "--collect-only").ret == 0


STARTS = """
import pytest, threading
from http.server import BaseHTTPRequestHandler, HTTPServer

class Answers(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"7")

    def log_message(self, *args):
        pass

@pytest.fixture(scope="session", autouse=True)
def server():
    with HTTPServer(("127.0.0.1", PORT), Answers) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield
        server.shutdown()
"""


def test_a_server_that_a_fixture_starts_is_not_looked_for_before(project):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    project.write(conftest__py=STARTS.replace("PORT", str(port)))
    project.pytest("--benchmark=toysum", f"--agent=http://127.0.0.1:{port}/", "-k", "s1")
    assert [record["status"] for record in project.records()] == ["ok"] * 3
