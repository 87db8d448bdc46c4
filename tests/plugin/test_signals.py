"""SIGTERM and SIGHUP: a run ends in order, soon, and says how to go on."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from faults.sessions import lines_of, logged, on_disk, start, wait_until, write_agent

from pytest_agentbench.plugin.signals import Signals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

BLOCKS = "if a == 0: time.sleep(600)"


@pytest.mark.parametrize(
    ("name", "options", "group"),
    [
        ("SIGTERM", ["--concurrency=3"], False),
        pytest.param("SIGHUP", ["-n2", "--concurrency=3"], False, marks=pytest.mark.slow),
        pytest.param("SIGTERM", ["-n2", "--concurrency=3"], True, marks=pytest.mark.slow),
    ],
    ids=["serial", "the controller alone", "the whole group"],
)
def test_a_run_ends_like_after_ctrl_c_though_a_call_blocks(project, name, options, group):
    write_agent(project, BLOCKS)
    with start(project, *options, "--run-dir=out", start_new_session=True) as process:
        wait_until(lambda: len(on_disk(project.path / "out")) == 11, "the other answers")
        before = time.monotonic()
        number = getattr(signal, name)
        os.killpg(process.pid, number) if group else process.send_signal(number)
        text, _ = process.communicate(timeout=90)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert time.monotonic() - before < 30  # minutes less than the call; the machine may be busy
    assert logged(project.path / "out") == list(range(1, 12))
    assert f"incomplete: the session was cut short ({name})" in text
    assert "to go on, give the same command with --resume=out" in text


def test_an_agent_that_swallows_the_interrupt_does_not_hold_up_the_end(project):
    write_agent(project, "try:\n    if a == 4: time.sleep(600)\nexcept BaseException:\n    pass")
    with start(project, "--run-dir=out") as process:
        wait_until(lambda: lines_of(project.path / "asked") == 2, "the second question")
        process.send_signal(signal.SIGTERM)
        text, _ = process.communicate(timeout=90)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert logged(project.path / "out") == [
        0
    ]  # what a call says after it was interrupted is no answer
    assert "--resume=out" in text


@pytest.fixture
def session():
    return SimpleNamespace(shouldstop=False)


@pytest.fixture(autouse=True)
def handlers():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number in before:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_handlers_are_there_for_the_session_alone(session):
    signals = Signals()
    signals.install(session)
    with pytest.raises(KeyboardInterrupt, match="SIGHUP"):
        os.kill(os.getpid(), signal.SIGHUP)
    assert (signals.received, session.shouldstop) == ("SIGHUP", "SIGHUP")
    signals.finishing = True
    os.kill(os.getpid(), signal.SIGTERM)  # what is being written is written
    signals.restore()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


def test_nohup_and_handlers_of_others_are_respected(session):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, others := lambda *_: None)
    signals = Signals()
    signals.install(session)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is others
    signals.restore()
    assert signal.getsignal(signal.SIGTERM) is others


def test_outside_the_main_thread_there_is_no_handler(session):
    signals = Signals()
    thread = threading.Thread(target=signals.install, args=(session,))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
