"""What is published works: the wheel, made from the sdist, in an environment with nothing else.

The environment is filled from the package index, as a user's is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from docs_blocks import ROOT, blocks

pytestmark = pytest.mark.slow


def run(command, folder, **env):
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def tracked(folder):
    """The files that the repository keeps in a folder, or will, by their path in the repository."""
    listed = run(["git", "ls-files", "-co", "--exclude-standard", folder], ROOT)
    return set(listed.splitlines())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """An sdist of the checkout, the folder it unpacks to, and a wheel of what that holds."""
    pytest.importorskip("hatchling", reason="builds the wheel: pip install -e '.[test]'")
    folder = tmp_path_factory.mktemp("built")
    build = [sys.executable, "-m", "hatchling", "build", "-d", folder, "-t"]
    run([*build, "sdist"], ROOT)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    run([*build, "wheel"], unpacked)
    (wheel,) = folder.glob("*.whl")
    return sdist, unpacked, wheel


def test_the_sdist_holds_the_package_and_what_tests_it(built):
    sdist, _, _ = built
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    if not (ROOT / ".git").exists():
        pytest.skip("only a checkout says what belongs into the sdist")
    missing = tracked(".") - inside
    assert not missing
    assert {"PKG-INFO", "LICENSE", "README.md"} <= inside


def test_the_wheel_holds_the_package_its_data_and_nothing_else(built):
    _, _, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    if not (ROOT / ".git").exists():
        pytest.skip("only a checkout says what belongs into the wheel")
    assert inside == tracked("pytest_agentbench")


def test_an_empty_environment_with_the_wheel_runs_the_demos(built, tmp_path):
    _, unpacked, wheel = built
    venv.create(tmp_path / "env", symlinks=os.name != "nt")
    programs = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", programs / "python", "install", "-q"]
    pip.append("--no-compile")  # what is imported is compiled then, a small part
    run([*pip, "-c", ROOT / "constraints.txt", f"{wheel}[xdist]"], tmp_path)
    cache = {"AGENTBENCH_CACHE": str(tmp_path / "cache"), "PYTHONPATH": "", "COLUMNS": "80"}

    demo = blocks(ROOT / "README.md")[0].text.strip().split(" && ")[-1]
    shown = next(block.text for block in blocks(ROOT / "README.md") if block.language == "text")
    scores = [
        line for line in shown.splitlines() if line.startswith(("geobleu", "dtw", "coverage"))
    ]
    assert len(scores) == 3
    # Anywhere, and where the README is: there a conftest.py is loaded that the tests are run with.
    for folder in (tmp_path, unpacked):
        printed = run([programs / demo.split()[0], *demo.split()[1:]], folder, **cache)
        for line in [*scores, "gate passed: coverage >= 1 (1.0000)"]:
            assert line in printed.splitlines(), printed
        assert "301 passed" in printed
    page = next((unpacked / ".agentbench").rglob("report.html")).read_text(encoding="utf-8")
    assert 'id="chart-script"' in page  # plots need no extra

    others = ("BehaviorModeling", "DailyMobility", "HurricaneMobility")
    asked = [f"--benchmark={name}" for name in others]
    every = [*asked, "--text-models=none", "--agentbench-json=scores.json"]
    run([programs / "pytest", *every, "--limit=5"], tmp_path, **cache)
    written = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert sorted(run["benchmark"] for run in written["runs"]) == sorted(others)
    where = run(
        [programs / "python", "-c", "import pytest_agentbench as p; print(p.__file__)"], tmp_path
    )
    assert Path(where.strip()).is_relative_to(tmp_path)
