"""``--llm-proxy``: an endpoint on this machine for agents that bring an OpenAI-compatible client of their own.

Every request is answered by the configured model, through :meth:`Model.exchange`: cache, rate limits, retries,
budget and usage are those of an agent that asks ``llm``. Whoever asks shows a key
(:mod:`pytest_agentbench.agents.llm.proxy_keys`), which says which sample it is for.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_agentbench.agents.errors import BudgetExceeded
from pytest_agentbench.agents.llm import handed
from pytest_agentbench.agents.llm.exchanges import LLMError, events_of
from pytest_agentbench.agents.llm.proxy_keys import Key, Keys
from pytest_agentbench.agents.llm.replies import EMBEDDINGS

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.client import LLM

_ROOT = "/v1"
# What asks a model. Nothing else is forwarded: the real key may be good for more than that.
_PATHS = ("/chat/completions", "/completions", "/responses", EMBEDDINGS)
_HERE = ("127.0.0.1", "localhost")
_LARGEST_BODY = 32 * 2**20  # bytes
_PIECE = 1 << 16
_POLL = 0.1  # seconds until the end is noticed
_GRACE = 2.0  # seconds that requests have to end with the proxy
_BAD_GATEWAY = 502


# The model of the run that was handed over last. A client that code in this process has made for one run may
# be asked again in another: the agent's file is imported once.
_asked_here: list[LLM] = []


class Proxy:
    """Serves one run until it is closed, from threads of its own."""

    def __init__(self, llm: LLM, keys: Keys | None = None) -> None:
        self.keys = keys or Keys()
        self._server = _Server(llm, self.keys)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}{_ROOT}"
        self._here = self.variables(self.keys.here)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL,), name="agentbench-proxy", daemon=True
        )
        self._thread.start()

    def hand_over(self) -> None:
        """Lets the code of this process ask this run's model from here on."""
        _asked_here[:] = [self._server.llm]
        handed.use(self._here)

    def variables(self, key: Key) -> dict[str, str]:
        """The environment of a client that is to use this key."""
        return handed.variables(self.base_url, key.token)

    def headers(self, key: Key) -> dict[str, str]:
        """The same for an agent behind HTTP, with each question."""
        return {
            "X-Agentbench-OpenAI-Base-URL": self.base_url,
            "X-Agentbench-OpenAI-Api-Key": key.token,
        }

    def close(self) -> None:
        """Ends all connections. A request that is still waiting for the model ends with the process."""
        _asked_here.clear()
        handed.use(None)
        self._server.shutdown()
        self._thread.join()
        self._server.end()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, llm: LLM, keys: Keys) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.llm = llm
        self.keys = keys
        self._lock = threading.Lock()
        self._open: dict[socket.socket, threading.Thread] = {}

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread,
            args=(request, client_address),
            name="agentbench-proxy-client",
            daemon=True,
        )
        with self._lock:
            self._open[request] = thread
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up is no concern of ours."""

    def end(self) -> None:
        self.server_close()
        with self._lock:
            left = dict(self._open)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + _GRACE
        for thread in left.values():
            thread.join(max(0.0, deadline - time.monotonic()))


class _Refused(Exception):
    """A request that gets an error in OpenAI's form."""

    def __init__(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_version, sys_version = "agentbench", ""

    def do_GET(self) -> None:
        self._answer(self._listed)

    def do_POST(self) -> None:
        self._answer(self._asked)

    def log_message(self, *args: Any) -> None:
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server itself refuses: another method, a line that is no request."""
        self.close_connection = True
        self._send_error(_Refused(code, message or explain or "this is no request that is served"))

    def _answer(self, give: Callable[[Key, str, bytes], None]) -> None:
        try:
            content = self._content()
            give(self._key(), self._path(), content)
        except _Refused as refused:
            self._send_error(refused)

    def _content(self) -> bytes:
        """The body, also of a request that is refused: the next one comes after it."""
        given = self.headers.get("Content-Length", "0" if self.command == "GET" else "")
        if not (given.isascii() and given.isdigit()):
            self.close_connection = True
            raise _Refused(411, f"expected a Content-Length, got {given or 'none'}")
        length = int(given)
        if length <= _LARGEST_BODY:
            return self.rfile.read(length)
        while length > 0 and (piece := self.rfile.read(min(length, _PIECE))):
            length -= len(piece)
        raise _Refused(413, f"expected a body of at most {_LARGEST_BODY} bytes, got {given}")

    def _key(self) -> Key:
        # A page in a browser could lead a name of its own to this machine.
        host = self.headers.get("Host", "").partition(":")[0].lower()
        if host not in _HERE:
            raise _Refused(403, f"expected the host {' or '.join(_HERE)}, got another one")
        key = self.server.keys.find(self.headers.get("Authorization"))
        if key is None:
            raise _Refused(
                401,
                "expected the key that agentbench hands to the agent as OPENAI_API_KEY, got none or "
                "another one; it is good for this run, and in a header for one question",
                "authentication_error",
            )
        return key

    def _path(self) -> str:
        path = urlsplit(self.path).path
        if path.startswith(f"{_ROOT}/"):
            return path.removeprefix(_ROOT)
        raise _Refused(404, f"expected a path that begins with {_ROOT}/, got {path}")

    def _listed(self, key: Key, path: str, content: bytes) -> None:
        models = [
            {"id": name, "object": "model", "created": 0, "owned_by": "agentbench"}
            for name in dict.fromkeys(self._llm(key).models)
        ]
        if path == "/models":
            return self._send(200, {"object": "list", "data": models})
        for model in models:
            if path == f"/models/{model['id']}":
                return self._send(200, model)
        raise _Refused(404, f"expected GET {_ROOT}/models, got GET {_ROOT}{path}")

    def _asked(self, key: Key, path: str, content: bytes) -> None:
        if path not in _PATHS:
            served = ", ".join(_ROOT + one for one in _PATHS)
            raise _Refused(404, f"expected one of {served}; got {_ROOT}{path}")
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise _Refused(400, "expected a JSON object as the body")
        self._forward(key, path, body)

    def _llm(self, key: Key) -> LLM:
        server = self.server
        return _asked_here[0] if key is server.keys.here and _asked_here else server.llm

    def _forward(self, key: Key, path: str, body: dict[str, Any]) -> None:
        llm = self._llm(key)
        try:
            with self.server.keys.counting_for(key):
                reply = llm.exchange(path, body, configured=True)
        except BudgetExceeded as error:
            # Not 429: nobody is to wait and try again.
            raise _Refused(402, str(error), "budget_exceeded") from None
        except LLMError as error:
            given = error.status or 0
            status = given if 400 <= given <= 599 else _BAD_GATEWAY
            raise _Refused(status, str(error), "llm_error") from None
        except Exception as error:
            raise _Refused(500, f"{type(error).__name__}: {error}", "server_error") from None
        if reply.chunks is None:
            self._send(200, reply.body)
        else:
            self._write(200, "text/event-stream", events_of(reply.chunks))

    def _send_error(self, refused: _Refused) -> None:
        error = {"message": str(refused), "type": refused.kind, "param": None, "code": refused.kind}
        # What a retry can cure has been retried. OpenAI's clients go by this header.
        self._send(refused.status, {"error": error}, {"x-should-retry": "false"})

    def _send(self, status: int, data: Any, headers: Mapping[str, str] | None = None) -> None:
        self._write(status, "application/json", json.dumps(data).encode(), headers)

    def _write(
        self, status: int, kind: str, content: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
