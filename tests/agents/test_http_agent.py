"""An agent behind an HTTP endpoint, asked over real connections."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import threading
import time
from email.utils import formatdate
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from json_handler import JsonHandler
from processes import happens

from pytest_agentbench.agents.errors import AgentTimeout, TransientError
from pytest_agentbench.agents.http_agent import HttpAgent, HttpError
from pytest_agentbench.base.errors import BenchmarkError

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "http_agent.py"


class Server(ThreadingHTTPServer):
    """Answers as ``reply(handler, context)`` says, and remembers who connected."""

    daemon_threads = True

    def __init__(self, reply):
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply = reply
        self.connections = []
        self.closed = []
        self.requests = []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def url(self, path="/answer"):
        return f"http://127.0.0.1:{self.server_port}{path}"

    def shutdown_request(self, request):
        super().shutdown_request(request)
        self.closed.append(request)

    def handle_error(self, request, client_address):
        pass  # clients that gave up


class Handler(JsonHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.connections.append(self.client_address)

    def do_POST(self):
        context = self.body()
        self.server.requests.append((self.path, dict(self.headers)))
        self.server.reply(self, context)


@pytest.fixture
def serve():
    servers = []

    def serve(reply):
        servers.append(Server(reply))
        return servers[-1]

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def ask():
    """Makes agents, and closes them."""
    made = []

    def ask(url, timeout=60.0):
        made.append(HttpAgent(url, timeout))
        return made[-1]

    yield ask
    for agent in made:
        agent.close()


def echo(handler, context):
    handler.give(200, context)


def test_the_context_is_posted_and_the_body_is_the_answer(serve, ask):
    server = serve(echo)
    agent = ask(server.url("/a/b?c=d"))
    assert agent({"a": "é\ud800", "b": [1.5, None]}) == {"a": "é\ud800", "b": [1.5, None]}
    ((path, headers),) = server.requests
    assert path == "/a/b?c=d"
    assert headers["Content-Type"] == "application/json"
    assert agent.last_output == ("", "")


def test_connections_are_kept_one_for_each_call_at_once(serve, ask):
    together = threading.Barrier(3)

    def reply(handler, context):
        if context == "together":
            together.wait(10)
        handler.give(200, context)

    server = serve(reply)
    agent = ask(server.url())
    assert [agent(n) for n in range(5)] == list(range(5))
    assert len(server.connections) == 1
    for _ in range(2):
        threads = [threading.Thread(target=agent, args=("together",)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(server.connections) == 3


def test_a_connection_survives_an_error_reply(serve, ask):
    server = serve(lambda handler, context: handler.give(context, "sorry"))
    agent = ask(server.url())
    for status in (400, 503):
        with pytest.raises((HttpError, TransientError)):
            agent(status)
    assert agent(200) == "sorry"
    assert len(server.connections) == 1


def test_a_connection_that_the_server_closed_meanwhile_is_made_anew(serve, ask):
    def reply(handler, context):
        handler.give(200, context)
        handler.close_connection = True  # without saying so

    server = serve(reply)
    agent = ask(server.url())
    for n in range(4):
        assert agent(n) == n
        assert happens(lambda n=n: len(server.closed) == n + 1)
    assert len(server.connections) == 4


def test_a_server_that_says_it_closes(serve, ask):
    server = serve(lambda handler, context: handler.give(200, context, Connection="close"))
    agent = ask(server.url())
    assert [agent(n) for n in range(3)] == [0, 1, 2]


def test_an_answer_without_a_length_ends_with_the_connection(serve, ask):
    def reply(handler, context):
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n[1, 2]")
        handler.close_connection = True

    agent = ask(serve(reply).url())
    assert [agent(0), agent(0)] == [[1, 2], [1, 2]]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_status_that_may_pass_is_transient(serve, ask, status):
    server = serve(lambda handler, context: handler.give(status, "later", Retry_After="7"))
    with pytest.raises(
        TransientError, match=f"expected status 200 with the answer, got {status} .*later"
    ) as caught:
        ask(server.url())(1)
    assert caught.value.status == status
    assert caught.value.retry_after == 7.0
    assert caught.value.transient


@pytest.mark.parametrize("off", [0, 3600])
def test_retry_after_may_be_a_date_by_the_servers_clock(serve, ask, off):
    now = time.time() + off
    dates = {"Retry_After": formatdate(now + 60, usegmt=True), "Date": formatdate(now, usegmt=True)}
    server = serve(lambda handler, context: handler.give(429, "later", **dates))
    with pytest.raises(TransientError) as caught:
        ask(server.url())(1)
    assert 50 < caught.value.retry_after <= 60


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refusal_is_permanent_and_quotes_the_body(serve, ask, status):
    server = serve(
        lambda handler, context: handler.give(status, b"no such field: uid" + b"x" * 10_000)
    )
    with pytest.raises(HttpError, match=f"got {status} .*no such field: uid") as caught:
        ask(server.url())(1)
    assert caught.value.status == status
    assert not caught.value.transient
    assert len(str(caught.value)) < 1000


def test_a_redirection_is_not_followed_but_named(serve, ask):
    server = serve(lambda handler, context: handler.give(307, b"", Location="/v2/answer"))
    with pytest.raises(HttpError, match=r"got 307 .*name the address it leads to: /v2/answer"):
        ask(server.url())(1)


@pytest.mark.parametrize("body", [b"", b"<html>hello</html>", b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_not_json_is_an_error_that_quotes_it(serve, ask, body):
    server = serve(lambda handler, context: handler.give(200, body))
    with pytest.raises(HttpError, match="expected JSON, got") as caught:
        ask(server.url())(1)
    assert len(str(caught.value)) < 1000


def test_nobody_there_is_transient(ask):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(
        TransientError, match=f"POST http://127.0.0.1:{port}/: expected a reply, got Connection"
    ):
        ask(f"http://127.0.0.1:{port}/")(1)


def test_a_connection_lost_within_the_reply_is_transient(serve, ask):
    def reply(handler, context):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[1,")
        handler.close_connection = True

    with pytest.raises(
        TransientError, match="RemoteProtocolError: peer closed connection without sending complete"
    ):
        ask(serve(reply).url())(1)


def slowly(handler, context):
    if context == "fine":
        return handler.give(200, context)
    if context == "silent":
        time.sleep(60)
    start = (
        b"HTTP/1.1 200 OK\r\n"
        if context == "head"
        else b"HTTP/1.1 200 OK\r\nContent-Length: 1200\r\n\r\n"
    )
    handler.wfile.write(start)
    for _ in range(1200):  # never silent for long: only a deadline for the whole reply ends this
        handler.wfile.write(b"X: y\r\n" if context == "head" else b" ")
        handler.wfile.flush()
        time.sleep(0.05)
    return None


@pytest.mark.parametrize("way", ["silent", "head", "body"])
def test_a_slow_answer_is_given_up_and_the_next_one_is_not_confused(serve, ask, way):
    agent = ask(serve(slowly).url(), timeout=60)
    started = time.monotonic()
    with pytest.raises(AgentTimeout, match=r"no answer within 0.3 s"):
        agent(way, timeout=0.3)
    assert time.monotonic() - started < 30  # the server takes a minute
    assert agent("fine") == "fine"


def test_proxies_are_not_asked_for_this_machine(serve, ask, monkeypatch):
    proxy = serve(lambda handler, context: handler.give(200, "from the proxy"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url(""))
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = serve(echo)
    assert ask(server.url())("direct") == "direct"
    assert ask(server.url().replace("127.0.0.1", "localhost"))("direct") == "direct"
    assert ask("http://elsewhere.invalid/answer?k=1")(1) == "from the proxy"
    assert proxy.requests[0][0] == "http://elsewhere.invalid/answer?k=1"


def test_a_name_and_password_in_the_address_are_sent_and_not_shown(serve, ask):
    server = serve(lambda handler, context: handler.give(403, "no"))
    agent = ask(server.url("/answer?key=topsecret").replace("//", "//me:pass%40word@"))
    with pytest.raises(HttpError) as caught:
        agent(1)
    sent = server.requests[0][1]["Authorization"].removeprefix("Basic ")
    assert base64.b64decode(sent) == b"me:pass@word"
    assert "word" not in str(caught.value)
    assert "topsecret" not in str(caught.value)


def test_tools_stay_here(serve, ask):
    class Store:
        agentbench_methods = ("get",)

    class City(dict):
        agentbench_methods = ("get_place",)

    context = {"uir": Store(), "city": City(home=1), "n": 2}
    assert ask(serve(echo).url())(context) == {"uir": None, "city": {"home": 1}, "n": 2}


@pytest.mark.parametrize(
    "url", ["ftp://localhost/x", "http://", "http:///x", "http://a:b/", "localhost:80"]
)
def test_only_addresses_of_http_are_taken(url):
    with pytest.raises(
        BenchmarkError, match="expected an address such as http://localhost:8000/answer"
    ):
        HttpAgent(url)


def test_a_closed_agent_leaves_no_connection(serve, ask):
    server = serve(echo)
    agent = ask(server.url())
    agent(1)
    assert not server.closed
    agent.close()
    assert happens(lambda: len(server.closed) == 1)


def test_the_example_answers(ask):
    with subprocess.Popen(
        [sys.executable, EXAMPLE, "0"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            agent = ask(server.stdout.readline().strip())
            assert agent({"history": [[0, 5, 7, 8]], "targets": [[2, 5]]}) == [[2, 5, 7, 8]]
        finally:
            server.kill()
