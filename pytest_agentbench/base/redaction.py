"""Secrets: how they are recognised in addresses, commands and environments, and taken out of texts."""

from __future__ import annotations

import base64
import contextlib
import json
import re
import shlex
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Any

HIDDEN = "***"
# A shorter one stands in ordinary texts, too: "me" in "name".
SHORTEST = 6

_NAMES = re.compile(
    r"(?i)(api.?key|key$|token|secret|passw|pwd$|credential|authorization|(?:^|[-_.])auth$|bearer)"
)
# Keys of well-known services, by how they begin.
_KEYS = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{12,}|\bhf_\w{12,}|\bgh[pousr]_\w{12,}|\bAKIA[A-Z0-9]{12,}"
)
_ADDRESS = re.compile(r"https?://[^\s\"'<>]+")
_HEADER = re.compile(
    r"(?i)^[\w-]*(?:authorization|key|token|secret)[\w-]*\s*:\s*(?:(?:bearer|basic|token)\s+)?(.+)$"
)


def is_secret_name(name: str) -> bool:
    """Whether a variable, option or key of this name holds a secret.

    >>> [is_secret_name(name) for name in ("OPENAI_API_KEY", "--token", "--auth", "KEYMAP", "author")]
    [True, True, True, False, False]
    """
    return _NAMES.search(name) is not None


class Secrets:
    """What must not leave a run, in the forms in which a text may hold it."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret)}
        # The longest first: one may be a part of another.
        longest = sorted(forms, key=len, reverse=True)
        # In any case: some servers echo headers in capitals.
        self._pattern = (
            re.compile("|".join(map(re.escape, longest)), re.IGNORECASE) if longest else None
        )

    def __bool__(self) -> bool:
        return self._pattern is not None

    def cleaned(self, text: str) -> str:
        """The text with ``***`` in place of every secret."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def cleaned_bytes(self, data: bytes) -> bytes:
        """The same for the bytes of a text, before they are parsed or cut."""
        if self._pattern is None:
            return data
        text = data.decode("utf-8", "surrogateescape")
        return self.cleaned(text).encode("utf-8", "surrogateescape")

    def cleaned_json(self, value: Any) -> Any:
        """Lists, dicts and texts likewise, keys too; the value itself if it holds none."""
        if self._pattern is None or type(value) not in (str, list, dict):
            return value
        if isinstance(value, str):
            return self.cleaned(value)
        try:
            whole = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):  # not ours to judge here
            whole = None
        if whole is not None and not self._pattern.search(whole):
            return value
        return self._rebuilt(value)

    def _rebuilt(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.cleaned(value)
        if isinstance(value, dict):
            return {self._rebuilt(key): self._rebuilt(item) for key, item in value.items()}
        return [self._rebuilt(item) for item in value] if isinstance(value, list) else value


NO_SECRETS = Secrets()


def _forms(secret: str) -> set[str]:
    """A secret as itself, in a URL, in JSON and in Base64; nothing that is too short."""
    data = secret.encode("utf-8", "surrogatepass")
    forms = {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
    }
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(data).decode("ascii")
        forms |= {text, text.rstrip("=")}
    with contextlib.suppress(UnicodeEncodeError):
        forms |= {
            urllib.parse.quote(secret),
            urllib.parse.quote(secret, safe=""),
            urllib.parse.quote_plus(secret),
        }
    return {form for form in forms if len(form) >= SHORTEST} if len(secret) >= SHORTEST else set()


def looks_random(value: str) -> bool:
    """Whether a value looks like a key rather than a word: ``mode=review`` in a query is no secret.

    >>> looks_random("a8f5f167f44f4964"), looks_random("recommendation"), looks_random("2026-11-16")
    (True, False, False)
    """
    letters, digits = re.search("[A-Za-z]", value), re.search("[0-9]", value)
    return len(value) >= 12 and letters is not None and digits is not None and " " not in value


def in_address(url: str) -> set[str]:
    """The secrets in an address: its password, user and password together, keys in its query.

    A user without a password is a key itself.
    """
    try:
        parts = urllib.parse.urlsplit(url)
        name, password = parts.username, parts.password
    except ValueError:
        return set()
    found = set()
    if name is not None:
        pair = parts.netloc.rpartition("@")[0]
        for text in (pair, password or name):
            found |= {text, urllib.parse.unquote(text)}
    if parts.query:
        found.add(parts.query)
    for part in parts.query.split("&"):
        key, equals, value = part.partition("=")
        value = value if equals else key
        if is_secret_name(key) or looks_random(value):
            found |= {value, urllib.parse.unquote_plus(value)}
    return found


def in_command(command: str) -> set[str]:
    """The secrets in a command line: ``--api-key K``, ``--token=K``, ``KEY=K``, headers, addresses."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    found = {key for word in words for key in _KEYS.findall(word)}
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if equals and is_secret_name(name):
            found.add(value)
        elif not equals and word.startswith("-") and is_secret_name(word):
            found.add("" if following.startswith("-") else following)
        if header := _HEADER.match(word):
            found.add(header[1])
        for address in _ADDRESS.findall(word):
            found |= in_address(address)
    return found - {""}


def command_shown(command: str) -> str:
    """A command line for people and files."""
    return Secrets(in_command(command)).cleaned(command)


def in_environment(environment: Mapping[str, str]) -> set[str]:
    """The values of variables that are called a secret, unless they are a path, a number or a mere word.

    >>> in_environment({"MAX_TOKENS": "100000", "TOKENIZERS_PARALLELISM": "false", "X_KEY": "k3y-0f-x"})
    {'k3y-0f-x'}
    """
    return {
        value
        for name, value in environment.items()
        if is_secret_name(name)
        and not (value.startswith(("/", ".")) or value.isalpha() or value.isdigit())
    }


def in_parameters(value: Any) -> set[str]:
    """The texts under keys that are called a secret, however deep."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting += one.values()
            found |= {v for k, v in one.items() if isinstance(v, str) and is_secret_name(str(k))}
        elif isinstance(one, (list, tuple)):
            waiting += one
    return found
