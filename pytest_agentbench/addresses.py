"""Addresses of servers, as they may be shown."""

from __future__ import annotations

import urllib.parse


def without_secrets(url: str) -> str:
    """An address to be shown: without name, password and query, in which keys are given.

    >>> without_secrets("https://me:word@host:8000/answer?key=k")
    'https://host:8000/answer'
    """
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
