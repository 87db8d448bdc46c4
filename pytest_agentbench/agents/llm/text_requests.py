"""What agents give and get where they ask for a text: messages and options, and the reply's text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_agentbench.base import errors

CHAT = "/chat/completions"
# openai's NOT_GIVEN and omit, which asbench's agents may pass on, are no JSON.
_LEFT_OUT = {"NotGiven", "Omit"}


@dataclass(frozen=True)
class TextRequest:
    """One question: its body, and what is for us and not for the server."""

    body: dict[str, Any]
    own: dict[str, Any]  # defaults, timeout, retries: as Model.exchange takes them

    @property
    def has_tools(self) -> bool:
        """Whether the caller expects the whole reply: tools are called in it, not in its text."""
        return bool(self.body.get("tools"))


def request_of(
    messages: Any, options: dict[str, Any], defaults: Mapping[str, Any] | None = None
) -> TextRequest:
    """A request from what callers give: asbench says ``dialog``, memory modules say ``prompt``."""
    __tracebackhide__ = True
    given = [messages, options.pop("dialog", None), options.pop("prompt", None)]
    asked = next((value for value in given if value is not None), None)
    if isinstance(asked, str):
        asked = [{"role": "user", "content": asked}]
    if (
        not isinstance(asked, (list, tuple))
        or not asked
        or not all(isinstance(m, Mapping) and "role" in m for m in asked)
    ):
        raise TypeError(
            f'expected messages [{{"role": …, "content": …}}], got {errors.shown(asked)}'
        )
    kept = {k: v for k, v in options.items() if v is not None and type(v).__name__ not in _LEFT_OUT}
    own: dict[str, Any] = {n: kept.pop(n) for n in ("timeout", "retries") if n in kept}
    if kept.get("tools"):
        kept.pop("stream", None)  # the reply is handed over as a whole
    body = {"messages": [dict(message) for message in asked], **kept}
    try:
        body = json.loads(json.dumps(body, allow_nan=False))  # no later change of theirs is sent
    except (TypeError, ValueError) as error:
        raise TypeError(f"expected messages and options that JSON can hold, but {error}") from None
    return TextRequest(body, {**own, "defaults": defaults or {}})


def texts_of(body: Mapping[str, Any] | None, chunks: list[dict[str, Any]] | None) -> list[Any]:
    """The text of each choice of a reply or of the events of one; None where a choice has none."""
    if chunks is not None:
        return _joined(chunks)
    choices = (body or {}).get("choices")
    return [_text(choice) for choice in choices] if isinstance(choices, list) else []


def finish_reason(body: Mapping[str, Any] | None, number: int) -> Any:
    """Why the text of a choice ended."""
    choices = (body or {}).get("choices")
    choice = choices[number] if isinstance(choices, list) and number < len(choices) else None
    return choice.get("finish_reason") if isinstance(choice, Mapping) else None


def shown(message: Mapping[str, Any]) -> str:
    """The content of a message as text, parts and all."""
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content)


def _text(choice: Any) -> str | None:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(content, list):  # in parts
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _joined(chunks: list[dict[str, Any]]) -> list[Any]:
    found: dict[int, Any] = {}
    for chunk in chunks:
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, Mapping):
                continue
            number = choice.get("index")
            number = number if isinstance(number, int) else 0
            delta = choice.get("delta")
            said = delta.get("content") if isinstance(delta, Mapping) else None
            found.setdefault(number, None)
            if isinstance(said, str):
                found[number] = (found[number] or "") + said
    return [found[number] for number in sorted(found)]
