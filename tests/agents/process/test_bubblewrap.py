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
    elsewhere = tmp_path.parent / "elsewhere"  # out of reach anyway
    policy = Policy((tmp_path, agent), (own,), hidden=(hidden, truth, later, elsewhere))
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
    assert not elsewhere.exists()
    assert str(elsewhere) not in text


def test_links_on_the_way_are_there_as_well(make, tmp_path):
    tmp_path = tmp_path.resolve()
    make(tmp_path, "real/deep/agent.py")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to(tmp_path / "real")
    command = confined("bwrap", [], Policy((tmp_path / "one/deep/agent.py",)))
    text = " ".join(command)
    assert f"--symlink two {tmp_path / 'one'} " in text
    assert f"--symlink {tmp_path / 'real'} {tmp_path / 'two'} " in text
    place = tmp_path / "real/deep/agent.py"
    assert f"--ro-bind {place} {place} " in text
