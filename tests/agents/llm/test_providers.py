"""Names of providers stand for their public addresses."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.llm.entries import DEFAULT_URL, parse_llm
from pytest_agentbench.agents.llm.providers import ADDRESSES

# Each from the provider's own documentation of its OpenAI-compatible interface.
DOCUMENTED = {
    "openai": "https://api.openai.com/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "qwen": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "zhipuai": "https://open.bigmodel.cn/api/paas/v4",
    "siliconflow": "https://api.siliconflow.cn/v1",
    "volcengine": "https://ark.cn-beijing.volces.com/api/v3",
}


def test_all_providers_of_asbench_are_known():
    assert set(ADDRESSES) == {*DOCUMENTED, "vllm"}
    assert DOCUMENTED["openai"] == DEFAULT_URL


@pytest.mark.parametrize(("provider", "address"), DOCUMENTED.items())
def test_a_provider_has_its_documented_address_unless_the_entry_has_another(provider, address):
    (entry,) = parse_llm({"provider": provider.upper(), "model": "m", "api_key": "${KEY}"})
    assert (entry.base_url, entry.model) == (address, "m")
    (entry,) = parse_llm({"provider": provider, "model": "m", "base_url": "http://localhost:1/v1"})
    assert entry.base_url == "http://localhost:1/v1"


def test_a_server_of_ones_own_needs_its_address():
    with pytest.raises(ValueError, match="entry 1: expected the key base_url beside provider vllm"):
        parse_llm([{"provider": "vllm", "model": "m"}])


def test_an_unknown_provider_is_refused_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"provider: expected one of openai, .*got 'opneai'"):
        parse_llm([{"provider": "opneai", "model": "m"}])
