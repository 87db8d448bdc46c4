"""Replies of a chat-completions server: an answer, or a failure and whether to retry."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_agentbench.agents.http_client import Reply, TooLarge
from pytest_agentbench.agents.retry import is_transient_status, retry_after

_LONGEST_DETAIL = 300  # characters of the server's own words in an error
_CONFLICT = 409  # with another request: OpenAI asks to try again
# A 429 that no retry cures: the account is empty.
_FINAL_CODES = {"insufficient_quota", "billing_hard_limit_reached"}
_ADVICE = {
    **dict.fromkeys((301, 302, 307, 308), "base_url leads elsewhere; name the place it leads to"),
    **dict.fromkeys((401, 403), "check api_key"),
    404: "check base_url (it ends before /chat/completions) and model",
}
_BROKEN = {
    http.client.RemoteDisconnected: "the server closed the connection without an answer",
    http.client.IncompleteRead: "the answer broke off before its end",
    TooLarge: "the answer is too long",
}


@dataclass(frozen=True)
class Answer:
    """The texts of all choices (or the vectors of texts), and the tokens if the server counted them."""

    texts: list[Any]
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True)
class Failure:
    """Why there is no answer; ``retry_after`` is in seconds."""

    text: str
    status: int | None
    transient: bool
    retry_after: float | None = None


def failure_of(error: Exception, timeout: float) -> Failure:
    """Why a request got no reply."""
    if isinstance(error, ssl.SSLCertVerificationError):
        text = f"the certificate was refused: {error.verify_message}"
        return Failure(text, None, transient=False)
    if isinstance(error, TimeoutError):
        text = f"no answer within {timeout:g} s"
    else:
        text = _BROKEN.get(type(error)) or f"{type(error).__name__}: {error}"
    return Failure(text, None, transient=True)


def refusal_or_data(reply: Reply) -> Mapping[str, Any] | Failure:
    """The JSON object of a reply. A reply that cannot be read is a transient failure."""
    try:
        data = json.loads(reply.body)
    except (ValueError, RecursionError):
        data = None
    error = data.get("error") if isinstance(data, Mapping) else None
    if reply.status != 200 or error:
        return _refusal(reply, error)
    if not isinstance(data, Mapping):
        shown = _cut(reply.body.decode("utf-8", "replace"))
        return Failure(f"expected JSON, got {shown!r}", 200, True)
    return data


def read(reply: Reply) -> Answer | Failure:
    """The answer in a reply."""
    data = refusal_or_data(reply)
    if isinstance(data, Failure):
        return data
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        return Failure(f"expected choices in the answer, got {_cut(json.dumps(data))}", 200, True)
    texts = [_text(choice) for choice in choices]
    if None in texts:
        reason = choices[texts.index(None)]
        reason = reason.get("finish_reason") if isinstance(reason, Mapping) else None
        return Failure(
            f"expected a text in message.content, got none (finish_reason {reason!r}); where that "
            f"is 'length', max_tokens is too small",
            200,
            False,
        )
    usage = data.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    return Answer(
        [text for text in texts if text is not None],
        tokens(usage.get("prompt_tokens")),
        tokens(usage.get("completion_tokens")),
    )


def _refusal(reply: Reply, error: Any) -> Failure:
    status, code, detail = reply.status, None, None
    if isinstance(error, Mapping):
        code, detail = error.get("code"), error.get("message")
        if status == 200 and isinstance(code, int):
            status = code  # some gateways put the status there and say 200
    if not isinstance(detail, str):
        detail = error if isinstance(error, str) else reply.body.decode("utf-8", "replace")
    advice = _ADVICE.get(status)
    text = f"HTTP {status}: {_cut(detail)}{f'; {advice}' if advice else ''}"
    passes = is_transient_status(status) or status in (200, _CONFLICT)
    transient = passes and (code not in _FINAL_CODES if isinstance(code, str) else True)
    return Failure(text, status, transient, retry_after(reply.headers) if transient else None)


def _text(choice: Any) -> str | None:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list):  # in parts
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def tokens(value: Any) -> int | None:
    """A count of tokens, if the server gave one."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return None


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_DETAIL else f"{text[:_LONGEST_DETAIL]}…"
