"""The HTTP client of endpoint agents and of models: ``POST`` to one address, within a deadline.

It builds on ``http.client``, because it must keep a deadline for the whole exchange, including a server
that sends byte by byte. The libraries have a limit for each read only.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import http.client
import io
import ipaddress
import socket
import time
import urllib.request
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from pytest_agentbench.base.errors import shown

# A kept connection that the server has closed meanwhile: nothing was answered on it.
_STALE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json",
    "User-Agent": "pytest-agentbench",
}


@dataclass(frozen=True)
class Reply:
    """What the server sent; header names are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


class TooLarge(Exception):
    """A reply longer than allowed."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


class WrongLength(http.client.HTTPException):
    """A Content-Length that is no number from 0, or several that differ."""

    def __init__(self, given: str) -> None:
        super().__init__(f"expected one number as Content-Length, got {shown(given)}")


class Endpoint:
    """One address; safe to use from many threads at once.

    Connections stay open for the next request. The proxies of the environment are used, except for
    this machine. A name and password in the address are sent as basic authorization;
    ``authorization`` gives the value of that header instead.
    """

    def __init__(
        self, url: str, largest: int, authorization: Callable[[], str] | None = None
    ) -> None:
        """``largest``: the most bytes that a reply may have."""
        self._url = urlsplit(url)
        self._largest = largest
        self._authorization = authorization
        self._idle: list[_Connection] = []
        weakref.finalize(self, _close, self._idle)

    def post(self, body: bytes, timeout: float | None) -> Reply:
        """The server's reply, whatever its status.

        Raises TimeoutError after ``timeout`` seconds, :class:`TooLarge`, and what ``http.client`` and
        ``ssl`` raise (OSError, HTTPException), without their frames: these hold keys and passwords in
        local variables, which pytest may show.
        """
        __tracebackhide__ = True
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            return self._post(body, deadline)
        except BaseException as error:
            raise error.with_traceback(None) from None

    def close(self) -> None:
        """Closes the connections that wait for another request."""
        _close(self._idle)

    def _post(self, body: bytes, deadline: float | None) -> Reply:
        while True:
            try:
                connection, kept = self._idle.pop(), True
            except IndexError:
                connection, kept = self._connection(), False
            try:
                reply = self._exchange(connection, body, deadline)
            except BaseException as error:
                connection.close()  # half a reply may still be on its way
                if kept and isinstance(error, _STALE):
                    continue
                raise
            if connection.sock is not None:  # None where the server closes after its reply
                self._idle.append(connection)
            return reply

    def _exchange(self, connection: _Connection, body: bytes, deadline: float | None) -> Reply:
        connection.response_class = functools.partial(_Response, deadline)  # type: ignore[assignment]
        if connection.sock is None:
            connection.timeout = _left(deadline)
            connection.connect()
        connection.sock.settimeout(_left(deadline))
        connection.request("POST", connection.target, body, self._headers(connection))
        response = connection.getresponse()
        self._check_length(response)
        content = response.read(self._largest + 1)
        if len(content) > self._largest:
            raise TooLarge(response.status)
        if response.length:
            raise http.client.IncompleteRead(content, response.length)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status, response.reason, headers, content)

    def _check_length(self, response: http.client.HTTPResponse) -> None:
        """Refuses a length that is none: http.client would read until the server closes, perhaps never."""
        given = response.headers.get_all("content-length") or []
        if response.chunked or not given:
            return
        lengths = {length.strip() for one in given for length in one.split(",")}
        length = lengths.pop()
        if lengths or not (length.isascii() and length.isdigit()):
            raise WrongLength(", ".join(given))
        if len(length) > 20 or int(length) > self._largest:
            raise TooLarge(response.status)

    def _headers(self, connection: _Connection) -> dict[str, str]:
        headers = {**_HEADERS, **connection.proxy_headers}
        if self._authorization is not None:
            headers["Authorization"] = self._authorization()
        elif self._url.username is not None:
            headers["Authorization"] = _basic(self._url)
        return headers

    def _connection(self) -> _Connection:
        url = self._url
        host, secure = url.hostname or "", url.scheme == "https"
        kind = _SecureConnection if secure else _Connection
        target = f"{url.path or '/'}{'?' + url.query if url.query else ''}"
        proxy = _proxy(url.scheme, host)
        if proxy is None:
            made = kind(host, url.port or None)
        else:
            made = kind(proxy.hostname or "", proxy.port or 80)
            known = {} if proxy.username is None else {"Proxy-Authorization": _basic(proxy)}
            if secure:
                made.set_tunnel(host, url.port or None, known)
            else:  # a proxy is asked for the whole address
                made.proxy_headers = known
                target = f"http://{url.netloc.rpartition('@')[2]}{target}"
        made.target = target
        return made


def is_address(url: str) -> bool:
    """Whether it is http or https, with a host and a port that is a number."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def _close(connections: list[_Connection]) -> None:
    with contextlib.suppress(IndexError):
        while True:
            connections.pop().close()


def _proxy(scheme: str, host: str) -> SplitResult | None:
    """The proxy that the environment (HTTPS_PROXY, ALL_PROXY, NO_PROXY …) names for a host."""
    if _is_here(host) or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    address = proxies.get(scheme) or proxies.get("all")
    if not address:
        return None
    return urlsplit(address if "://" in address else f"http://{address}")


def _is_here(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _basic(url: SplitResult) -> str:
    name, password = (unquote(part or "") for part in (url.username, url.password))
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode("ascii")


def _left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Connection(http.client.HTTPConnection):
    target: str = "/"
    proxy_headers: Mapping[str, str] = {}


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    pass


class _Response(http.client.HTTPResponse):
    """A reply with a deadline for all of it, also where it comes byte by byte."""

    def __init__(self, deadline: float | None, sock: socket.socket, **options: Any) -> None:
        super().__init__(sock, **options)
        self.fp = io.BufferedReader(_Reading(self.fp.detach(), sock, deadline))


class _Reading(io.RawIOBase):
    def __init__(self, file: io.RawIOBase, sock: socket.socket, deadline: float | None) -> None:
        self._file = file
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
