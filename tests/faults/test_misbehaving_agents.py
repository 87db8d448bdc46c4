"""Whatever an agent does in its process, every sample has its record, and the session ends in time."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faults.misbehaving import BEHAVIOURS

BENCHMARK = """
from pytest_agentbench import Sample, SampleKey
from toybench import Sums, ToySum

class Ways(ToySum):
    name = "ways"
    def load(self, settings):
        names = {names!r}
        samples = [Sample(SampleKey("way", name), {{"a": n}}, n) for n, name in enumerate(names)]
        data = Sums(samples, "ways")
        data.seed = settings.seed
        return data
"""
MODES = {
    "serial": [],
    "workers": ["-n2"],
    "asked ahead": ["--concurrency=2"],
    "isolated": ["--agent-isolation=process"],
}
DEADLINE = 100.0  # seconds; on a quiet machine each takes about five


# execnet gives workers ten seconds to end by themselves, and one of the agents does not let them.
SLOW = {"workers": [pytest.mark.slow], "asked ahead": [pytest.mark.slow]}


@pytest.mark.parametrize("mode", [pytest.param(m, marks=SLOW.get(m, [])) for m in MODES])
def test_every_sample_has_its_record_whatever_agents_do(project, mode, monkeypatch, tmp_path):
    project.write(ways__py=BENCHMARK.format(names=list(BEHAVIOURS)))
    shutil.copy(Path(__file__).with_name("misbehaving.py"), project.path / "agent.py")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))  # one of them removes it
    monkeypatch.setenv("PYTHONPATH", f"{project.path}:{Path(__file__).parents[1] / 'toy'}")
    command = [
        sys.executable, "-m", "pytest", "--benchmark=ways:Ways", "--agent=agent.py:agent", "--run-dir=out", "-q",
        "--tb=short", "--junitxml=junit.xml", "--agent-timeout=20", "-p", "no:cacheprovider", *MODES[mode],
    ]  # fmt: skip
    with (project.path / "output").open("wb") as output:
        process = subprocess.run(
            command, cwd=project.path, stdout=output, stderr=output, timeout=DEADLINE, check=False
        )
    said = (project.path / "output").read_text(errors="replace")
    assert "INTERNALERROR" not in said
    assert process.returncode == pytest.ExitCode.TESTS_FAILED, said[-3000:]
    records = {one["sample"]: one for one in project.records(project.path / "out")}
    found = {name: records[f"way[{name}]"] for name in BEHAVIOURS if f"way[{name}]" in records}
    expected = {name: status for name, (_, status) in BEHAVIOURS.items()}
    assert {name: one["status"] for name, one in found.items()} == expected, {
        name: one["error"] for name, one in found.items() if one["status"] != expected[name]
    }
    assert max(len(one["error"] or "") for one in found.values()) < 30_000
    assert project.scores(project.path / "out")["samples"]["total"] == len(BEHAVIOURS)
    assert (project.path / "junit.xml").stat().st_size < 3_000_000
