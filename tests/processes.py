"""Processes that tests look for, and ask."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def happens(event, seconds=90.0):
    """Whether ``event()`` becomes true before the deadline: for all that another process does."""
    deadline = time.monotonic() + seconds
    while not event():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def gone(pid):
    """Whether a process ends within a while; a zombie has ended, once its threads have."""

    def ended():
        try:
            os.kill(int(pid), 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            threads = list(Path(f"/proc/{pid}/task").iterdir())  # they keep its files open
        except OSError:
            return True
        return state == "Z" and len(threads) == 1

    return happens(ended)


@contextmanager
def killed_parent(*command):
    """Starts Python with these arguments, gives the agent's process and folder that it tells, and kills it."""
    command = [sys.executable, *map(str, command)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        try:
            yield parent.stdout.readline().split()
        finally:
            parent.kill()


def asked_at_once(agent, calls):
    """What an agent answers to calls of as many threads."""
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(agent(0))) for _ in range(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
