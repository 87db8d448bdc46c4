"""What was typed, apart from addopts and PYTEST_ADDOPTS."""

from __future__ import annotations

from pathlib import Path

import lean
import pytest

from pytest_agentbench.plugin import typed

ADDED = "[pytest]\naddopts = --benchmark=toysum --gate='accuracy >= 0' {}\n"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """What PYTEST_ADDOPTS names, in this process."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "toy"))


@pytest.fixture
def found(project, pytester):
    """The typed words, benchmarks and gates of a command, in a project with both in its addopts."""

    def find(*args: str, more: str = "") -> tuple[list[str], list[str], list[str]]:
        project.write(pytest__ini=ADDED.format(more))
        config = pytester.parseconfig(*args)
        own = [word for word in typed.words(config) if not word.startswith("--basetemp")]
        return own, typed.values(config, "benchmark"), typed.values(config, "gate")

    return find


def test_what_addopts_and_the_environment_add_is_not_typed(found, monkeypatch):
    added = f"{lean.OPTIONS} --benchmark=humob --gate 'accuracy > 0'"
    monkeypatch.setenv("PYTEST_ADDOPTS", added)
    assert found("-k", "x") == (["-k", "x"], [], [])


@pytest.mark.parametrize("name", ["--benchmark", "--agentbench-benchmark"])
def test_either_spelling_in_one_word_or_two_is_typed(found, name):
    words, benchmarks, gates = found(name, "humob", f"{name}=toysum", "--gate=accuracy > 1")
    assert words == [name, "humob", f"{name}=toysum", "--gate=accuracy > 1"]
    assert (benchmarks, gates) == (["humob", "toysum"], ["accuracy > 1"])


def test_the_lines_of_a_file_of_arguments_are_typed(project, found):
    project.write(args__txt="--benchmark\nhumob\n")
    assert found("@args.txt") == (["--benchmark", "humob"], ["humob"], [])


def test_an_option_of_the_project_with_our_short_name_is_its_own(project, pytester):
    project.write(
        conftest__py="def pytest_addoption(parser):\n    parser.addoption('--benchmark')\n",
        pytest__ini="[pytest]\naddopts = --agentbench-benchmark=toysum\n",
    )
    config = pytester.parseconfig("--benchmark=theirs")
    assert typed.values(config, "benchmark") == []
    assert config.getoption("agentbench_benchmark") == ["toysum"]
