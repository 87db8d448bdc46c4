"""The HTTP client by itself; what agents and models make of it is tested with them."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
import traceback

import pytest
from llm_server import KEY, break_off, slow

from pytest_agentbench.agents.http_client import Endpoint, TooLarge, WrongLength


@pytest.fixture
def endpoint(server):
    endpoint = Endpoint(server.url, 1000, lambda: f"Bearer {KEY}")
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
        (["-1"], WrongLength),
        (["two"], WrongLength),
        (["2", "3"], WrongLength),
        (["2, 3"], WrongLength),
        (["\u00b2"], WrongLength),
        (["0x2"], WrongLength),
        (["1001"], TooLarge),
        (["9" * 5000], TooLarge),
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
    with pytest.raises(http.client.IncompleteRead) as caught:
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
