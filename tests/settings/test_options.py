"""One list of options: what is declared there is known everywhere."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import pytest_agentbench
from pytest_agentbench.settings.options import Option, together

PACKAGE = Path(pytest_agentbench.__file__).parent
NEW = """\
    colour: str = setting(Option(
        "COLOUR", "the colour of the paper", "red or blue", parse.one_of("red", "blue"),
        default="red", decides_questions=True, decides_scores=True,
    ))
    resumed: str | None = None"""
ASKED = """
import json
from pathlib import Path
from types import SimpleNamespace
import pytest
from pytest_agentbench.plugin import agent_in_force, entry, hosts
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings.resolve import Layer, resolve
from pytest_agentbench.settings.settings import OPTIONS, Settings

here = [Path.cwd()]
plugins = SimpleNamespace(list_name_plugin=lambda: [("agentbench", entry)])
config = SimpleNamespace(pluginmanager=plugins, stash=pytest.Stash(), rootpath=here[0])
settings = resolve("toysum", None, [Layer(str, {"colour": "blue"})], here)
plan = Plan(settings)
agent_in_force.settle(config, {"toysum": plan}, {"toysum": here[0]})
told = json.loads(hosts.to_host([plan], config))["toysum"][1]
kept = Settings.from_manifest(settings.as_json(), settings.benchmark)
(row,) = [option.row for option in OPTIONS if option.name == "colour"]
print(json.dumps([resolve("toysum", None, [], here).colour, kept.colour, told["colour"], row]))
"""


@pytest.fixture
def with_new_option(project, monkeypatch):
    """The package with one more option, declared in one place; all else is as installed."""
    copy = project.path / "site" / PACKAGE.name
    (copy / "settings").mkdir(parents=True)
    for folder in (PACKAGE, PACKAGE / "settings"):
        for path in folder.iterdir():
            place = copy / path.relative_to(PACKAGE)
            if path.name != "__pycache__" and not place.exists():
                place.symlink_to(path)
    listed = copy / "settings" / "settings.py"
    text = listed.read_text(encoding="utf-8")
    listed.unlink()
    assert text.count("    resumed: str | None = None") == 1
    listed.write_text(text.replace("    resumed: str | None = None", NEW), encoding="utf-8")
    paths = [str(copy.parent), os.environ["PYTHONPATH"]]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def test_an_option_that_is_declared_once_is_found_everywhere(project, with_new_option):
    project.write(red__yaml="benchmark: toysum\ncolour: red\n", asked__py=ASKED)
    run = ("--benchmark=red.yaml", "-q", "--limit=2")
    # The command line beats the scenario, and the manifest holds it.
    assert project.pytest_process(*run, "--colour=blue", "--run-dir=one").ret == 0
    folder = project.path / "one"
    assert json.loads((folder / "manifest.json").read_text())["settings"]["colour"] == "blue"
    # It comes back from the manifest: --resume compares it with the scenario's.
    refused = project.pytest_process(*run, "--resume=one")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    assert "was made with other colour ('blue', now 'red')" in refused.stderr.str()
    # As an ini key, and on the command line of `agentbench score`.
    wrong = project.pytest_process("--benchmark=toysum", "-o", "agentbench_colour=green")
    assert "agentbench_colour: expected red or blue, got 'green'" in wrong.stderr.str()
    score = ("score", "toysum", "--submission=one", "--colour=green")
    scored = project.agentbench_process(*score)
    assert scored.errlines == ["agentbench: --colour: expected red or blue, got 'green'"]
    default, kept, told, row = json.loads(project.python("asked.py").stdout.str())
    assert (default, kept) == ("red", "blue")
    assert told == '"blue"'  # hosts must agree
    assert row == "| `--colour COLOUR` | `agentbench_colour` | `colour` | the colour of the paper |"


def test_an_option_of_two_benchmarks_names_both_if_they_mean_the_same():
    one, same, other = (
        Option("N", text, "a number", int)
        for text in ("A: how many: all", "B: how many: all", "C: how long")
    )
    assert together(one, same).help == "A, B: how many: all"
    assert together(together(one, same), other).help == "A, B: how many: all"
    assert together(one, other) == one
