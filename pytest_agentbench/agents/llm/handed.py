"""The environment variables that lead an OpenAI-compatible client to the proxy, in this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping

_lock = threading.Lock()
_in_force: Mapping[str, str] | None = None
_before: dict[str, str | None] = {}


def variables(base_url: str, token: str) -> dict[str, str]:
    """What a client reads: the ``openai`` package the first name, LangChain and LiteLLM the second, too."""
    return {
        "OPENAI_BASE_URL": base_url,
        "OPENAI_API_BASE": base_url,
        "OPENAI_API_KEY": token,
        **_reached_directly(),
    }


def use(given: Mapping[str, str] | None) -> None:
    """Puts these variables in the place of those that :func:`use` put there before; None restores all."""
    global _in_force
    if given is _in_force:
        return
    with _lock:
        for name, value in _before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _before.clear()
        for name, value in (given or {}).items():
            _before[name] = os.environ.get(name)
            os.environ[name] = value
        _in_force = given


def _reached_directly() -> dict[str, str]:
    """This machine is reached without the proxies of HTTP_PROXY and its like, where there are any."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return {}
    listed = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    hosts = ",".join(filter(None, [listed, "127.0.0.1"]))
    return {"NO_PROXY": hosts, "no_proxy": hosts}
