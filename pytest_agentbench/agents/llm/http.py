"""One POST after another to one HTTP endpoint, over connections that stay open, within a deadline.

The standard library does it: no dependency, a limit for the whole request rather than for each read,
and no frame of another library whose local variables hold the key.
"""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import time
import urllib.request
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from pytest_agentbench.agents.llm.entries import Secret

_LARGEST = 32 * 2**20  # bytes of an answer
_AT_ONCE = 2**16
# A kept connection that the server has closed meanwhile: nothing was answered on it.
_STALE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


@dataclass(frozen=True)
class Reply:
    """What the server sent; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class NoReply:
    """Why there is none."""

    reason: str
    transient: bool = True


class Endpoint:
    """``POST url`` with a bearer token; safe to use from many threads at once."""

    def __init__(self, url: str, token: Secret | None) -> None:
        self._parts = urlsplit(url)
        self._token = token
        self._idle: list[http.client.HTTPConnection] = []
        weakref.finalize(self, _close, self._idle)

    def post(self, body: bytes, timeout: float) -> Reply | NoReply:
        """The server's reply, whatever its status, or why there is none within ``timeout`` seconds."""
        __tracebackhide__ = True
        try:
            return self._post(body, time.monotonic() + timeout)
        except ssl.SSLCertVerificationError as error:
            return NoReply(f"the certificate was refused: {error.verify_message}", transient=False)
        except TimeoutError:
            return NoReply(f"no answer within {timeout:g} s")
        except (OSError, http.client.HTTPException) as error:
            return NoReply(_said(error))
        except BaseException as error:
            # The frames below hold the key in their local variables, which pytest may show.
            raise error.with_traceback(None) from None

    def close(self) -> None:
        """Closes the connections that wait for another request."""
        _close(self._idle)

    def _post(self, body: bytes, deadline: float) -> Reply:
        while True:
            try:
                connection, kept = self._idle.pop(), True
            except IndexError:
                connection, kept = self._connection(), False
            try:
                reply, keep = self._exchange(connection, body, deadline)
            except BaseException as error:
                connection.close()
                if kept and isinstance(error, _STALE):
                    continue
                raise
            if keep:
                self._idle.append(connection)
            else:
                connection.close()
            return reply

    def _exchange(
        self, connection: http.client.HTTPConnection, body: bytes, deadline: float
    ) -> tuple[Reply, bool]:
        if connection.sock is None:
            connection.timeout = _left(deadline)
            connection.connect()  # which sets TCP_NODELAY
        line = connection.sock  # a response that ends the connection takes it away
        line.settimeout(_left(deadline))
        connection.request("POST", self._target(), body, self._headers())
        line.settimeout(_left(deadline))
        response = connection.getresponse()
        try:
            content = _content(response, line, deadline)
        finally:
            response.close()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status, headers, content), not response.will_close

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "pytest-agentbench",
        }
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token.reveal()}"
        if self._parts.scheme == "http":
            headers.update(_authorization(self._proxy()))
        return headers

    def _target(self) -> str:
        parts = self._parts
        if parts.scheme == "http" and self._proxy():
            return parts.geturl()
        return f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"

    def _proxy(self) -> str | None:
        """The proxy that the environment (HTTPS_PROXY, NO_PROXY …) names for this endpoint."""
        proxy = urllib.request.getproxies().get(self._parts.scheme)
        host = self._parts.hostname or ""
        return None if not proxy or urllib.request.proxy_bypass(host) else proxy

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        proxy = self._proxy()
        if proxy is None:
            if self._parts.scheme == "http":
                return http.client.HTTPConnection(host, port)
            return http.client.HTTPSConnection(host, port, context=ssl.create_default_context())
        via = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(via.hostname or "", via.port)
        tunnel = http.client.HTTPSConnection(
            via.hostname or "", via.port, context=ssl.create_default_context()
        )
        tunnel.set_tunnel(host, port, _authorization(proxy))
        return tunnel


def _close(connections: list[http.client.HTTPConnection]) -> None:
    while connections:
        connections.pop().close()


def _authorization(proxy: str | None) -> dict[str, str]:
    via = urlsplit(proxy or "")
    if via.username is None:
        return {}
    plain = f"{unquote(via.username)}:{unquote(via.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(plain.encode()).decode()}"}


def _content(response: http.client.HTTPResponse, line: socket.socket, deadline: float) -> bytes:
    """The body, read as it comes, so that a server which trickles cannot outlast the deadline."""
    # Counted here: Pythons before 3.12.2 do not count what read1 has taken off the length.
    length = None if response.chunked else response.length
    parts: list[bytes] = []
    size = 0
    while length is None or size < length:
        line.settimeout(_left(deadline))
        part = response.read1(_AT_ONCE if length is None else min(_AT_ONCE, length - size))
        if not part:
            if length is not None:
                raise http.client.IncompleteRead(b"".join(parts), length - size)
            break
        parts.append(part)
        size += len(part)
        if size > _LARGEST:
            raise http.client.HTTPException(f"more than {_LARGEST} bytes")
    return b"".join(parts)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _said(error: Exception) -> str:
    if isinstance(error, http.client.RemoteDisconnected):
        return "the server closed the connection without an answer"
    if isinstance(error, http.client.IncompleteRead):
        return "the answer broke off before its end"
    return f"{type(error).__name__}: {error}"
