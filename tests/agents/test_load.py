"""What --agent may name, and what it says when it may not."""

from __future__ import annotations

import hashlib
import sys

import pytest

from pytest_agentbench.agents import load as loading
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.registry import get


@pytest.fixture(autouse=True)
def untouched_imports(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def load(tmp_path):
    def load(spec, text=None, name="agent.py"):
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
        return loading.load(spec, [tmp_path / "elsewhere", tmp_path], get("humob"))

    return load


def test_the_only_function_is_the_agent(load, tmp_path):
    text = "import os\nfrom math import sqrt\ndef _help(x): ...\ndef mine(context): return 7\n"
    agent = load("agent.py", text)
    assert agent.target({}) == 7
    assert agent.digest == hashlib.sha256(text.encode()).hexdigest()


def test_a_class_with_forward_is_the_agent_and_functions_beside_it_are_helpers(load):
    text = "def parse(text): ...\nclass Plain: ...\nclass Mine:\n    def forward(self, context): return 8\n"
    assert load("agent.py", text).target.__name__ == "Mine"


def test_an_object_stands_for_its_class(load):
    text = "class Mine:\n    def __init__(self, k): self.k = k\n    def forward(self, c): return self.k\nready = Mine(3)\n"
    assert load("agent.py", text).target.forward({}) == 3


def test_a_name_picks_one(load):
    text = "def one(c): return 1\ndef two(c): return 2\n"
    assert load("agent.py:two", text).target({}) == 2


def test_neighbours_of_the_agent_can_be_imported(load, tmp_path):
    (tmp_path / "neighbour_of_agent.py").write_text("ANSWER = 5\n")
    assert (
        load("agent.py", "from neighbour_of_agent import ANSWER\ndef a(c): return ANSWER\n").target(
            {}
        )
        == 5
    )


def test_two_files_of_one_name_are_two_agents(tmp_path):
    for folder, value in (("x", 1), ("y", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent.py").write_text(f"def a(c): return {value}\n")
    found = [loading.load("agent.py", [tmp_path / f], get("humob")).target({}) for f in "xy"]
    assert found == [1, 2]


def test_builtin_baselines(load):
    agent = load("builtin:mean")
    assert callable(agent.target)
    assert len(agent.digest) == 64


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
        ("builtin:best", None, "builtin:mean, .*, got 'builtin:best'"),
        ("nothing", None, "expected file.py, file.py:Name, package.module:Name, builtin:NAME, cmd:COMMAND"),
        ("nothing.at.all:x", None, "no module named 'nothing'"),
        ("json:nothing", None, "expected a name in json"),
    ],
)  # fmt: skip
def test_mistakes_say_what_was_expected_and_what_came(load, spec, text, message):
    with pytest.raises(BenchmarkError, match=message):
        load(spec, text)
