"""The package in a zip file on ``sys.path``, as ``python -m zipapp`` and others pack it: the demos run from there."""

from __future__ import annotations

import os
import zipapp
import zipfile
from pathlib import Path

import pytest

from pytest_agentbench.benchmarks import registry

PACKAGE = Path(registry.__file__).parents[1]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    made = tmp_path_factory.mktemp("zipped") / "library.zip"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path in PACKAGE.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                zipped.write(path, path.relative_to(PACKAGE.parent))
    return made


@pytest.fixture
def zipped(project, archive, monkeypatch, tmp_path):
    """A project in which the package comes from the zip file, and where copies of its files are made."""
    monkeypatch.setenv("PYTHONPATH", str(archive), prepend=os.pathsep)
    copies = tmp_path / "temporary"
    copies.mkdir()
    monkeypatch.setenv("TMPDIR", str(copies))
    project.write(
        conftest__py="import pytest_agentbench\nprint('from', pytest_agentbench.__file__)\n"
    )
    return project


def check(result, archive, project, passed):
    result.assert_outcomes(passed=passed)
    assert f"from {archive}" in result.stdout.str()
    (folder,) = project.runs()
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")[:200]
    assert not [*(project.path.parent / "temporary").glob("agentbench-files-*")]


def test_a_demo_runs_from_a_zip_file(zipped, archive):
    result = zipped.pytest_process("-s", "--benchmark=humob", "--limit=3")
    check(result, archive, zipped, passed=4)
    assert zipped.scores()["samples"]["ok"] == 3


def test_an_isolated_agent_would_read_the_truth_there_and_is_refused(zipped, archive):
    zipped.write(agent__py="def agent(context):\n    return []\n")
    result = zipped.pytest_process(
        "--benchmark=humob", "--limit=1", "--agent=agent.py", "--agent-isolation=process"
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = result.stdout.str() + result.stderr.str()
    assert f"expected pytest-agentbench in a folder, got {archive}" in said


def test_the_template_of_an_agent_is_found_there(zipped, archive):
    code = "from pytest_agentbench.cli import main; main(['new-agent', 'humob'])"
    given = zipped.python("-c", code).stdout.str()
    assert given.strip() == registry.get("humob").agent_template().strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BehaviorModeling", "DailyMobility", "HurricaneMobility"])
def test_the_other_demos_run_there_as_well(zipped, archive, name):
    result = zipped.pytest_process("-s", f"--benchmark={name}", "--limit=3")
    check(result, archive, zipped, passed=4)


@pytest.mark.slow
def test_a_zipapp_runs_a_demo_in_two_workers(project, archive, tmp_path):
    folder = tmp_path / "app"
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    (folder / "start.py").write_text("import sys, pytest\ndef main(): sys.exit(pytest.main())\n")
    zipapp.create_archive(folder, tmp_path / "app.pyz", main="start:main")
    project.write(
        conftest__py="import pytest_agentbench\nprint('from', pytest_agentbench.__file__)\n"
    )
    result = project.python(
        str(tmp_path / "app.pyz"), "-s", "--benchmark=humob", "--limit=3", "-n2"
    )
    check(result, tmp_path / "app.pyz", project, passed=4)
