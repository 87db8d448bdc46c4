"""A server on this machine that speaks the chat-completions protocol, by a script of steps."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-canary-0123456789abcdef"
HELLO = [{"role": "user", "content": "Hello"}]


def reply(*texts, usage=(7, 3)):
    data = {"choices": [{"message": {"role": "assistant", "content": text}} for text in texts]}
    if usage:
        data["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return json.dumps(data).encode()


class Server(ThreadingHTTPServer):
    """Answers each request with the next step of its script, then with ``usual``, which says ``Hi``."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = []
        self.usual = lambda handler: handler.send(200, reply("Hi"))
        self.seen = []
        self.looked = []
        self.on_look = lambda handler: handler.send(404, b"{}")
        self.connections = set()
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass  # clients that give up are part of the tests


@contextlib.contextmanager
def serving():
    """A server that answers within the block."""
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.seen.append(
                {
                    "path": self.path,
                    "body": json.loads(body),
                    "key": self.headers["Authorization"],
                    "at": time.monotonic(),
                }
            )
            self.server.connections.add(self.client_address)
            self.asked = self.server.seen[-1]["body"]
            step = self.server.script.pop(0) if self.server.script else self.server.usual
        step(self)

    def do_GET(self):
        """The list of models, for whoever looks whether the server is there."""
        with self.server.lock:
            self.server.looked.append({"path": self.path, "key": self.headers["Authorization"]})
        self.server.on_look(self)

    def send(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def error(status, message="no", headers=(), code=None):
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return lambda handler: handler.send(status, body, headers)


def text(*texts, **options):
    return lambda handler: handler.send(200, reply(*texts, **options))


def raw(body, status=200):
    return lambda handler: handler.send(status, body)


def slow(seconds):
    def step(handler):
        time.sleep(seconds)
        with contextlib.suppress(OSError):
            handler.send(200, reply("late"))

    return step


def trickle(handler):
    body = reply("x" * 3000)
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    with contextlib.suppress(OSError):
        for byte in body:
            handler.wfile.write(bytes([byte]))
            time.sleep(0.02)


def break_off(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.close_connection = True


def hang_up(handler):
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def chunked(handler):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    body = reply("in chunks")
    for part in (body[:10], body[10:]):
        handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    handler.wfile.write(b"0\r\n\r\n")


def delta(content=None, finish=None, **more):
    """One event of a stream."""
    said = {} if content is None else {"content": content}
    return {"choices": [{"index": 0, "delta": {**said, **more}, "finish_reason": finish}]}


def events(*chunks, done=True):
    """Chunks as server-sent events; the usage is sent only where it was asked for, as OpenAI does."""

    def step(handler):
        sent = list(chunks)
        if (handler.asked.get("stream_options") or {}).get("include_usage"):
            sent.append({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in sent)
        handler.send(
            200,
            (body + ("data: [DONE]\n\n" if done else "")).encode(),
            [("Content-Type", "text/event-stream")],
        )

    return step


def ways(llm):
    """The three ways to ask, each as a function of the messages."""
    return {
        "text_request": llm.text_request,
        "atext_request": lambda messages, **kw: asyncio.run(llm.atext_request(messages, **kw)),
        "call": lambda messages, **kw: llm(messages=messages, **kw),
    }


WAYS = ["text_request", "atext_request", "call"]
