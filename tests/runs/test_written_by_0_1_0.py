"""Runs that version 0.1.0 wrote are listed, reported, compared, submitted and resumed as before."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

WRITTEN = Path(__file__).parent / "written_by_0_1_0"


@pytest.fixture
def old(project):
    """The three runs: builtin:half, a process of its own with two epochs, one cut short by -x."""
    shutil.copytree(WRITTEN, project.path, dirs_exist_ok=True)
    return project


def lines(project, *arguments):
    result = project.agentbench(*arguments)
    assert result.ret == 0
    return result.outlines


def test_they_are_listed_and_ranked(old):
    head, *rows = lines(old, "runs", ".")
    assert head.startswith("time")
    shown = {row.split()[-1]: row for row in rows}
    assert set(shown) == {"half", "finished", "cut_short"}
    assert "accuracy 0.5000 [0.2472 .. 0.7472]" in shown["half"]
    ranked = "\n".join(lines(old, "leaderboard", "."))
    assert re.search(r"builtin:half +1  0.5000  0.2472 .. 0.7472 +1.0000 +2/2  half", ranked)
    _, _, apart = ranked.partition("without a rank")
    assert re.search(
        r"my_agent.py +accuracy 0.8333 +0.8333 +finished +gate coverage >= 1: got", apart
    )
    assert re.search(r"later.py .* cut_short +incomplete: ", apart)


def test_their_report_shows_the_settings_of_the_manifest(old):
    assert lines(old, "report", "finished") == [str(old.path / "finished" / "report.html")]
    page = (old.path / "finished" / "report.html").read_text(encoding="utf-8")
    shown = dict(re.findall(r'<th scope="row">([a-z_]+)</th>\s*<td>([^<]*)</td>', page))
    settings = json.loads((old.path / "finished" / "manifest.json").read_text())["settings"]
    assert settings["agent_isolation"] == "process"
    for name in ("agent_isolation", "agent_memory", "agent_timeout", "agent_retries", "epochs"):
        assert shown[name] == str(settings[name])
    assert "accuracy &gt;= 0.99" in shown["gates"]


def test_they_are_compared(old):
    text = "\n".join(lines(old, "compare", "cut_short", "half"))
    assert "compared on 9 common samples" in text
    assert re.search(r"accuracy +0.8889 +0.5556 +-0.3333 +-0.6635 .. -0.1079 +worse", text)
    text = "\n".join(lines(old, "compare", "half", "finished"))
    assert "compared on 12 common samples" in text
    assert re.search(r"accuracy +0.5000 +0.8333 +\+0.3333 +\+0.0837 .. \+0.5837 +better", text)


def test_they_are_baseline_and_submission(old):
    again = old.pytest(
        "--benchmark=toysum", "--submission=half", "--baseline=half", "--run-dir=again",
        "--gate=delta(accuracy) == 0", "-q",
    )  # fmt: skip
    assert again.ret == 0
    scores = old.scores(old.path / "again")
    before = old.scores(old.path / "half")
    assert scores["readings"] == before["readings"]
    assert scores["agent"] == before["agent"]
    two = old.pytest("--benchmark=toysum", "--submission=finished", "--epochs=2", "--run-dir=two")
    assert two.ret == 1  # two samples have no valid answer
    assert old.scores(old.path / "two")["readings"] == old.scores(old.path / "finished")["readings"]


def test_one_that_was_cut_short_is_resumed(old):
    before = old.records(old.path / "cut_short")
    resume = ("--benchmark=toysum", "--agent=later.py", "--resume=cut_short")
    other = old.pytest(*resume, "--seed=3")
    assert "was made with other seed (0, now 3)" in other.stderr.str()
    result = old.pytest(*resume)
    assert result.ret == 1  # one sample fails again
    records = old.records(old.path / "cut_short")
    assert records[: len(before)] == before
    assert old.scores(old.path / "cut_short")["samples"] == {
        "total": 12, "ok": 11, "invalid": 0, "error": 1, "timeout": 0,
    }  # fmt: skip
    kept = {record["sample"] for record in before if record["status"] == "ok"}
    assert not kept & {record["sample"] for record in records[len(before) :]}


def test_a_baseline_that_was_cut_short_is_resumed(old):
    """Its module is another text in this version; its answers are the same."""
    log = old.path / "half" / "records.jsonl"
    first, *_ = before = log.read_text(encoding="ascii").splitlines(keepends=True)
    log.write_text(first, encoding="ascii")
    result = old.pytest("--benchmark=toysum", "--agent=builtin:half", "--resume=half")
    assert result.ret == 0
    assert len(old.records(old.path / "half")) == len(before)
