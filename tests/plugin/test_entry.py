"""From the command line to the exit code: options, mistakes, and silence when unused."""

from __future__ import annotations

import json
import sys

import pytest

ADD = "def add(context):\n    return context['a'] + context['b']\n"


def test_a_run_from_the_command_line_to_the_score(project):
    project.write(my_agent__py=ADD)
    result = project.pytest("--agent", "my_agent.py", "--benchmark", "toysum")
    assert result.ret == 0
    result.assert_outcomes(passed=13)  # twelve samples and the gate on coverage
    result.stdout.fnmatch_lines(
        ["agentbench: toysum (test), 12 samples, toy data, my_agent.py", "run: .agentbench/runs/*"]
    )
    scores = project.scores()
    assert scores["readings"]["exact"]["accuracy"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert scores["samples"] == {"total": 12, "ok": 12, "invalid": 0, "error": 0, "timeout": 0}
    assert scores["agent"]["name"] == "my_agent.py"


def test_benchmark_names_are_case_insensitive(project):
    assert project.pytest("--benchmark", "TOYSUM", "--limit=2").ret == 0


def test_without_an_agent_the_documented_baseline_answers(project):
    assert project.pytest("--benchmark=toysum").ret == 0
    assert project.scores()["agent"]["name"] == "builtin:right"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--benchmark", "toysun"], ["--benchmark: *humob*toysum*got 'toysun'; did you mean toysum?"]),
        (["--benchmark", "nope.yaml"], ["*nope.yaml: expected a scenario file: No such file*"]),
        (["--benchmark", "toysum", "--mode", "tets"], ["--mode: *(test, inference), got 'tets'"]),
        (["--benchmark", "toysum", "--reading", "x"], ["--reading: *(exact, lenient), got 'x'"]),
        (["--benchmark", "toysum", "--limit", "0"], ["--limit: *whole number from 1, got '0'"]),
        (["--benchmark", "toysum", "--limit", "2.5"], ["--limit: *whole number from 1, got '2.5'"]),
        (["--benchmark", "toysum", "--seed", "-1"], ["--seed: *whole number from 0, got '-1'"]),
        (["--benchmark", "toysum", "--agent-timeout", "0"], ["--agent-timeout: *0.001 to 1,000,000, got '0'"]),
        (["--benchmark", "toysum", "--gate", "accuracy"], ["--gate: expected *; got 'accuracy'"]),
        (["--benchmark", "toysum", "--dataset", "no"], ["--dataset: *path that exists, got 'no'*"]),
        (["--benchmark", "toysum", "--baseline", "no"], ["no: expected the folder of a run*"]),
        (["--benchmark", "toysum", "--baseline", "last"], ["no run of toysum with scores.json below*"]),
        (["--benchmark", "toysum", "--agent", "no.py"], ["--agent: *file that exists, got 'no.py'*"]),
        (["--benchmark", "toysum", "--agent", "builtin:x"], ["--agent: *builtin:half*, got 'builtin:x'"]),
        (["--benchmark", "toysum", "--agent", "empty.py"], ["--agent: *in empty.py, got none"]),
        (["--benchmark", "toysum", "--agent", "two.py"], ["*got 2: one, two; name one (two.py:one)*"]),
        (["--benchmark", "toysum", "--agent", "two.py:three"], ["*(candidates: one, two), got 'three'"]),
        (["--benchmark", "toysum", "--agent", "broken.py"], ["*broken.py failed: SyntaxError*line 1*"]),
        (["--benchmark", "toysum", "--agent", "raises.py"], ["*raises.py failed: KeyError*line 2*"]),
        (["--benchmark", "toysum", "--agent", "no.such:thing"], ["*got 'no.such:thing': no module*"]),
        (["--benchmark", "toysum", "--agent", "what"], ["--agent: expected file.py*got 'what'"]),
        (["--benchmark", "toysum", "--benchmark", "toysum"], ["*each benchmark once, got 'toysum' twice"]),
        (["--benchmark", "toysum", "toysum::sum[s99]"], ["toysum::sum[[]s99]: expected one of 12 samples*"]),
        (["--benchmark", "toysum", "--run-dir", "empty.py/x"], ["*folder that can be written*"]),
    ],
)  # fmt: skip
def test_every_mistake_is_a_usage_error_that_names_what_was_expected(project, args, expected):
    project.write(
        empty__py="import os\n",
        two__py="def one(c): ...\ndef two(c): ...\n",
        broken__py="def (:\n",
        raises__py="\n{}['x']\n",
    )
    result = project.pytest(*args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {line}" for line in expected])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()
    assert not project.runs()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("benchmark: toysum\nlimt: 3\n", "*s.yaml: limt: expected one of *; got 'limt'; did you mean limit*"),
        ("benchmark: toysum\nlimit: many\n", "*s.yaml: limit: expected a whole number from 1, got 'many'"),
        ("benchmark: toysum\nlimit: true\n", "*s.yaml: limit: expected a whole number from 1, got True"),
        ("benchmark: toysum\nmode: fast\n", "*s.yaml: mode: expected a mode of toysum *got 'fast'"),
        ("benchmark: toysum\nmode: [test]\n", "*s.yaml: mode: expected the name of a mode, got [[]'test']"),
        ("benchmark: toysum\ngates: accuracy > 1\n", "*s.yaml: gates: expected a list of gates, got *"),
        ("benchmark: toysum\ngates: [accuracy]\n", "*s.yaml: gates: expected METRIC OP NUMBER*"),
        ("benchmark: toysum\nshift: x\n", "*s.yaml: shift: expected a whole number, got 'x'"),
        ("benchmark: toysom\n", "*s.yaml: benchmark: *got 'toysom'; did you mean toysum?"),
        ("benchmark: 3\n", "*s.yaml: benchmark: expected the name of a benchmark, got 3"),
        ("agent: x.py\n", "*s.yaml: expected the key 'benchmark', got agent"),
        ("- benchmark\n", "*s.yaml: expected a mapping of settings *, got list"),
        ("benchmark: [toysum\n", "*s.yaml: expected a scenario in YAML, got *line 2*"),
        ("benchmark: !!python/object/apply:os.system [id]\n", "*s.yaml: expected a scenario in YAML*"),
    ],
)  # fmt: skip
def test_mistakes_in_a_scenario_name_the_file_and_the_key(project, text, expected):
    project.write(s__yaml=text)
    result = project.pytest("--benchmark", "s.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {expected}"])


