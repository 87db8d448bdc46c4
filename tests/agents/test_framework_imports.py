"""Agents of other frameworks can be imported, and nobody else notices."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys

import pytest

from pytest_agentbench.agents import framework_imports
from pytest_agentbench.agents.asbench.asbench_modules import MODULES as OF_ASBENCH
from pytest_agentbench.agents.asbench.toolbox import Toolbox
from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.framework_imports import available
from pytest_agentbench.agents.websociety.society_modules import MODULES as OF_WEBSOCIETY

ROOTS = ("agentsociety", "agentsociety_benchmark", "websocietysimulator")


@pytest.fixture
def agent_file(tmp_path):
    def load(code):
        path = tmp_path / "agent.py"
        path.write_text(code, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("agent_under_test", path)
        module = importlib.util.module_from_spec(spec)
        with available():
            spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize(
    "line",
    [
        "from agentsociety.agent import IndividualAgentBase",
        "from agentsociety.agent import AgentToolbox, CustomTool, CitizenAgentBase, MemoryAttribute",
        "from agentsociety.agent import AgentParams, Block, BlockParams, BlockOutput, FormatPrompt",
        "from agentsociety.agent import AgentContext, DotDict, BlockDispatcher, Agent, AgentType",
        "from agentsociety.agent.agent import IndividualAgentBase",
        "from agentsociety.agent.toolbox import AgentToolbox, CustomTool",
        "from agentsociety.agent.memory_config_generator import MemoryAttribute",
        "from agentsociety.memory import KVMemory, StreamMemory",
        "from agentsociety.llm import LLM, LLMConfig, LLMProviderType",
        "from agentsociety_benchmark.benchmarks.BehaviorModeling.interactiontool import InteractionTool",
        "from agentsociety_benchmark.benchmarks.BehaviorModeling.template_agent import BehaviorModelingAgent",
        "import agentsociety.agent",
        "from agentsociety.logger import get_logger",
        "from agentsociety.memory import Memory",
        "from websocietysimulator import Simulator",
        "from websocietysimulator.agent import SimulationAgent, RecommendationAgent",
        "from websocietysimulator.agent.simulation_agent import SimulationAgent",
        "from websocietysimulator.llm import LLMBase, InfinigenceLLM, OpenAILLM",
        "from websocietysimulator.agent.modules.planning_modules import PlanningBase",
        "from websocietysimulator.agent.modules.reasoning_modules import ReasoningBase",
        "from websocietysimulator.agent.modules.memory_modules import MemoryDILU",
        "from websocietysimulator.agent.modules import PlanningBase, ReasoningBase, MemoryTP",
        "from websocietysimulator.tools import InteractionTool, CacheInteractionTool",
    ],
)
def test_the_imports_of_published_agents_work(agent_file, line):
    assert agent_file(f"{line}\nloaded = True\n").loaded


def test_nothing_is_left_behind(agent_file):
    before = list(sys.meta_path)
    agent_file(
        "import agentsociety.agent\n"
        "from websocietysimulator.agent.modules.planning_modules import PlanningBase\n"
    )
    assert sys.meta_path == before
    assert not [name for name in sys.modules if name.partition(".")[0] in ROOTS]
    for root in ROOTS:
        assert importlib.util.find_spec(root) is None


def test_nothing_is_left_behind_by_a_file_that_fails(agent_file):
    before = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError):
        agent_file("import agentsociety.agent\n1 / 0\n")
    assert sys.meta_path == before
    assert "agentsociety" not in sys.modules


def test_classes_are_the_same_in_every_agent(agent_file):
    code = "from websocietysimulator.agent import SimulationAgent\n"
    assert agent_file(code).SimulationAgent is agent_file(code).SimulationAgent


@pytest.fixture
def real(tmp_path, monkeypatch):
    """A package of the same name that is really installed, in part."""
    folder = tmp_path / "site" / "agentsociety"
    (folder / "agent").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "agent" / "__init__.py").write_text(
        "class IndividualAgentBase:\n    real = True\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path / "site")
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "agentsociety"]:
        del sys.modules[name]


@pytest.mark.usefixtures("real")
def test_the_real_package_is_used_where_it_is_installed(agent_file):
    module = agent_file("from agentsociety.agent import IndividualAgentBase\n")
    assert module.IndividualAgentBase.real
    assert "agentsociety" in sys.modules  # not ours to take away


@pytest.mark.usefixtures("real")
def test_what_the_real_package_lacks_stays_missing(agent_file):
    with pytest.raises(ModuleNotFoundError, match=r"agentsociety\.logger"):
        agent_file("import agentsociety.logger\n")
    with pytest.raises(ImportError, match="CustomTool"):
        agent_file("from agentsociety.agent import CustomTool\n")


def test_other_missing_modules_stay_missing(agent_file):
    for line in ("import agentsociety.nothing", "import pycityprotox", "import agentsocietyx"):
        with pytest.raises(ModuleNotFoundError):
            agent_file(line)
    with pytest.raises(ImportError, match="lower"):
        agent_file("from websocietysimulator.llm import lower")


def test_what_has_no_stand_in_says_so_when_it_is_made(agent_file):
    module = agent_file(
        "from agentsociety.agent import BlockDispatcher\n"
        "from websocietysimulator import Simulator\n"
        "from websocietysimulator.llm import RateLimitError\n"
        "class Mine(BlockDispatcher):\n    pass\n"
    )
    for made in (module.Mine, module.Simulator):
        with pytest.raises(NotProvided, match=r"install (agentsociety|websocietysimulator)"):
            made()
    assert issubclass(module.RateLimitError, Exception)


def test_a_toolbox_offers_tools_by_name():
    class Store:
        def get_user(self, user_id):
            return user_id

    box = Toolbox("model", {"uir": Store()})
    assert box.llm == "model"
    assert box.get_tool_object("uir").get_user("u") == "u"
    assert box.uir.get_user("u") == "u"
    assert box.get_tool("uir").get_user("u") == "u"
    assert box.get_tool("uir").get_tool() is box.uir
    assert "uir" in box
    assert box.environment is None
    assert box.get_tool_object("map") is None
    with pytest.raises(AttributeError, match=r"this benchmark has \(uir\), got 'map'"):
        _ = box.map
    box.set_tool("uir", None)
    assert not box.has_tool("uir")


def test_parts_that_need_pydantic_are_made_only_where_they_are_used(tmp_path):
    code = (
        "import sys\n"
        "from pytest_agentbench.agents.framework_imports import available\n"
        "with available():\n"
        "    from agentsociety.agent import IndividualAgentBase, MemoryAttribute, FormatPrompt\n"
        "assert not {'pydantic', 'pytest_agentbench.agents.asbench.blocks'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_the_packages_that_are_stood_in_for_are_those_of_the_modules():
    roots = {name.partition(".")[0] for name in (*OF_ASBENCH, *OF_WEBSOCIETY)}
    assert roots == framework_imports.ROOTS


def test_the_stand_ins_are_imported_when_an_agent_asks_for_them():
    code = """if True:
        import sys
        from pytest_agentbench.agents.framework_imports import available

        stand_ins = "pytest_agentbench.agents.asbench.asbench_modules"
        with available():
            import json
            assert stand_ins not in sys.modules
            from agentsociety.agent import IndividualAgentBase
        assert stand_ins in sys.modules
        assert "agentsociety" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)
