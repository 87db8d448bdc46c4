"""Replies of a server that speaks OpenAI's protocol: data, or a failure and whether to retry."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_agentbench.agents.llm.text_requests import CHAT, shown, texts_of
from pytest_agentbench.agents.retry import is_transient_status, retry_after

if TYPE_CHECKING:
    from pytest_agentbench.agents.http_transport import Reply

Data = dict[str, Any] | list[dict[str, Any]]  # of a reply, or of the events of one

EMBEDDINGS = "/embeddings"
_LONGEST_DETAIL = 300  # characters of the server's own words in an error
_CONFLICT = 409  # with another request: OpenAI asks to try again
# A 429 that no retry cures: the account is empty.
_FINAL_CODES = {"insufficient_quota", "billing_hard_limit_reached"}
_ADVICE = {
    **dict.fromkeys((301, 302, 307, 308), "base_url leads elsewhere; name the place it leads to"),
    **dict.fromkeys((401, 403), "check api_key"),
    404: "check base_url (it ends before /chat/completions) and model",
}


@dataclass(frozen=True)
class Failure:
    """Why there is no answer; ``retry_after`` is in seconds."""

    text: str
    status: int | None
    transient: bool
    retry_after: float | None = None


def failure_of(error: Exception, timeout: float) -> Failure:
    """Why a request got no reply."""
    untrusted = getattr(error, "untrusted", None)
    if untrusted is not None:
        return Failure(f"the certificate was refused: {untrusted}", None, transient=False)
    text = f"no answer within {timeout:g} s" if isinstance(error, TimeoutError) else str(error)
    return Failure(text, None, transient=True)


def refusal_or_data(reply: Reply, clean: Callable[[str], str] = str) -> dict[str, Any] | Failure:
    """The JSON object of a reply. A reply that cannot be read is a transient failure.

    What is quoted of it is made ``clean`` first: it is cut, perhaps in the middle of a key.
    """
    try:
        data = json.loads(reply.body)
    except (ValueError, RecursionError):
        data = None
    error = data.get("error") if isinstance(data, dict) else None
    if not 200 <= reply.status < 300 or error:
        return _refusal(reply, error, clean)
    if not isinstance(data, dict):
        quoted = cut(clean(reply.body.decode("utf-8", "replace")))
        return Failure(f"expected JSON, got {quoted!r}", 200, True)
    return data


def flaw(path: str, asked: Mapping[str, Any], data: Data) -> Failure | None:
    """What is wrong with a reply to what was asked: with what came whole, and is yet no answer."""
    if isinstance(data, list):
        return None if data else Failure("expected events, got none", 200, True)
    if path == CHAT:
        choices = data.get("choices")
        if not isinstance(choices, list) or not choices:
            return Failure(
                f"expected choices in the answer, got {cut(json.dumps(data))}", 200, True
            )
    if path == EMBEDDINGS:
        wanted = asked.get("input")
        rows = data.get("data")
        got = len(rows) if isinstance(rows, list) else 0
        several = isinstance(wanted, list) and any(not isinstance(one, int) for one in wanted)
        expected = len(wanted) if isinstance(wanted, list) and several else 1
        if got != expected:
            return Failure(f"expected {expected} embeddings in data, got {got}", 200, True)
    return None


def ended(path: str, events: list[dict[str, Any]]) -> list[dict[str, Any]] | Failure:
    """The events of a stream without the usual mark at its end, if they say themselves that they are all."""
    if path != CHAT or any(map(_finishes, events)):
        return events
    return Failure(
        "the events of the answer broke off before their end: expected a finish_reason or [DONE], got none",
        200,
        True,
    )


def _finishes(event: Mapping[str, Any]) -> bool:
    choices = event.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, Mapping) and choice.get("finish_reason") for choice in choices
    )


def used(path: str, data: Data) -> tuple[int, int] | None:
    """The tokens that went in and came out, if the server counted them."""
    for one in reversed(data) if isinstance(data, list) else (data,):
        inner = one.get("response")  # the last event of /responses
        counts = one.get("usage") or (inner.get("usage") if isinstance(inner, Mapping) else None)
        if isinstance(counts, Mapping):
            asked = _tokens(counts, "prompt_tokens", "input_tokens")
            said = _tokens(counts, "completion_tokens", "output_tokens")
            if asked is not None and (said is not None or path == EMBEDDINGS):
                return asked, said or 0
    return None


def estimated(asked: Mapping[str, Any], data: Data) -> tuple[int, int]:
    """Tokens, four characters each, where the server did not count them."""
    wanted = asked.get("messages") or asked.get("input") or asked.get("prompt") or ""
    if isinstance(wanted, list) and all(isinstance(one, Mapping) for one in wanted):
        characters = sum(len(shown(message)) for message in wanted)
    else:
        parts = wanted if isinstance(wanted, list) else [wanted]
        characters = sum(len(str(part)) for part in parts)
    said = sum(len(text) for text in said_in(data))
    return -(-characters // 4), -(-said // 4)


def handed_on(asked: Mapping[str, Any], events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events that the agent asked for: not the one with the usage, if only we did."""
    options = asked.get("stream_options")
    if isinstance(options, Mapping) and options.get("include_usage"):
        return events
    return [event for event in events if event.get("choices") != [] or not event.get("usage")]


def said_in(data: Data) -> list[str]:
    """What the model said, for records: texts, and calls of tools as JSON."""
    if isinstance(data, list):
        return [text for text in texts_of(None, data) if text is not None]
    found = []
    texts = texts_of(data, None)
    for number, text in enumerate(texts):
        message = data["choices"][number].get("message") if text is None else None
        calls = message.get("tool_calls") if isinstance(message, Mapping) else None
        if text is not None:
            found.append(text)
        elif calls:
            found.append(json.dumps(calls))
    return found


def _refusal(reply: Reply, error: Any, clean: Callable[[str], str]) -> Failure:
    status, code, detail = reply.status, None, None
    if isinstance(error, Mapping):
        code, detail = error.get("code"), error.get("message")
        if status == 200 and isinstance(code, int):
            status = code  # some gateways put the status there and say 200
    if not isinstance(detail, str):
        detail = error if isinstance(error, str) else reply.body.decode("utf-8", "replace")
    advice = _ADVICE.get(status)
    text = f"HTTP {status}: {cut(clean(detail))}{f'; {advice}' if advice else ''}"
    passes = is_transient_status(status) or status in (200, _CONFLICT)
    transient = passes and (code not in _FINAL_CODES if isinstance(code, str) else True)
    return Failure(text, status, transient, retry_after(reply.headers) if transient else None)


def _tokens(counts: Mapping[str, Any], *names: str) -> int | None:
    """A count of tokens, if the server gave one."""
    for name in names:
        value = counts.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def cut(text: str) -> str:
    """A text for an error, in one line and short."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_DETAIL else f"{text[:_LONGEST_DETAIL]}…"
