"""Two sessions at once in one folder: one of them writes, the other is told so."""

from __future__ import annotations

import pytest
from faults.sessions import lines_of, logged, numbers, start, wait_until, write_agent

WAITS = """
while a == 3 and not os.path.exists({go!r}):
    time.sleep(0.02)
"""


def test_a_run_under_way_is_neither_begun_again_nor_resumed(project):
    write_agent(project, WAITS.format(go=str(project.path / "go")))
    out = project.path / "out"
    with start(project, "--run-dir=out") as first:
        wait_until(lambda: lines_of(project.path / "asked") == 6, "the sample that waits")
        for option, said in (
            ("--run-dir=out", "out: expected a folder without a run, but it holds records.jsonl"),
            ("--resume=out", "out: another session writes its records there; wait for its end"),
        ):
            second = project.pytest("--benchmark=toysum", "--agent=agent.py", option)
            assert second.ret == pytest.ExitCode.USAGE_ERROR
            assert said in second.stderr.str()
        (project.path / "go").touch()
        first.communicate(timeout=90)
    assert first.returncode == 0
    assert len(numbers(project, "asked")) == 12, "the other sessions have asked nothing"
    assert logged(out) == list(range(12))


def test_of_two_that_begin_together_one_has_the_folder(project):
    # Both have looked at the folder, which is empty, before either has a first record.
    body = (
        "while len(open(os.path.dirname(__file__) + '/asked').read().split()) < 2: time.sleep(0.02)"
    )
    write_agent(project, body)
    both = [start(project, "--run-dir=out") for _ in range(2)]
    texts = [process.communicate(timeout=90)[0] for process in both]
    codes = [process.returncode for process in both]
    assert sorted(code == 0 for code in codes) == [False, True], texts
    loser = texts[codes.index(max(codes))]
    assert "out: another session writes its records there" in loser
    out = project.path / "out"
    assert logged(out) == list(range(12))
    assert project.scores(out)["incomplete"] is None