def test_command_line_beats_scenario_beats_ini_beats_default(project):
    project.write(
        s__yaml="benchmark: toysum\nlimit: 5\nagent: builtin:half\n",
        pytest__ini="[pytest]\nagentbench_limit = 7\nagentbench_seed = 11\n"
        "agentbench_gate =\n    accuracy >= 0\n    distance >= 0\n",
    )
    result = project.pytest("--benchmark=s.yaml", "--limit=4", "--gate=accuracy > 0.001")
    assert result.ret == 0
    scores = project.scores()
    assert (scores["samples"]["total"], scores["seed"]) == (4, 11)
    assert scores["agent"]["name"] == "builtin:half"
    gates = [gate["gate"] for gate in scores["gates"]]
    assert gates == ["coverage >= 1", "distance >= 0", "accuracy > 0.001"]


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="native TOML settings came with pytest 9")
def test_native_toml_settings_and_strict_mode(project):
    project.write(
        pyproject__toml="[tool.pytest]\nstrict = true\nagentbench_limit = 3\n"
        'agentbench_gate = ["accuracy >= 1"]\n'
    )
    result = project.pytest("--benchmark=toysum")
    assert result.ret == 0
    assert [gate["gate"] for gate in project.scores()["gates"]] == [
        "coverage >= 1",
        "accuracy >= 1",
    ]


def test_a_wrong_ini_value_names_the_file_and_the_key(project):
    project.write(pytest__ini="[pytest]\nagentbench_limit = many\n")
    result = project.pytest("--benchmark=toysum")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: *pytest.ini: agentbench_limit: expected a whole number*many*"]
    )


def test_addopts_can_ask_for_a_benchmark(project):
    project.write(pytest__ini="[pytest]\naddopts = --benchmark=toysum --limit 2\n")
    project.pytest().assert_outcomes(passed=3)


