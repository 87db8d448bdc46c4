"""Ctrl-C, once and twice, and -x: what workers know is taken in before the session ends."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from faults.sessions import lines_of, logged, numbers, on_disk, start, wait_until, write_agent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

# Samples 0 and 4, the first ones of the two workers, wait for a file; all others answer at once.
WAITS = """
while a in (0, 4) and not os.path.exists(os.path.dirname(__file__) + f"/go{a}"):
    time.sleep(0.02)
"""
AHEAD = ("-n2", "--concurrency=3", "--run-dir=out")


def wait_for_answers_ahead(project):
    wait_until(lambda: len(on_disk(project.path / "out")) == 10, "the answers asked ahead")


def test_ctrl_c_in_a_terminal_saves_what_workers_asked_ahead(project):
    write_agent(project, WAITS)
    with start(project, *AHEAD, start_new_session=True) as process:
        wait_for_answers_ahead(project)
        os.killpg(process.pid, signal.SIGINT)
        text, _ = process.communicate(timeout=90)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert logged(project.path / "out") == [n for n in range(12) if n not in (0, 4)]
    assert "to go on, give the same command with --resume=out" in text


def test_an_interrupt_of_the_controller_alone_hears_its_workers_out(project):
    write_agent(project, WAITS)
    with start(project, *AHEAD) as process:
        wait_for_answers_ahead(project)
        process.send_signal(signal.SIGINT)
        for number in (0, 4):
            (project.path / f"go{number}").touch()
        process.communicate(timeout=90)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert logged(project.path / "out") == list(range(12))


def test_the_first_failure_ends_all_workers_and_saves_what_they_asked_ahead(project):
    write_agent(project, f"{WAITS}if a == 0: return 'x'")
    out = project.path / "out"
    with start(project, *AHEAD, "-x") as process:
        wait_for_answers_ahead(project)
        (project.path / "go0").touch()
        wait_until(lambda: lines_of(out / "records.jsonl") >= 1, "the failure")
        (project.path / "go4").touch()
        text, _ = process.communicate(timeout=90)
    assert process.returncode not in (0, pytest.ExitCode.NO_TESTS_COLLECTED)
    assert "1 failed, 1 passed" in text, "the other worker reported more than the sample it was at"
    assert logged(out, "invalid") == [0]
    assert logged(out) == list(range(1, 12))


@pytest.mark.slow
def test_a_session_interrupted_twice_keeps_what_was_logged(project):
    write_agent(project, WAITS.replace("(0, 4)", "(4, 5)"))
    out = project.path / "out"
    with start(project, "-n2", "--run-dir=out", start_new_session=True) as process:
        wait_until(lambda: lines_of(out / "records.jsonl") >= 2, "two records")
        before = logged(out)
        for _ in range(2):
            os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=90)
    assert process.returncode != 0
    kept = logged(out)
    assert set(before) <= set(kept)
    numbers(project, "asked")
    for number in (4, 5):
        (project.path / f"go{number}").touch()
    assert project.pytest("--benchmark=toysum", "--agent=agent.py", "--resume=out").ret == 0
    assert numbers(project, "asked") == [n for n in range(12) if n not in kept]
