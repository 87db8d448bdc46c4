"""The public addresses of providers that speak the chat-completions protocol, by asbench's names for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_agentbench.base.errors import shown

# As the providers document them; None where everybody has an address of their own.
ADDRESSES: Mapping[str, str | None] = {
    "openai": "https://api.openai.com/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "qwen": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "zhipuai": "https://open.bigmodel.cn/api/paas/v4",
    "siliconflow": "https://api.siliconflow.cn/v1",
    "volcengine": "https://ark.cn-beijing.volces.com/api/v3",
    "vllm": None,
}


def with_address(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """An entry of ``llm:`` with the address of its ``provider`` in the place of that name.

    >>> with_address({"provider": "deepseek", "model": "m"}, "entry 1")
    {'model': 'm', 'base_url': 'https://api.deepseek.com/v1'}
    """
    entry = dict(given)
    provider = entry.pop("provider", None)
    if provider is None:
        return entry
    name = str(provider).lower()
    if name not in ADDRESSES:
        raise ValueError(
            f"{where}: provider: expected one of {', '.join(ADDRESSES)}; got {shown(provider)}"
        )
    if entry.get("base_url") is None:  # its own address comes first: a proxy, another region
        if ADDRESSES[name] is None:
            raise ValueError(f"{where}: expected the key base_url beside provider {name}, got none")
        entry["base_url"] = ADDRESSES[name]
    return entry
