"""Our rules for HTTP requests, below a client of ``httpx2``: for endpoint agents and for models alike.

A reply is bounded, not compressed, and no redirection is followed. The proxies of the environment are used,
except for this machine. Keys and passwords are added here, so that no client, log line or error knows them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ipaddress
import ssl
import urllib.request
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

import httpx2

from pytest_agentbench.agents import http_loop

Result = TypeVar("Result")

OWN_HEADERS = "x-agentbench-"  # how the names of our own begin
# What a request needs; clients add more, such as the machine that they run on.
_SENT = {"accept", "content-length", "content-type", "host", "transfer-encoding"}
_KEPT_SECONDS = 60.0  # in which an idle connection may be used again
# On a connection that was kept: the server has closed it meanwhile, and answered nothing.
_STALE = (httpx2.ReadError, httpx2.RemoteProtocolError, httpx2.WriteError)

READ = "agentbench_read"  # the extension of a response that has what was read of it
_END = 64  # bytes


@dataclass(frozen=True)
class Reply:
    """What the server sent; header names are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes

    @classmethod
    def of(cls, response: httpx2.Response) -> Reply:
        """A response that has been read."""
        headers = {name.lower(): value for name, value in response.headers.multi_items()}
        return cls(response.status_code, response.reason_phrase, headers, response.content)


class TooLarge(Exception):
    """A reply longer than allowed."""

    def __init__(self, status: int) -> None:
        super().__init__("the answer is too long")
        self.status = status


class NoReply(Exception):
    """No whole reply came; ``untrusted`` says what is wrong with the server's certificate, if that is why."""

    def __init__(self, text: str, untrusted: str | None = None) -> None:
        super().__init__(text)
        self.untrusted = untrusted


