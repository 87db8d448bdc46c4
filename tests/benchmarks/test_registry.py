"""Benchmarks of third parties are found like ours."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pytest_agentbench.benchmarks import registry

TOY = Path(__file__).parents[1] / "toy"


@pytest.mark.slow
def test_a_benchmark_from_an_installed_package_runs(pytester, monkeypatch):
    wheel = pytester.path / "toybench-1.0-py3-none-any.whl"
    info = "toybench-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(TOY / "toybench.py", "toybench.py")
        for name in ("METADATA", "entry_points.txt"):
            archive.write(TOY / info / name, f"{info}/{name}")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    site = pytester.path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", str(site), str(wheel)], check=True)
    monkeypatch.setenv("PYTHONPATH", str(site))
    result = pytester.runpytest_subprocess("--benchmark=ToySum")
    assert result.ret == 0
    result.assert_outcomes(passed=13)


def test_names_are_matched_whatever_their_case():
    assert registry.match("HuMob") == "humob"
    assert registry.match("humo") is None


def test_a_benchmark_may_be_named_by_module_and_class():
    found = registry.get("pytest_agentbench.benchmarks.humob.benchmark:Humob")
    assert found.name == "humob"


@pytest.mark.parametrize("name", ["json:JSONDecoder", "json:nothing", "no_such_module:X"])
def test_what_is_no_benchmark_is_refused(name):
    with pytest.raises(registry.UnknownBenchmark, match="expected"):
        registry.get(name)


def test_scripts_of_a_simulator_have_their_benchmark():
    found = registry.simulating("websocietysimulator")
    assert found is not None
    assert found.name == "BehaviorModeling"
    assert registry.simulating("nobodys_simulator") is None
