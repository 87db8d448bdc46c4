"""An agent behind an HTTP endpoint: ``--agent http://localhost:8000/answer``.

Each question is a POST with the context as its JSON body; the answer is the JSON body of a 2xx reply.
An endpoint cannot call the tools of a context: they arrive as null, or as their data.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_agentbench.agents.errors import AgentTimeout, TransientError
from pytest_agentbench.agents.http_transport import (
    Endpoint,
    NoReply,
    Reply,
    TooLarge,
    is_here,
)
from pytest_agentbench.agents.process import wire
from pytest_agentbench.agents.retry import is_transient_status, retry_after
from pytest_agentbench.agents.specs import is_address
from pytest_agentbench.agents.usage import CURRENT
from pytest_agentbench.base.errors import BenchmarkError, without_secrets
from pytest_agentbench.base.redaction import Secrets, in_address

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.proxy import Proxy

_LONGEST_QUOTE = 500
_LONGEST_LOOK = 5.0  # seconds that a connection may take before the first sample


class HttpError(Exception):
    """A reply that is no answer and will not become one by asking again."""

    transient = False

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


class HttpAgent:
    """Asks an endpoint, over connections that are kept: one for each call that is under way at once."""

    def __init__(self, url: str, timeout: float | None = None, proxy: Proxy | None = None) -> None:
        """``proxy``: told to the endpoint with each question, if the endpoint is on this machine."""
        self.name = without_secrets(url)  # the address, for people and files
        if not is_address(url):
            raise BenchmarkError(
                f"--agent: expected an address such as http://localhost:8000/answer, "
                f"got {self.name if '@' in url or '?' in url else url!r}"
            )
        self._url = url
        self._endpoint = Endpoint(url, wire.LARGEST)
        self._secrets = Secrets(in_address(url))
        self._timeout = timeout
        self._proxy = proxy if is_here(urlsplit(url).hostname or "") else None

    def check(self) -> None:
        """:class:`BenchmarkError` if nobody listens at the address. Nothing is sent.

        Behind a proxy of the environment, which would have to be asked, it is not tried.
        """
        import socket
        from urllib.parse import urlsplit
        from urllib.request import getproxies, proxy_bypass

        url = urlsplit(self._url)
        host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        proxies = getproxies()
        if (url.scheme in proxies or "all" in proxies) and not proxy_bypass(host):
            return
        try:
            socket.create_connection((host, port), timeout=_LONGEST_LOOK).close()
        except OSError as error:
            raise BenchmarkError(
                f"--agent: expected an endpoint that can be reached at {self.name}, got "
                f"{type(error).__name__}: {error}; start it first, or correct the address"
            ) from None

    @property
    def last_output(self) -> tuple[str, str]:
        """Nothing: what an endpoint prints stays where it runs."""
        return "", ""

    @property
    def digest(self) -> str:
        """The digest of the address. The program behind it may change unnoticed."""
        return hashlib.sha256(self._url.encode()).hexdigest()

    def __call__(self, context: Any, timeout: float | None = None) -> Any:
        """The endpoint's answer.

        Raises :class:`TransientError` for 429, 5xx and lost connections, :class:`HttpError` for every
        other reply, :class:`AgentTimeout`.
        """
        __tracebackhide__ = True
        limit = self._timeout if timeout is None else timeout
        body = wire.encoded(wire.split(context)[0])
        where = f"POST {self.name}"
        try:
            reply = self._posted(body, limit)
        except TimeoutError:
            raise AgentTimeout(f"no answer within {limit:g} s") from None
        except TooLarge as error:
            raise HttpError(
                f"{where}: expected an answer of at most {wire.LARGEST} bytes, got a longer one",
                error.status,
            ) from None
        except NoReply as error:
            if error.untrusted is not None:
                raise HttpError(
                    f"{where}: expected a certificate that can be trusted, got {error.untrusted}; "
                    f"SSL_CERT_FILE names a file with further authorities",
                    None,
                ) from None
            raise TransientError(f"{where}: expected a reply, got {error}") from None
        return self._answer(reply)

    def close(self) -> None:
        """Closes the connections that are kept."""
        self._endpoint.close()

    def _posted(self, body: bytes, timeout: float | None) -> Reply:
        __tracebackhide__ = True
        if self._proxy is None:
            return self._endpoint.post(body, timeout)
        key = self._proxy.keys.new(CURRENT.get())
        try:
            return self._endpoint.post(body, timeout, self._proxy.headers(key))
        finally:
            self._proxy.keys.revoke(key)

    def _answer(self, reply: Reply) -> Any:
        where = f"POST {self.name}"
        status = reply.status
        body = self._secrets.cleaned_bytes(reply.body)  # before any of it is cut and quoted
        if 200 <= status < 300:
            try:
                return wire.decoded(body)
            except wire.Garbled as error:
                raise HttpError(
                    f"{where}: {error} as the body of status {status}", status
                ) from None
        quoted = wire.shown(body, _LONGEST_QUOTE) if body else "an empty body"
        reason = self._secrets.cleaned(reply.reason)[:_LONGEST_QUOTE]
        got = f"{where}: expected status 200 with the answer, got {status} {reason}: {quoted}"
        if is_transient_status(status):
            raise TransientError(got, retry_after=retry_after(reply.headers), status=status)
        if 300 <= status < 400 and reply.headers.get("location"):
            place = self._secrets.cleaned(reply.headers["location"])[:_LONGEST_QUOTE]
            got += f"; name the address it leads to: {place}"
        raise HttpError(got, status)
