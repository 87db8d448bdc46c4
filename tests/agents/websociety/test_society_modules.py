"""What the published imports find."""

from __future__ import annotations

import logging

from pytest_agentbench.agents.llm.calls import Model, configured_as
from pytest_agentbench.agents.websociety import society_modules
from pytest_agentbench.agents.websociety.models import LLMBase


def test_every_module_is_in_a_package_that_is_there():
    for name in society_modules.MODULES:
        above = name.rpartition(".")[0]
        assert not above or above in society_modules.MODULES


def test_the_modules_have_their_published_names():
    modules = society_modules.MODULES["websocietysimulator.agent.modules"]
    for kinds, names in {
        "Planning": "Base IO DEPS TD Voyager OPENAGI HUGGINGGPT",
        "Reasoning": "Base IO COT COTSC TOT SelfRefine StepBack DILU",
        "Memory": "Base DILU Generative TP Voyager",
        "ToolUse": "Base IO AnyTool ToolBench ToolBenchFormer ToolFormer",
    }.items():
        assert {f"{kinds}{name}" for name in names.split()} <= modules.keys()
    assert modules["tooluse_pool"] == {}
    logger = society_modules.MODULES["websocietysimulator.simulator"]["logger"]
    assert logger is logging.getLogger("websocietysimulator")


def test_models_and_embeddings_of_other_providers_are_the_configured_ones():
    class Embedding(Model):
        def embeddings(self, texts):
            return [[2.0]] * len(texts)

    claude = society_modules.further("websocietysimulator.llm", "ClaudeLLM")
    assert issubclass(claude, LLMBase)
    assert claude(api_key="k", model="m").model == "m"
    qwen = society_modules.further("websocietysimulator.llm.llm", "QwenEmbeddings")
    with configured_as(Embedding()):
        assert qwen(api_key="k").embed_query("x") == [2.0]
    assert society_modules.further("websocietysimulator.llm", "Other") is None
    assert society_modules.further("websocietysimulator.tools", "XLLM") is None
