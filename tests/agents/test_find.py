"""Agents as Python code: files and modules, and what is said when there is no agent in them."""

from __future__ import annotations

import hashlib
import sys

import pytest

from pytest_agentbench.agents.find import AgentError, find, source_digest
from pytest_agentbench.base.errors import BenchmarkError


@pytest.fixture(autouse=True)
def untouched_imports(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def found(tmp_path):
    def found(spec, text=None, name="agent.py"):
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
        return find(spec, [tmp_path / "elsewhere", tmp_path])

    return found


def test_the_only_function_is_the_agent(found, tmp_path):
    text = "import os\nfrom math import sqrt\ndef _help(x): ...\ndef mine(context): return 7\n"
    agent = found("agent.py", text)
    assert agent.target({}) == 7
    assert agent.digest == hashlib.sha256(text.encode()).hexdigest()


def test_a_class_with_forward_is_the_agent_and_functions_beside_it_are_helpers(found):
    text = "def parse(text): ...\nclass Plain: ...\nclass Mine:\n    def forward(self, context): return 8\n"
    assert found("agent.py", text).target.__name__ == "Mine"


@pytest.mark.parametrize("base", ["IndividualAgentBase", ""])
def test_asbench_blocks_beside_the_agent_are_its_helpers(found, base):
    text = f"""
from agentsociety.agent import Block, IndividualAgentBase
class Read(Block):
    async def forward(self, context): return 1
class ReadTwice(Read):
    async def forward(self, context): return 2
class Mine({base}):
    async def forward(self, context): return 3
"""
    assert found("agent.py", text).target.__name__ == "Mine"


def test_a_base_that_is_called_block_does_not_hide_the_only_agent(found):
    text = "class Block: ...\nclass Mine(Block):\n    def forward(self, context): return 8\n"
    assert found("agent.py", text).target.__name__ == "Mine"


def test_an_object_stands_for_its_class(found):
    text = "class Mine:\n    def __init__(self, k): self.k = k\n    def forward(self, c): return self.k\nready = Mine(3)\n"
    assert found("agent.py", text).target.forward({}) == 3


def test_a_name_picks_one(found):
    text = "def one(c): return 1\ndef two(c): return 2\n"
    assert found("agent.py:two", text).target({}) == 2


def test_neighbours_of_the_agent_can_be_imported(found, tmp_path):
    (tmp_path / "neighbour_of_agent.py").write_text("ANSWER = 5\n")
    assert (
        found(
            "agent.py", "from neighbour_of_agent import ANSWER\ndef a(c): return ANSWER\n"
        ).target({})
        == 5
    )


def test_two_files_of_one_name_are_two_agents(tmp_path):
    for folder, value in (("x", 1), ("y", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent.py").write_text(f"def a(c): return {value}\n")
    answers = [find("agent.py", [tmp_path / f]).target({}) for f in "xy"]
    assert answers == [1, 2]


@pytest.mark.parametrize(
    ("spec", "text", "message"),
    [
        ("gone.py", None, "expected a file that exists, got 'gone.py' \\(looked in .*elsewhere and"),
        ("agent.py", "x = 1\n", "expected a function f\\(context\\), or a class .* in agent.py, got none"),
        ("agent.py", "def a(c): ...\ndef b(c): ...\n", "got 2: a, b; name one \\(agent.py:a\\)"),
        ("agent.py:x", "x = 1\n", "as agent.py:x, got 1"),
        ("agent.py:y", "def a(c): ...\n", "\\(candidates: a\\), got 'y'"),
        ("agent.py", "import nothing_of_this_name\n", "ModuleNotFoundError.*line 1 of"),
        ("agent.py", "import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("nothing.at.all:x", None, "no module named 'nothing'"),
        ("json:nothing", None, "expected a name in json"),
    ],
)  # fmt: skip
def test_mistakes_say_what_was_expected_and_what_came(found, spec, text, message):
    with pytest.raises(BenchmarkError, match=message):
        found(spec, text)


@pytest.mark.parametrize("spec", ["agent.py", "agent.py:agent", "pack.sub.module:agent"])
def test_the_digest_is_known_without_running_any_code(tmp_path, spec):
    (tmp_path / "pack" / "sub").mkdir(parents=True)
    mark = "import pathlib\npathlib.Path(__file__ + '.ran').touch()\n"
    for name in ("agent.py", "pack/__init__.py", "pack/sub/__init__.py", "pack/sub/module.py"):
        (tmp_path / name).write_text(f"{mark}def agent(c):\n    return {name!r}\n")
    digest = source_digest(spec, [tmp_path])
    assert not list(tmp_path.rglob("*.ran"))
    assert digest == find(spec, [tmp_path]).digest
    assert list(tmp_path.rglob("*.ran"))


def test_a_digest_needs_a_file(tmp_path):
    with pytest.raises(AgentError, match="expected a file that exists"):
        source_digest("nothing.py", [tmp_path])
    assert source_digest("nothing.here:agent", [tmp_path])  # whoever imports it will say so


@pytest.mark.parametrize(
    "text",
    [
        """
from mobisimbench.benchmarks import DailyMobilityAgent
class StateMachine:
    def forward(self): ...
class Mine(DailyMobilityAgent):
    async def forward(self): ...
""",
        """
from agentsociety.agent import CitizenAgentBase
class Base(CitizenAgentBase):
    async def go_to_aoi(self, aoi_id): ...
class Mine(Base):
    async def forward(self): ...
""",
        """
class Clock:
    def step(self, now): ...
def helper(context): ...
class Mine:
    def __init__(self, city, profile): ...
    def step(self, now): ...
""",
        """
class Mine:
    def __init__(self, city): ...
    async def forward(self): ...
""",
    ],
)
def test_agents_that_live_tick_by_tick_are_found(found, text):
    assert found("agent.py", text).target.__name__ == "Mine"
