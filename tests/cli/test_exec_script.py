"""``agentbench exec`` as a person types it."""

from __future__ import annotations

import json
import sys

import pytest
from llm_server import text

ASKING = """
class Mine(SimulationAgent):
    def workflow(self):
        return {"stars": 3.0, "review": self.llm(messages=[{"role": "user", "content": "Write."}])}
"""


def test_the_script_is_main_with_its_own_arguments_and_neighbours(project):
    project.write(
        neighbour__py="NAME = 'beside it'\n",
        script__py="import sys, neighbour, __main__\n"
        "value = 7\n"
        "print(__name__, __main__.value, sys.argv, neighbour.NAME)\n",
    )
    main, argv, path = sys.modules["__main__"], list(sys.argv), list(sys.path)
    result = project.agentbench("exec", "--seed=3", "script.py", "--seed", "9", "--help")
    assert result.ret == 0
    assert result.outlines == [
        "__main__ 7 ['script.py', '--seed', '9', '--help'] beside it",
    ]
    assert (sys.modules["__main__"], sys.argv, sys.path) == (main, argv, path)
    assert not any(name.startswith("websocietysimulator") for name in sys.modules)


@pytest.mark.parametrize(
    ("code", "expected", "said"),
    [
        ("import sys; sys.exit(3)", 3, []),
        ("import sys; sys.exit()", 0, []),
        ("import sys; sys.exit('so what')", 1, ["so what"]),
        ("def f():\n    1 / 0\nf()\n", 1, [
            "Traceback (most recent call last):",
            '  File "script.py", line 3, in <module>', "    f()*",
            '  File "script.py", line 2, in f', "    1 / 0*", "ZeroDivisionError: division by zero",
        ]),
        ("a b", 1, ['  File "script.py", line 1', "SyntaxError: *"]),
        ("import no_such_module", 1, ["ModuleNotFoundError: No module named 'no_such_module'"]),
    ],
)  # fmt: skip
def test_it_ends_as_the_script_does(project, code, expected, said):
    project.write(script__py=code)
    result = project.agentbench("exec", "script.py")
    assert result.ret == expected
    result.stderr.fnmatch_lines(said)
    assert "pytest_agentbench" not in result.stderr.str()


def test_mistakes_of_the_command_line_are_told_before_the_script_begins(project):
    project.write(script__py="print('begun')\n")
    for options, said in (
        (["nowhere.py"], "agentbench: exec: expected a script that exists, got 'nowhere.py'"),
        (["--config=nowhere.yml", "script.py"], "agentbench: --config: expected a path that exists*"),
        (["--benchmark=humob", "script.py"], "*expected a benchmark with the tasks of web*humob"),
        (["--gate=nonsense", "script.py"], "agentbench: --gate: *"),
    ):  # fmt: skip
        result = project.agentbench("exec", *options)
        assert (result.ret, result.outlines) == (2, [])
        result.stderr.fnmatch_lines([said])


def test_a_scenario_gives_models_and_whatever_the_script_does_not_say(project, server, challenge):
    server.usual = text("Fine.")
    scenario = {
        "benchmark": "BehaviorModeling", "agent": "other.py", "dataset": "demo", "seed": 5,
        "llm": [{"model": "m", "base_url": server.url}],
    }  # fmt: skip
    project.write(s__yaml=json.dumps(scenario))
    result, said = challenge("reviews", ASKING, "--benchmark=s.yaml")
    assert result.ret == 0
    assert [output["output"]["review"] for output in said["outputs"]] == ["Fine."] * 6
    settings = json.loads((project.runs()[0] / "manifest.json").read_text())["settings"]
    assert (settings["seed"], settings["agent"]) == (5, "script.py:Mine")


VENDORED = {
    "websocietysimulator/__init__.py": "from .simulator import Simulator\n",
    "websocietysimulator/simulator.py": "raise RuntimeError('the published simulator')\n",
    "websocietysimulator/agent.py": """
class SimulationAgent:
    vendored = True
    def __init__(self, llm):
        self.llm = llm
    def set_interaction_tool(self, tool):
        self.interaction_tool = tool
    def insert_task(self, task):
        self.task = task.to_dict()

class RecommendationAgent(SimulationAgent):
    pass
""",
    "websocietysimulator/llm.py": """
class LLMBase:
    pass

class InfinigenceLLM(LLMBase):
    def __init__(self, api_key):
        pass
    def __call__(self, messages):
        return "vendored"
""",
}


@pytest.fixture
def vendored(project):
    for name, code in VENDORED.items():
        path = project.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(code, encoding="utf-8")
    yield project.path / "websocietysimulator"
    for name in [name for name in sys.modules if name.startswith("websocietysimulator")]:
        del sys.modules[name]


@pytest.mark.usefixtures("vendored")
def test_a_package_in_the_repository_is_used_and_the_simulator_is_ours(project, challenge):
    result, said = challenge("reviews", ASKING + "\nassert Mine.vendored\n")
    assert (result.ret, result.stderr.str()) == (0, "")
    assert [output["output"]["review"] for output in said["outputs"]] == ["vendored"] * 6
    assert len(project.records()) == 6


def test_a_package_that_cannot_be_imported_is_stood_in_for(project, server, challenge, vendored):
    server.usual = text("Fine.")
    (vendored / "agent.py").write_text("import no_such_library\n")
    project.write(asbench__yml=json.dumps({"llm": [{"model": "m", "base_url": server.url}]}))
    result, said = challenge("reviews", ASKING, "--config=asbench.yml")
    assert result.ret == 0
    result.stderr.fnmatch_lines(
        ["agentbench exec: websocietysimulator in * cannot be imported (*no_such_library*"]
    )
    assert [output["output"]["review"] for output in said["outputs"]] == ["Fine."] * 6


def test_no_simulation_is_repeated_for_an_import_after_it(project, challenge, vendored):
    (vendored / "tools.py").write_text("import no_such_library\n")
    result, _ = challenge("reviews", ASKING, after="    import websocietysimulator.tools\n")
    assert result.ret == 1
    assert result.stderr.lines[-1] == "ModuleNotFoundError: No module named 'no_such_library'"
    assert len(project.runs()) == 1


def test_in_a_run_of_pytest_there_is_no_simulator(project):
    project.write(
        agent__py="from websocietysimulator import Simulator\n"
        "def answer(context):\n    Simulator()\n"
    )
    result = project.pytest("--benchmark=BehaviorModeling", "--agent=agent.py", "--first=1")
    assert result.ret == 1
    assert "websocietysimulator.Simulator" in project.records()[0]["error"]
