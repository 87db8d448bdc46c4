"""Our rules for HTTP requests by themselves; what agents and models make of them is tested with them."""

from __future__ import annotations

import contextlib
import gzip
import logging
import socket
import threading
import time
import traceback

import pytest
from llm_server import KEY, break_off, hang_up, slow

from pytest_agentbench.agents import http_loop
from pytest_agentbench.agents.http_transport import Endpoint, NoReply, Reply, TooLarge, Transport


@pytest.fixture
def endpoint(server):
    endpoint = Endpoint(server.url.replace("//", f"//me:{KEY}@"), 1000)
    yield endpoint
    endpoint.close()


# The server takes a minute for a reply, the client gives up after 0.3 s; a busy machine may add to that.
def head_without_end(handler):
    for _ in range(1200):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" if _ == 0 else b"X: y\r\n")
        time.sleep(0.05)


def body_without_end(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(1200):
        handler.wfile.write(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize("step", [slow(60), head_without_end, body_without_end])
def test_the_deadline_is_for_the_whole_reply_and_the_connection_is_closed(server, endpoint, step):
    server.script = [step]
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        endpoint.post(b"{}", 0.3)
    assert time.monotonic() - started < 30
    assert endpoint.post(b"{}", 60).status == 200
    assert len(server.connections) == 2


@pytest.mark.parametrize("length", [1000, 1001])
def test_a_reply_has_at_most_as_many_bytes_as_allowed(server, endpoint, length):
    server.script = [lambda handler: handler.send(200, b"x" * length)]
    if length == 1000:
        assert endpoint.post(b"{}", 10).body == b"x" * length
    else:
        with pytest.raises(TooLarge):
            endpoint.post(b"{}", 10)


def lengths(*given, body=b"{}"):
    """A reply with these lengths, on a connection that stays open."""

    def step(handler):
        head = "".join(f"Content-Length: {length}\r\n" for length in given)
        handler.wfile.write(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + body)
        handler.wfile.flush()
        time.sleep(60)

    return step


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["-1"], NoReply),
        (["two"], NoReply),
        (["2", "3"], NoReply),
        (["2, 3"], NoReply),
        (["\u00b2"], NoReply),
        (["0x2"], NoReply),
        (["1001"], TooLarge),
        (["9" * 5000], NoReply),
        (["2", "2"], None),
    ],
)
def test_a_length_that_is_none_is_refused_at_once(server, endpoint, given, error):
    server.script = [lengths(*given)]
    if error is None:
        assert endpoint.post(b"{}", 10).body == b"{}"
    else:
        with pytest.raises(error):
            endpoint.post(b"{}", 10)


def test_chunks_without_end_are_cut_off(server, endpoint):
    def step(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(OSError):
            for _ in range(10_000):
                handler.wfile.write(b"64\r\n" + b"x" * 100 + b"\r\n")

    server.script = [step]
    with pytest.raises(TooLarge):
        endpoint.post(b"{}", 10)


def test_no_frame_of_an_error_holds_the_key(server, endpoint):
    server.script = [break_off]
    with pytest.raises(NoReply, match="without sending complete message body") as caught:
        endpoint.post(b"{}", 10)
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    shown = "".join(told.format())
    assert "endpoint.post" in shown
    assert KEY not in shown


def test_a_machines_own_endpoint_is_not_asked_through_a_proxy(server, endpoint, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:1")
    monkeypatch.setenv("all_proxy", "http://proxy.invalid:1")
    monkeypatch.setenv("no_proxy", "")
    assert endpoint.post(b"{}", 10).status == 200
    assert server.seen[0]["path"] == "/v1"


def test_the_deadline_is_for_a_proxys_own_reply_too(monkeypatch):
    def drip(connections):
        connection, _ = connections.accept()
        with connection, contextlib.suppress(OSError):  # the client gives up
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            for _ in range(1200):
                connection.sendall(b"X: y\r\n")
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as proxy:
        threading.Thread(target=drip, args=(proxy,), daemon=True).start()
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.setenv("no_proxy", "")
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            Endpoint("https://elsewhere.invalid/answer", 1000).post(b"{}", 0.3)
        assert time.monotonic() - started < 30


def test_a_compressed_reply_is_refused_and_the_server_was_asked_for_a_plain_one(server, endpoint):
    asked = []

    def step(handler):
        asked.append(handler.headers["Accept-Encoding"])
        handler.send(200, gzip.compress(b"{}"), [("Content-Encoding", "gzip")])

    server.script = [step]
    with pytest.raises(NoReply, match=r"not compressed .*, got Content-Encoding: gzip"):
        endpoint.post(b"{}", 10)
    assert asked == ["identity"]
    assert endpoint.post(b"{}", 10).status == 200


def test_neither_password_nor_query_nor_body_come_into_the_log(server, caplog):
    caplog.set_level(logging.DEBUG)
    endpoint = Endpoint(f"{server.url}?key={KEY}".replace("//", f"//me:{KEY}@"), 1000)
    assert endpoint.post(b'{"a": "secret-body"}', 10).status == 200
    endpoint.close()
    assert server.seen[0]["path"] == f"/v1?key={KEY}"
    assert server.seen[0]["key"].startswith("Basic ")
    assert any("POST" in record.getMessage() for record in caplog.records)
    assert KEY not in caplog.text
    assert "secret-body" not in caplog.text


def test_of_a_clients_headers_only_what_is_needed_is_sent(server):
    heads = []

    def step(handler):
        heads.append({name.lower() for name in handler.headers})
        handler.send(200, b"{}")

    async def ask(transport):
        client = transport.client()
        headers = {"Authorization": "Bearer theirs", "X-Machine": "mine", "Cookie": "a=b"}
        return Reply.of(await client.post(server.url, content=b"{}", headers=headers))

    server.script = [step]
    transport = Transport(server.url, 1000)
    assert http_loop.wait(ask(transport)).status == 200
    transport.close()
    assert heads == [{"host", "accept", "content-length", "accept-encoding", "user-agent"}]


def test_a_kept_connection_that_the_server_closed_is_made_anew(server, endpoint):
    assert endpoint.post(b"{}", 10).status == 200
    server.script = [hang_up]
    assert endpoint.post(b"{}", 10).status == 200  # asked again, on a new connection
    assert len(server.seen) == 3
    server.script = [hang_up, hang_up]
    with pytest.raises(NoReply, match="disconnected without sending a response"):
        endpoint.post(b"{}", 10)


def test_nobody_there_is_said_as_the_system_says_it():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # not listening
        endpoint = Endpoint(f"http://127.0.0.1:{taken.getsockname()[1]}/", 1000)
        with pytest.raises(NoReply, match=r"^ConnectionRefusedError: "):
            endpoint.post(b"{}", 10)
