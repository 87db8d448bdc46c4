"""The log or the folder of a run is deleted while the run is under way: that is noticed, and the truth is said."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted")

AGENT = """
import os, shutil
def agent(c):
    if c["a"] == {when}:
        {how}
    return c["a"] + c["b"]
"""
HOW = {
    "log": "os.unlink('out/records.jsonl')",
    "folder": "shutil.rmtree('out')",
    "replaced": "os.rename('out/records.jsonl', 'out/old'); open('out/records.jsonl', 'w').close()",
}


@pytest.mark.parametrize("when", [5, 11], ids=["in the middle", "at the last sample"])
@pytest.mark.parametrize("how", HOW)
def test_it_is_noticed_and_no_resume_is_promised(project, how, when):
    project.write(agent__py=AGENT.format(when=when, how=HOW[how]))
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--run-dir=out")
    assert result.ret not in (0, pytest.ExitCode.INTERNAL_ERROR)
    text = result.stdout.str() + result.stderr.str()
    assert "was deleted or replaced while the run was under way" in text
    assert "--resume" not in text
    left = "manifest.json" if how != "folder" else "nothing"
    assert f"left in its folder: {left}" in text
    assert not (project.path / "out" / "scores.json").exists()


def test_deleted_after_the_last_record(project):
    project.write(
        conftest__py="import os, pytest\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_runtest_logfinish(nodeid):\n"
        "    if 's11' in nodeid: os.unlink('out/records.jsonl')\n"
    )
    result = project.pytest("--benchmark=toysum", "--run-dir=out")
    assert result.ret == 1
    assert "was deleted or replaced" in result.stdout.str()


@pytest.mark.parametrize("when", [5, 11], ids=["in the middle", "at the last sample"])
def test_a_log_that_is_cut_is_noticed(project, when):
    cut = "os.truncate('out/records.jsonl', 10)"
    project.write(agent__py=AGENT.format(when=when, how=cut))
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--run-dir=out")
    assert result.ret not in (0, pytest.ExitCode.INTERNAL_ERROR)
    assert "was cut while the run was under way" in result.stdout.str() + result.stderr.str()
    assert not (project.path / "out" / "scores.json").exists()
