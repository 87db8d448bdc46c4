"""``agentbench check``: only a finished, consistent run that has passed its gates is believed."""

from __future__ import annotations

import json

import pytest

from pytest_agentbench.scoring.verdict import verdict


@pytest.fixture
def run(project):
    assert project.pytest("--benchmark=toysum", "--run-dir=out").ret == 0
    return project.path / "out"


def edit(run, **changes):
    path = run / "scores.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_run_that_passed(project, run):
    assert verdict(run).passed
    result = project.agentbench("check", "out")
    assert result.ret == 0
    assert result.outlines == [
        "out: passed: 12 of 12 samples have a valid answer, 1 of 1 gates passed"
    ]


def spoil_nothing_finished(run):
    (run / "scores.json").unlink()
    return "not finished (no scores.json)"


def spoil_incomplete(run):
    edit(run, incomplete="the session was cut short (SIGTERM)")
    return "not finished: the session was cut short (SIGTERM)"


def spoil_answers_left(run):
    (run / "answers.jsonl").write_text("{}\n")
    return "answers.jsonl holds answers that are not scored"


def spoil_a_record_more(run):
    with (run / "records.jsonl").open("a") as file:
        file.write((run / "records.jsonl").read_text().splitlines()[0].replace("1.0", "0.0") + "\n")
    return "records.jsonl is not the file that scores.json was made of"


def spoil_a_record_less(run):
    lines = (run / "records.jsonl").read_text().splitlines(keepends=True)
    (run / "records.jsonl").write_text("".join(lines[1:]))
    return "records.jsonl is not the file that scores.json was made of"


def spoil_no_facts_of_the_log(run):
    edit(run, records=None)
    return "does not say which records it was made of"


def spoil_counts(run):
    edit(run, samples={"total": 12, "ok": 11})
    return "the counts do not agree"


def spoil_nothing_asked(run):
    edit(run, samples={})
    return "the counts do not agree"


def spoil_no_gates(run):
    edit(run, gates=[])
    return "no gate was decided"


def spoil_an_open_gate(run):
    edit(run, gates=[{"gate": "coverage >= 1"}])
    return "not decided: coverage >= 1"


def spoil_a_failed_gate(run):
    edit(run, gates=[{"gate": "a >= 1", "passed": False, "value": 0.5, "threshold": 1.0}])
    return "gate failed: a >= 1: got 0.5 against 1"


def spoil_a_sample(run):
    """As with a gate ``coverage >= 0.5``: its test has failed."""
    edit(run, samples={"total": 12, "ok": 11, "error": 1})
    return "1 of 12 samples have no valid answer"


def spoil_a_file(run):
    (run / "scores.json").write_text("[]")
    return "expected the scores of a run"


SPOILED = [one for name, one in globals().items() if name.startswith("spoil_")]


@pytest.mark.parametrize("spoil", SPOILED, ids=lambda one: one.__name__.removeprefix("spoil_"))
def test_what_is_not_believed(run, spoil):
    reason = spoil(run)
    found = verdict(run)
    assert not found.passed
    assert reason in found.reason


def test_what_pytest_failed_fails_here_too(project):
    """Also for what is no gate of the user's: a file that was not written, a sample that left no record."""
    project.write(
        conftest__py="def pytest_agentbench_scores(scores):\n    raise RuntimeError('mine')\n"
    )
    assert project.pytest("--benchmark=toysum").ret == 1
    result = project.agentbench("check")
    assert result.ret == 1
    assert len(result.outlines) == 1
    assert "gate failed: files written: RuntimeError: mine" in result.outlines[0]


def test_a_run_that_goes_on_is_not_finished(project):
    """Until its session has ended, a resumed run has not the scores of the earlier one."""
    project.write(
        agent__py="from pathlib import Path\n"
        "def agent(c):\n"
        "    assert c['a'] not in (8, 9) or Path('again').exists()\n"
        "    if c['a'] == 9: Path('seen').write_text(str(Path('out/scores.json').exists()))\n"
        "    return c['a'] + c['b']\n",
    )
    args = ("--benchmark=toysum", "--agent=agent.py")
    assert project.pytest(*args, "--run-dir=out").ret == 1
    assert project.agentbench("check", "out").ret == 1
    (project.path / "again").touch()
    assert project.pytest(*args, "--resume=out").ret == 0
    assert (project.path / "seen").read_text() == "False"
    assert project.agentbench("check", "out").ret == 0


def test_a_name_of_nothing_is_a_usage_error(project):
    assert project.agentbench("check", "nothing").ret == 2


def test_a_run_that_ended_before_its_first_record_has_not_passed(project):
    project.write(out___manifest__json="{}")
    result = project.agentbench("check", "out")
    assert result.ret == 1
    assert "out: not passed: not finished" in result.outlines[0]