def test_relative_paths_in_a_scenario_start_at_its_folder(project):
    project.write(
        scenarios___agents___add__py=ADD,
        scenarios___ci__yaml="benchmark: toysum\nagent: agents/add.py:add\n",
    )
    assert project.pytest("--benchmark", "scenarios/ci.yaml").ret == 0


def test_help_shows_the_short_options_and_the_ini_keys(project):
    result = project.pytest("--help")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "LLM agent benchmarks (pytest-agentbench):",
            "  --benchmark=NAME|FILE",
            "*agentbench_agent*",
        ]
    )


OWN_OPTIONS = """
import pytest
def pytest_addoption(parser):
    parser.addoption("--agent", choices=["james"])
    parser.addoption("--benchmark", action="store_true")
    parser.addoption("--mode", type=int)
    parser.addoption("--dataset")
@pytest.fixture
def sample():
    return "mine"
"""
OWN_TEST = """
def test_own(request, sample):
    options = request.config.option
    assert (options.agent, options.benchmark, options.mode, sample) == ("james", True, 3, "mine")
"""


@pytest.mark.parametrize("extra", [[], ["-n1"]], ids=["serial", "xdist"])
def test_a_project_with_options_of_the_same_name_keeps_them(project, extra):
    project.write(conftest__py=OWN_OPTIONS, test_own__py=OWN_TEST)
    result = project.pytest("--agent=james", "--benchmark", "--mode=3", *extra)
    result.assert_outcomes(passed=1)
    assert "agentbench:" not in result.stdout.str()
    assert not (project.path / ".agentbench").exists()
    assert project.pytest("--help").ret == 0


def test_beside_a_projects_own_agent_option_the_prefixed_one_is_ours(project):
    project.write(
        conftest__py="def pytest_addoption(parser):\n    parser.addoption('--agent')\n", add__py=ADD
    )
    result = project.pytest("--benchmark=toysum", "--agentbench-agent=add.py", "--agent=007")
    assert result.ret == 0
    assert project.scores()["agent"]["name"] == "add.py"


def test_unused_the_plugin_is_silent_and_light(project):
    """Compared with a run without it: Python's own pdb, which pytest imports, brings asyncio from 3.14 on."""
    project.write(
        test_light__py="import sys\n"
        "from pathlib import Path\n"
        "def test_light():\n"
        "    Path('modules.txt').write_text(' '.join(sys.modules))\n"
    )
    others = ("hypothesispytest", "benchmark", "xdist", "rerunfailures", "html", "metadata",
              "pytest_cov", "anyio")  # fmt: skip

    def imported(*off):
        result = project.pytest_process(*(word for one in off for word in ("-p", f"no:{one}")))
        result.assert_outcomes(passed=1)
        assert "agentbench:" not in result.stdout.str()
        return set((project.path / "modules.txt").read_text().split())

    added = imported(*others) - imported(*others, "agentbench")
    heavy = {"numpy", "torch", "nltk", "numba", "polars", "yaml", "asyncio", "scipy", "msgspec"}
    assert "pytest_agentbench.plugin" in added
    assert not heavy & added
    assert not (project.path / ".agentbench").exists()


def test_the_manifest_says_what_was_run(project):
    project.write(my_agent__py=ADD)
    project.pytest("--benchmark=toysum", "--agent=my_agent.py", "--seed=5")
    (folder,) = project.runs()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["settings"]["seed"] == 5
    assert manifest["settings"]["gates"] == ["coverage >= 1"]
    assert manifest["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert manifest["versions"]["pytest"] == pytest.__version__
    assert manifest["dataset"]["digest"] == project.scores()["dataset"]["digest"]
    assert len(manifest["agent"]["digest"]) == 64
    assert (project.path / ".agentbench" / ".gitignore").read_text().endswith("*\n")


def test_an_agent_may_be_a_module_of_the_project(project):
    (project.path / "pkg").mkdir()
    (project.path / "pkg" / "__init__.py").write_text("")
    (project.path / "pkg" / "mod.py").write_text(ADD)
    assert project.pytest("--benchmark=toysum", "--agent=pkg.mod:add").ret == 0
