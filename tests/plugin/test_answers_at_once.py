"""SIGKILL while one call is slow: what all other calls have answered is on disk, and is not asked again."""

from __future__ import annotations

import signal
import sys

import pytest
from faults.sessions import lines_of, logged, numbers, on_disk, start, wait_until, write_agent

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

# The sample of the first item waits for a file; the others answer at once.
WAITS = """
while a == {first} and not os.path.exists(os.path.dirname(__file__) + "/go"):
    time.sleep(0.02)
"""


@pytest.mark.parametrize(
    ("first", "answers", "options"),
    [
        (0, 11, ["--concurrency=3"]),
        (8, 2, ["--chunk=9"]),
        pytest.param(0, 11, ["-n2", "--concurrency=3"], marks=pytest.mark.slow),
        pytest.param(8, 4, ["-n2", "--chunk=9"], marks=pytest.mark.slow),
    ],
    ids=["ahead", "chunk", "ahead in workers", "chunk in workers"],
)
def test_a_kill_costs_the_calls_in_flight_alone(project, first, answers, options):
    write_agent(project, WAITS.format(first=first))
    out = project.path / "out"
    with start(project, *options, "--run-dir=out") as process:
        wait_until(lambda: lines_of(project.path / "answered") >= answers, "the other answers")
        wait_until(lambda: len(on_disk(out)) >= answers, "the answers on disk")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=90)
    known = numbers(project, "answered")
    numbers(project, "asked")
    (project.path / "go").touch()
    again = project.pytest("--benchmark=toysum", "--agent=agent.py", "--resume=out")
    assert again.ret == 0
    assert logged(out) == list(range(12))
    asked = numbers(project, "asked")
    lost = set(asked).intersection(known)
    assert sorted({*range(12)} - {*known} | lost) == asked
    # The other worker may be between its call and the disk.
    assert len(lost) <= ("-n2" in options)
    assert not (out / "answers.jsonl").exists()


def test_a_kill_costs_no_epoch_of_what_was_asked_ahead_in_chunks(project):
    write_agent(project, WAITS.format(first=0))
    out = project.path / "out"
    options = ["--concurrency=8", "--chunk=4", "--epochs=2"]
    with start(project, *options, "--run-dir=out") as process:
        wait_until(lambda: lines_of(project.path / "answered") >= 22, "the other answers")
        paths = [out / name for name in ("answers.jsonl", "records.jsonl")]
        wait_until(lambda: sum(map(lines_of, paths)) >= 22, "the answers on disk")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=90)
    assert numbers(project, "answered") == sorted([*range(1, 12)] * 2)
    numbers(project, "asked")
    (project.path / "go").touch()
    on = ["--benchmark=toysum", "--agent=agent.py", "--chunk=4", "--epochs=2", "--resume=out"]
    assert project.pytest(*on).ret == 0
    assert numbers(project, "asked") == [0, 0]
    assert len(project.records(out)) == 24


def test_answers_of_a_worker_that_died_are_not_marked_as_errors(project):
    write_agent(project, "if a == 9: os._exit(1)")
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--run-dir=out", "-n1", "--chunk=12"
    )
    assert result.ret == 1
    # The chunks are double[s0..s8] (three samples) and sum[s1..s11].
    assert logged(project.path / "out") == list(range(9))
    assert logged(project.path / "out", "error") == [9, 10, 11]
