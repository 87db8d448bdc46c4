"""What an agent has closed is opened again, as what it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_agentbench.agents.descriptors import kept_open


@pytest.mark.parametrize("number", [1, 2])
def test_a_closed_stream_is_opened_again(capfd, number):
    with kept_open():
        os.close(number)
    os.write(number, b"still there\n")
    assert capfd.readouterr()[number - 1] == "still there\n"


def test_nothing_is_left_open():
    def count():
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count()
    with kept_open():
        pass
    with kept_open():
        os.close(1)
    assert count() == before


def test_what_an_agent_puts_there_stays(capfd, tmp_path):
    with (tmp_path / "out").open("wb") as file, kept_open():
        saved = os.dup(1)
        os.dup2(file.fileno(), 1)
    os.write(1, b"to the file")
    os.dup2(saved, 1)
    os.close(saved)
    assert (tmp_path / "out").read_bytes() == b"to the file"