class Endpoint:
    """One address that is posted to; safe to use from many threads at once.

    Connections stay open for the next request. A name and password in the address are sent as basic
    authorization.
    """

    def __init__(self, url: str, largest: int) -> None:
        """``largest``: the most bytes that a reply may have."""
        parts = urlsplit(url)
        self._address = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
        basic = None if parts.username is None else _basic(parts)
        self._transport = Transport(url, largest, None if basic is None else lambda: basic)
        self._clients: dict[asyncio.AbstractEventLoop, httpx2.AsyncClient] = {}

    def post(
        self, body: bytes, timeout: float | None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """The server's reply, whatever its status. ``headers`` are some of our own.

        Raises TimeoutError after ``timeout`` seconds, :class:`TooLarge` and :class:`NoReply`.
        """
        __tracebackhide__ = True
        return http_loop.wait(within(self._post(body, headers or {}), timeout))

    def close(self) -> None:
        """Closes the connections that wait for another request."""
        self._transport.close()

    async def _post(self, body: bytes, own: Mapping[str, str]) -> Reply:
        with replying():
            loop = asyncio.get_running_loop()
            client = self._clients.get(loop)
            if client is None:
                client = self._clients[loop] = self._transport.client()
            headers = {"Content-Type": "application/json", "Accept": "application/json", **own}
            return Reply.of(await client.post(self._address, content=body, headers=headers))


class Transport(httpx2.AsyncBaseTransport):
    """What clients send their requests by; all of them go to the host of one address."""

    def __init__(
        self, url: str, largest: int, authorization: Callable[[], str] | None = None
    ) -> None:
        """``url``: its query is added to every request. ``authorization``: the value of that header."""
        self._url = urlsplit(url)
        self._largest = largest
        self._authorization = authorization
        # Connections belong to a loop; after a fork there is another.
        self._inner: dict[asyncio.AbstractEventLoop, httpx2.AsyncHTTPTransport] = {}
        weakref.finalize(self, _leave, self._inner).atexit = False

    def client(self) -> httpx2.AsyncClient:
        """A client of httpx2 that sends by this transport; deadlines are its caller's."""
        return httpx2.AsyncClient(transport=self, timeout=None, follow_redirects=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, not yet read; one that is too long or compressed is refused."""
        headers = [(name, value) for name, value in request.headers.raw if _is_sent(name)]
        sent = httpx2.Headers(headers)
        sent["Accept-Encoding"] = "identity"
        sent["User-Agent"] = "pytest-agentbench"
        if self._authorization is not None:
            sent["Authorization"] = self._authorization()
        query = self._url.query.encode()
        url = request.url.copy_with(query=query) if query else request.url
        response = await self._sent(httpx2.Request(
            request.method, url, headers=sent, stream=request.stream, extensions=request.extensions
        ))  # fmt: skip
        try:
            self._check(response)
        except BaseException:
            await response.aclose()
            raise
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        bounded = response.stream = _Bounded(stream, self._largest, response.status_code)
        response.extensions[READ] = bounded
        return response

    async def aclose(self) -> None:
        """Nothing: connections outlive a client, and end with :meth:`close`."""

    def close(self) -> None:
        """Closes the connections that wait for another request."""
        while self._inner:
            loop, transport = self._inner.popitem()
            if loop is http_loop.loop():
                with contextlib.suppress(Exception):
                    http_loop.wait(within(transport.aclose(), 5.0))

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        loop = asyncio.get_running_loop()
        inner = self._inner.get(loop)
        if inner is None:
            inner = self._inner[loop] = self._made()
        while True:
            connected: list[str] = []

            async def trace(event: str, _: Any, connected: list[str] = connected) -> None:
                if event.endswith("connect_tcp.started"):
                    connected.append(event)

            request.extensions = {**request.extensions, "trace": trace}
            try:
                return await inner.handle_async_request(request)
            except _STALE:
                if connected:
                    raise

    def _made(self) -> httpx2.AsyncHTTPTransport:
        proxy = _proxy(self._url.scheme, self._url.hostname or "")
        secure = "https" in (self._url.scheme, None if proxy is None else proxy.partition(":")[0])
        # To read the authorities takes 20 ms. SSL_CERT_FILE names others.
        verify = True if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        limits = httpx2.Limits(
            max_connections=None, max_keepalive_connections=None, keepalive_expiry=_KEPT_SECONDS
        )
        return httpx2.AsyncHTTPTransport(verify=verify, limits=limits, proxy=proxy)

    def _check(self, response: httpx2.Response) -> None:
        encoding = response.headers.get("content-encoding", "identity")
        if encoding.strip().lower() not in ("", "identity"):
            raise NoReply(
                f"expected an answer that is not compressed (Accept-Encoding: identity), got "
                f"Content-Encoding: {encoding[:50]}"
            )
        length = response.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length) > self._largest:
            raise TooLarge(response.status_code)


class _Bounded(httpx2.AsyncByteStream):
    """The bytes of a reply, counted as they come; ``end`` has the last of them."""

    end = b""

    def __init__(self, stream: httpx2.AsyncByteStream, largest: int, status: int) -> None:
        self._stream = stream
        self._largest = largest
        self._status = status

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for part in self._stream:
            count += len(part)
            if count > self._largest:
                raise TooLarge(self._status)
            self.end = (self.end + part)[-_END:]
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _leave(inner: dict[asyncio.AbstractEventLoop, httpx2.AsyncHTTPTransport]) -> None:
    """Closes the connections of a transport that nobody uses any more, without waiting for it."""
    while inner:
        loop, transport = inner.popitem()
        with contextlib.suppress(RuntimeError):
            asyncio.run_coroutine_threadsafe(transport.aclose(), loop)


async def within(coroutine: Coroutine[Any, Any, Result], timeout: float | None) -> Result:
    """The result of a coroutine; TimeoutError if that takes longer, also where bytes come one by one."""
    try:
        return await asyncio.wait_for(coroutine, timeout)
    except asyncio.TimeoutError:  # Python's own TimeoutError from 3.11 on
        raise TimeoutError from None


@contextlib.contextmanager
def replying() -> Iterator[None]:
    """Within it, what the library raises because no reply came is a :class:`NoReply`."""
    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise no_reply(error) from None


def no_reply(error: BaseException) -> NoReply:
    """Why no reply came: what the system said, where the library only says that it failed."""
    found = _causes(error)
    for one in found:
        if isinstance(one, ssl.SSLCertVerificationError):
            return NoReply(str(one), untrusted=one.verify_message)
    system = (one for one in found if isinstance(one, OSError) and one.errno is not None)
    said = next(system, error)
    return NoReply(f"{type(said).__name__}: {said}")


def _causes(error: BaseException) -> list[BaseException]:
    """The error, what led to it, and what led to that."""
    found = [error]
    for one in found:
        further = [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
        found += [f for f in further if f is not None and all(f is not other for other in found)]
    return found


def _is_sent(name: bytes) -> bool:
    text = name.decode("latin-1").lower()
    return text in _SENT or text.startswith(OWN_HEADERS)


def _proxy(scheme: str, host: str) -> str | None:
    """The proxy that the environment (HTTPS_PROXY, ALL_PROXY, NO_PROXY …) names for a host."""
    if is_here(host) or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    address = proxies.get(scheme) or proxies.get("all")
    if not address:
        return None
    return address if "://" in address else f"http://{address}"


def is_here(host: str) -> bool:
    """Whether a host is this machine, by its name alone."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _basic(url: SplitResult) -> str:
    name, password = (unquote(part or "") for part in (url.username, url.password))
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode("ascii")
