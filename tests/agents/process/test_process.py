"""A program over pipes or a socket: messages, output, its end."""

from __future__ import annotations

import os
import sys
import threading
import time

import pytest
from processes import gone

from pytest_agentbench.agents.process.process import Ended, Process, TimeUp, last_lines


def line(buffer):
    """The first line in the buffer, taken out of it."""
    end = buffer.find(b"\n")
    if end < 0:
        return None
    found = bytes(buffer[:end])
    del buffer[: end + 1]
    return found


@pytest.fixture
def program():
    """Starts Python programs, and ends them."""
    made = []

    def program(source, **options):
        made.append(Process([sys.executable, "-ISuc", source], **options))
        return made[-1]

    yield program
    for process in made:
        process.kill()


def soon():
    return time.monotonic() + 30


ECHO = "import sys\nfor line in sys.stdin:\n    sys.stdout.write(line.upper())\n"


def test_more_than_a_pipe_holds_goes_both_ways_without_a_deadlock(program):
    process = program(ECHO)
    text = b"x" * 3_000_000
    process.send(text + b"\n" + text + b"\n")
    for _ in range(2):
        assert process.receive(line, soon()) == text.upper()
    assert process.alive()


def test_over_a_socket_standard_output_is_captured(program):
    source = (
        "import socket, sys\n"
        "talk = socket.socket(fileno=0)\n"
        "print('printed'); print('complaint', file=sys.stderr)\n"
        "talk.sendall(talk.recv(100).upper())\n"
        "talk.recv(1)\n"
    )
    process = program(source, over_socket=True)
    process.send(b"hello\n")
    assert process.receive(line, soon()) == b"HELLO"
    assert process.output() == ("printed\n", "complaint\n")
    assert process.output() == ("", "")


def test_the_deadline_passes_and_the_program_lives_on(program):
    process = program(ECHO)
    with pytest.raises(TimeUp):
        process.receive(line, time.monotonic() + 0.05)
    process.send(b"late\n")
    assert process.receive(line, soon()) == b"LATE"


@pytest.mark.parametrize(
    ("source", "said", "code"),
    [
        ("print('last')", "ended with exit code 0", 0),
        ("print('last'); raise SystemExit(3)", "ended with exit code 3", 3),
        (
            "import os; print('last'); os.kill(os.getpid(), 9)",
            "was killed by SIGKILL (signal 9; is the machine out of memory?)",
            -9,
        ),
        (
            "import os; print('last'); os.kill(os.getpid(), 15)",
            "killed by SIGTERM (signal 15)",
            -15,
        ),
    ],
    ids=["0", "3", "killed", "terminated"],
)
def test_what_it_said_before_its_end_is_read_and_then_how_it_ended(program, source, said, code):
    process = program(source)
    assert process.receive(line, soon()) == b"last"
    with pytest.raises(Ended):
        process.receive(line, soon())
    assert said in process.ending()
    assert process.exit_code == code
    assert not process.alive()


def test_the_end_of_its_input_ends_it(program):
    process = program(ECHO)
    process.hang_up()
    process.wait(soon())
    assert process.exit_code == 0


def test_another_thread_may_send_or_raise_through_the_one_that_receives(program):
    process = program(ECHO)
    threading.Timer(0.05, process.post, [b"posted\n"]).start()
    assert process.receive(line, soon()) == b"POSTED"
    threading.Timer(0.05, process.post, [KeyError("stop")]).start()
    with pytest.raises(KeyError, match="stop"):
        process.receive(line, soon())


def test_what_it_started_dies_with_it(program):
    source = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid)\n"
        "child.wait()\n"
    )
    process = program(source)
    child = int(process.receive(line, soon()))
    os.kill(child, 0)  # it lives
    process.kill()
    assert gone(child)


def test_of_a_flood_the_last_64_kib_are_kept(program):
    process = program("import sys\nsys.stderr.write('x' * 300_000 + 'reason')\nprint('done')\n")
    assert process.receive(line, soon()) == b"done"
    _, err = process.output()
    head, _, kept = err.partition("\n")
    assert head == f"... ({300_006 - 65_536} bytes before this)"
    assert len(kept) == 65_536
    assert kept.endswith("xreason")


def test_the_last_lines_of_an_error():
    assert last_lines("") == last_lines("\n \n") == ""
    text = "".join(f"{n}\n" for n in range(20))
    assert last_lines(text, count=2) == "; the last lines of its stderr:\n18\n19"
    assert last_lines("a" * 50, longest=5).endswith("\naaaaa")
