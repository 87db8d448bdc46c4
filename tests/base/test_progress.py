"""Lines about long work: when they come, and to whom."""

from __future__ import annotations

from pytest_agentbench.base import progress


def test_the_listener_is_given_back(capsys):
    heard, outer = [], []
    with progress.lines_go_to(outer.append):
        with progress.lines_go_to(heard.append):
            progress.say("one")
        progress.say("two")
    progress.say("three")
    assert (heard, outer) == (["one"], ["two"])
    assert capsys.readouterr().err == "three\n"


def test_a_session_that_is_over_hears_nothing_more(pytester, monkeypatch, capsys):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(pytester.path / "cache"))
    result = pytester.runpytest_inprocess("--benchmark=HurricaneMobility", "--limit=1")
    assert result.ret == 0
    capsys.readouterr()
    progress.say("afterwards")
    assert capsys.readouterr().err == "afterwards\n"


def test_short_work_is_silent_and_long_work_is_counted(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    heard = []
    with progress.lines_go_to(heard.append):
        work = progress.Progress("reading", "rows", total=100)
        for _ in range(10):
            work.add(5)
            clock[0] += 1
    assert heard == [
        "reading: 20 of 100 rows, 7 a second, about 12 s left",
        "reading: 45 of 100 rows, 6 a second, about 10 s left",
    ]
