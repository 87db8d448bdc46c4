"""Our options in pytest: those of a benchmark are there where they are used, and nowhere else."""

from __future__ import annotations

import json

import pytest

QUIET = ("-p", "no:benchmark", "-p", "no:html", "-p", "no:metadata", "-q")


def test_a_parameter_is_an_option_and_an_ini_key_of_its_benchmark(project):
    own = (
        "from pytest_agentbench import Parameter\n"
        "from toybench import ToySum\n"
        "class Own(ToySum):\n"
        "    name = 'own'\n"
        "    parameters = (*ToySum.parameters,\n"
        "        Parameter('accent', 'a text', str, help='how it speaks', metavar='WORD'),\n"
        "        Parameter('loud', 'true or false', bool, False, help='it shouts', flag=True))\n"
    )
    project.write(own__py=own, s__yaml="benchmark: own:Own\naccent: soft\n")

    def parameters(folder):
        manifest = json.loads((project.path / folder / "manifest.json").read_text())
        return manifest["settings"]["parameters"]

    run = ("--limit=1", *QUIET)
    typed = project.pytest("--benchmark=own:Own", "--accent", "hard", "--loud", "--run-dir=a", *run)
    assert typed.ret == 0, typed.stderr.str()
    assert parameters("a") == {"shift": 0, "accent": "hard", "loud": True}
    ini = ("-o", "agentbench_accent=flat", "-o", "agentbench_loud=yes")
    assert project.pytest("s.yaml", *ini, "--run-dir=b", *run).ret == 0
    assert parameters("b") == {"shift": 0, "accent": "soft", "loud": True}
    both = project.pytest(
        "--benchmark=own:Own", "--benchmark=toysum", "--agentbench-accent=hard", "--run-dir=c",
        "-n1", *run,
    )  # fmt: skip
    assert both.ret == 0, both.stderr.str()
    assert parameters("c/own")["accent"] == "hard"
    assert "accent" not in parameters("c/toysum")
    again = project.pytest("s.yaml", "--accent=hard", "--resume=b", *run)
    assert again.ret == pytest.ExitCode.USAGE_ERROR
    assert "was made with other accent ('soft', now 'hard')" in again.stderr.str()


def test_a_parameter_of_another_benchmark_is_a_usage_error(project):
    for option in ("--text-models=none", "--agentbench-text-models=none"):
        result = project.pytest("--benchmark=toysum", option, *QUIET)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert result.errlines == [
            "ERROR: --text-models: expected a parameter of toysum (shift), got one of another benchmark",
            "",
        ]
    project.write(s__yaml="benchmark: toysum\ntext_models: none\n")
    assert "text_models: expected one of benchmark, " in project.pytest("s.yaml").stderr.str()
    unknown = project.pytest("--benchmark=toysum", "--nonsense=1")
    assert "unrecognized arguments: --nonsense=1" in unknown.stderr.str()


def test_an_ini_key_of_a_benchmark_is_known_to_every_session(project):
    project.write(
        pytest__ini="[pytest]\naddopts = --strict-config\n"
        "agentbench_text_models = none\nagentbench_keep_candidate_order = true\n",
        test_own__py="def test_own():\n    pass\n",
    )
    assert project.pytest(*QUIET).ret == 0
    assert project.pytest("--benchmark=toysum", "--limit=1", *QUIET).ret == 0
    project.write(pytest__ini="[pytest]\naddopts = --strict-config\nagentbench_nonsense = 1\n")
    assert "agentbench_nonsense" in project.pytest(*QUIET).stderr.str()


def test_help_lists_the_parameters_of_every_benchmark(project):
    text = " ".join(project.pytest("--help").stdout.str().split())
    assert "--text-models=SET BehaviorModeling: models that score texts" in text
    assert "--keep-candidate-order BehaviorModeling: show candidates" in text
    assert "--agentbench-text-models=SET same as --text-models" in text
    ticks = "--tick-timeout=SECONDS DailyMobility, HurricaneMobility: end a person's day where"
    assert ticks in text  # of both


def test_a_short_spelling_without_a_benchmark_is_explained(project):
    result = project.pytest("--gate=accuracy>1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "  agentbench: --gate: only beside --benchmark NAME" in result.errlines
    result = project.pytest("--gate=accuracy > 1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --gate: only beside --benchmark NAME" in result.errlines
    project.write(conftest__py="def pytest_addoption(parser):\n    parser.addoption('--seed')\n")
    assert "agentbench:" not in project.pytest("--seed=1", "--unknown").stderr.str()


def test_a_command_of_one_word_runs_the_projects_tests(project):
    project.write(test_mine__py="def test_own(): pass\n")
    result = project.python("-m", "pytest")
    result.assert_outcomes(passed=1)
