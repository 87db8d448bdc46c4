"""An agent's code is imported as where it lies, and sys.path is the user's again afterwards."""

from __future__ import annotations

import sys

import pytest

from pytest_agentbench.agents.code_imports import Surroundings, import_file, import_module
from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.base.errors import BenchmarkError


@pytest.fixture
def files(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            path = tmp_path / (name.replace("INIT", "__init__").replace("___", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_the_root_of_the_repository_is_importable_and_then_no_more(files):
    root = files(
        repo___shared_root_part="X = 1\n",
        repo___deep___er___agent="from shared_root_part import X\n",
    )
    (root / "repo" / ".git").mkdir()
    before = list(sys.path)
    module, around = import_file(root / "repo" / "deep" / "er" / "agent.py")
    assert module.X == 1
    assert around.folders == (str(root / "repo" / "deep" / "er"), str(root / "repo"))
    assert sys.path == before


def test_folders_stay_while_one_needs_them():
    before = list(sys.path)
    around = Surroundings(("/one", "/two"))
    with around.importable():
        with around.importable():
            assert sys.path[:2] == ["/one", "/two"]
        assert sys.path[:2] == ["/one", "/two"]
    assert sys.path == before


def test_the_block_for_scripts_does_not_run(files):
    root = files(agent="X = 1\nif __name__ == '__main__':\n    X = 2\n")
    assert import_file(root / "agent.py")[0].X == 1


@pytest.mark.parametrize("with_init", [True, False])
def test_relative_imports_work_with_and_without_an_init(files, with_init):
    root = files(
        pack___one="from .two import X\nfrom ..top import Y\n", pack___two="X = 2\n", top="Y = 3\n"
    )
    if with_init:
        (root / "pack" / "__init__.py").write_text("")
    module, _ = import_file(root / "pack" / "one.py")
    assert (module.X, module.Y) == (2, 3)


def test_two_packages_of_one_name_are_two(files, tmp_path):
    files(a___pack___agent="from .part import X\n", a___pack___part="X = 1\n")
    files(b___pack___agent="from .part import X\n", b___pack___part="X = 2\n")
    found = [import_file(tmp_path / side / "pack" / "agent.py")[0].X for side in "ab"]
    assert found == [1, 2]


def test_an_import_error_in_a_package_says_how_to_import_it_as_one(files):
    root = files(pack___agent="import nothing_of_this_name\n", pack___INIT="")
    with pytest.raises(BenchmarkError, match=r"line 1 of .*--agent pack\.agent:Name, started in"):
        import_file(root / "pack" / "agent.py")


def test_a_lone_file_finds_what_lies_beside_asbenchs_own_agent(files):
    root = files(
        agent="from .interactiontool import InteractionTool\n"
        "from .template_agent import BehaviorModelingAgent\n"
        "from agentsociety.agent import IndividualAgentBase\n"
    )
    before = list(sys.meta_path)
    module, around = import_file(root / "agent.py")
    assert issubclass(module.BehaviorModelingAgent, module.IndividualAgentBase)
    with (
        around.importable(),
        pytest.raises(NotProvided, match=r"BehaviorModeling\.interactiontool"),
    ):
        module.InteractionTool("folder")
    assert sys.meta_path == before


def test_a_file_beside_the_agent_comes_before_asbenchs(files):
    root = files(agent="from .interactiontool import X\n", interactiontool="X = 5\n")
    assert import_file(root / "agent.py")[0].X == 5


def test_a_relative_import_of_nothing_says_which_file_it_expects(files):
    root = files(pack___agent="import os\nfrom ..parts.helper import X\n", parts___other="")
    with pytest.raises(BenchmarkError) as error:
        import_file(root / "pack" / "agent.py")
    assert f"(line 2 of {root}/pack/agent.py) expects {root}/parts/helper.py" in str(error.value)


def test_an_import_error_names_the_stand_in(files):
    root = files(agent="from websocietysimulator.llm import lower\n")
    with pytest.raises(BenchmarkError, match="what stands in for it does not have that"):
        import_file(root / "agent.py")


def test_what_a_file_asks_for_while_it_is_imported_is_an_import_error(files):
    root = files(agent="from websocietysimulator import Simulator\nSimulator('data')\n")
    with pytest.raises(
        BenchmarkError, match=r"NotProvided: .*\.Simulator.*\(line 2 of .*agent\.py"
    ):
        import_file(root / "agent.py")


def test_a_module_is_found_in_the_bases(files):
    root = files(module_of_a_base="X = 5\n")
    before = list(sys.path)
    module, around = import_module("module_of_a_base:x", "module_of_a_base", [root])
    assert (module.X, sys.path) == (5, before)
    assert around.folders == (str(root),)


def test_a_real_package_that_cannot_be_imported_is_stood_in_for(files):
    root = files(
        repo___websocietysimulator___INIT="raise ImportError('its library is broken')\n",
        repo___example___agent="from websocietysimulator.agent import SimulationAgent\n",
    )
    module, around = import_file(root / "repo" / "example" / "agent.py")
    assert module.SimulationAgent.__module__.startswith("pytest_agentbench")
    assert "its library is broken" in around.note
    assert "websocietysimulator" not in sys.modules


@pytest.fixture
def measuring():
    """Coverage.py, asked to measure certain modules."""
    started = []

    def measure(*names):
        import coverage

        started.append(coverage.Coverage(source=list(names), data_file=None))
        started[-1].start()

    yield measure
    for one in started:
        one.stop()


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("lone_agent", "lone_agent"),
        ("agents_of_mine", "agents_of_mine.lone_agent"),
        ("agents_of_mine.lone_agent", "agents_of_mine.lone_agent"),
        ("lone", None),
    ],
)
def test_an_agent_whose_coverage_is_measured_has_the_name_that_was_given(
    files, measuring, asked, name
):
    root = files(agents_of_mine___lone_agent="X = 1\n")
    measuring(asked)
    module, _ = import_file(root / "agents_of_mine" / "lone_agent.py")
    del sys.modules[module.__name__]
    assert module.X == 1
    if name is None:
        assert module.__name__.startswith("agentbench_agent_")
    else:
        assert module.__name__ == name


def test_a_module_of_the_measured_name_stays_what_it_is(files, measuring):
    root = files(json="X = 1\n")
    theirs = sys.modules["json"]
    measuring("json")
    module, _ = import_file(root / "json.py")
    assert module.X == 1
    assert sys.modules["json"] is theirs
