"""An agent behind an HTTP endpoint: ``--agent http://localhost:8000/answer``.

Each question is a POST with the context as its JSON body; the answer is the JSON body of a 2xx reply.
Tools in a context cannot be asked from there: they stand as null, or as their data.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import io
import ipaddress
import socket
import ssl
import threading
import time
import urllib.parse
import urllib.request
from typing import Any

from pytest_agentbench.agents.call import AgentTimeout
from pytest_agentbench.agents.errors import TransientError
from pytest_agentbench.agents.process import wire
from pytest_agentbench.agents.retry import retry_after
from pytest_agentbench.base.errors import BenchmarkError, without_secrets

_TRANSIENT = frozenset({408, 425, 429})  # and all of 5xx
_LONGEST_QUOTE = 500


class HttpError(Exception):
    """A reply that is no answer and will not become one by asking again."""

    transient = False

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


class HttpAgent:
    """Asks an endpoint, over connections that are kept: one for each call that is under way at once."""

    def __init__(self, url: str, timeout: float | None = None) -> None:
        self._url = url
        self._endpoint = _Endpoint(url)
        self._timeout = timeout
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The address, for people and files."""
        return self._endpoint.shown

    @property
    def last_output(self) -> tuple[str, str]:
        """Nothing: what an endpoint prints stays where it runs."""
        return "", ""

    @property
    def digest(self) -> str:
        """Of the address: what answers there may change without our knowing."""
        return hashlib.sha256(self._url.encode()).hexdigest()

    def __call__(self, context: Any, timeout: float | None = None) -> Any:
        """The endpoint's answer; :class:`TransientError` for 429, 5xx and lost connections,
        :class:`HttpError` for every other reply, :class:`AgentTimeout`."""
        __tracebackhide__ = True
        limit = self._timeout if timeout is None else timeout
        deadline = None if limit is None else time.monotonic() + limit
        body = wire.encoded(wire.split(context)[0])
        where = self._endpoint.shown
        try:
            reply, content = self._post(body, deadline)
        except TimeoutError:
            if limit is None:  # the system's own limit for a connection that nobody accepts
                raise TransientError(f"POST {where}: the connection timed out") from None
            raise AgentTimeout(f"no answer within {limit:g} s") from None
        except ssl.SSLCertVerificationError as error:
            raise HttpError(
                f"POST {where}: expected a certificate that can be trusted, got {error.verify_message}; "
                f"SSL_CERT_FILE names a file with further authorities",
                None,
            ) from None
        except (OSError, http.client.HTTPException) as error:
            said = f"{type(error).__name__}: {error}"
            raise TransientError(f"POST {where}: expected a reply, got {said}") from None
        return self._answer(reply, content)

    def close(self) -> None:
        """Closes the connections that are kept."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _post(self, body: bytes, deadline: float | None) -> tuple[http.client.HTTPResponse, bytes]:
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        if kept is not None:
            try:
                return self._exchange(kept, body, deadline)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                pass  # the server had closed it, as servers do after a pause: once more, on a new one
        return self._exchange(self._endpoint.connection(), body, deadline)

    def _exchange(
        self, connection: _Connection, body: bytes, deadline: float | None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection.deadline = deadline
        try:
            if connection.sock is None:
                connection.timeout = _left(deadline)
                connection.connect()
            assert connection.sock is not None
            connection.sock.settimeout(_left(deadline))
            connection.request("POST", self._endpoint.target, body, self._endpoint.headers)
            reply = connection.getresponse()
            content = reply.read(wire.LARGEST + 1)
            if len(content) > wire.LARGEST:
                raise HttpError(
                    f"POST {self._endpoint.shown}: expected an answer of at most {wire.LARGEST} "
                    f"bytes, got a longer one",
                    reply.status,
                )
            if reply.length:
                raise http.client.IncompleteRead(content, reply.length)
        except BaseException:
            connection.close()  # half a reply may still be on its way
            raise
        if connection.sock is not None:
            with self._lock:
                self._idle.append(connection)
        return reply, content

    def _answer(self, reply: http.client.HTTPResponse, content: bytes) -> Any:
        where = f"POST {self._endpoint.shown}"
        status = reply.status
        if 200 <= status < 300:
            try:
                return wire.decoded(content)
            except wire.Garbled as error:
                raise HttpError(
                    f"{where}: {error} as the body of status {status}", status
                ) from None
        quoted = wire.shown(content, _LONGEST_QUOTE) if content else "an empty body"
        got = f"{where}: expected status 200 with the answer, got {status} {reply.reason}: {quoted}"
        if status in _TRANSIENT or status >= 500:
            headers = {name.lower(): value for name, value in reply.headers.items()}
            raise TransientError(got, retry_after=retry_after(headers), status=status)
        if 300 <= status < 400 and reply.headers.get("Location"):
            got += f"; name the address it leads to: {reply.headers['Location']}"
        raise HttpError(got, status)


class _Endpoint:
    """The parts of an address, and the way there: straight, or through the proxy of the environment."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        at = (parts.hostname or "") + (f":{port}" if port else "")
        self.shown = without_secrets(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
            raise BenchmarkError(
                f"--agent: expected an address such as http://localhost:8000/answer, "
                f"got {self.shown if '@' in url or '?' in url else url!r}"
            )
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = port or (443 if self._secure else 80)
        self.target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self.headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if parts.username is not None:
            self.headers["Authorization"] = _basic(parts)
        self._proxy = _proxy(parts.scheme, self._host)
        if self._proxy is not None and not self._secure:
            self.target = f"http://{at}{self.target}"  # a proxy is asked for the whole address
            if self._proxy.username is not None:
                self.headers["Proxy-Authorization"] = _basic(self._proxy)

    def connection(self) -> _Connection:
        kind = _SecureConnection if self._secure else _Connection
        if self._proxy is None:
            return kind(self._host, self._port)
        made = kind(self._proxy.hostname or "", self._proxy.port or 80)
        if self._secure:
            known = self._proxy.username is not None
            headers = {"Proxy-Authorization": _basic(self._proxy)} if known else {}
            made.set_tunnel(self._host, self._port, headers)
        return made


def _proxy(scheme: str, host: str) -> urllib.parse.SplitResult | None:
    if _is_here(host) or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    address = proxies.get(scheme) or proxies.get("all")
    if not address:
        return None
    return urllib.parse.urlsplit(address if "://" in address else f"http://{address}")


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _basic(parts: urllib.parse.SplitResult) -> str:
    name, password = (urllib.parse.unquote(part or "") for part in (parts.username, parts.password))
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode("ascii")


def _left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Connection(http.client.HTTPConnection):
    """A connection whose replies keep to a deadline, also where they come byte by byte."""

    deadline: float | None = None

    def getresponse(self) -> http.client.HTTPResponse:
        sock = self.sock
        # http.client has one limit for each read of the socket; ours is for the whole reply.
        self.sock = _Deadlined(sock, self.deadline)
        try:
            return super().getresponse()
        finally:
            if self.sock is not None:  # None where the server closes after its reply
                self.sock = sock


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    pass


class _Deadlined:
    """A socket as a reply is read from it."""

    def __init__(self, sock: socket.socket, deadline: float | None) -> None:
        self._sock = sock
        self._deadline = deadline

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reading(self._sock, self._deadline))

    def close(self) -> None:
        self._sock.close()


class _Reading(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: float | None) -> None:
        # Keeps the socket open until the reply is read, though its connection is closed already.
        self._file = sock.makefile("rb", buffering=0)
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_left(self._deadline))
        count: int | None = self._file.readinto(buffer)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()
