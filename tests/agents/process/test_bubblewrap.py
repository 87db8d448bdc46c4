"""How bubblewrap is called. The sandbox's own tests use it in earnest, where it is installed."""

from __future__ import annotations

import os

from pytest_agentbench.agents.process.bubblewrap import confined
from pytest_agentbench.agents.process.landlock import Policy


def test_hidden_places_are_covered_and_the_deeper_place_counts(tmp_path):
    tmp_path = tmp_path.resolve()
    hidden, agent, own = tmp_path / "data", tmp_path / "data" / "agent.py", tmp_path / "own"
    truth = tmp_path / "truth.txt"
    hidden.mkdir()
    own.mkdir()
    agent.touch()
    truth.touch()
    later = tmp_path / "not" / "yet"
    policy = Policy(hidden=(hidden, truth, later), readable=(agent,), writable=(own,))
    command = confined("bwrap", ["program", "--option"], policy)
    assert command[0] == "bwrap"
    assert command[-3:] == ["--", "program", "--option"]
    text = " ".join(command)
    at = [
        text.index(f"--tmpfs {hidden} "),
        text.index(f"--ro-bind {agent} {agent} "),
        text.index(f"--remount-ro {hidden} "),
    ]
    assert at == sorted(at)
    assert f"--ro-bind {os.devnull} {truth} " in text
    assert f"--bind {own} {own} " in text
    # It can be covered only after it was made.
    assert later.is_dir()
    assert f"--tmpfs {later} " in text
