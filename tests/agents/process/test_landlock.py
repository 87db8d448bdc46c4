"""What is visible under a policy, and what links lead to. The sandbox's own tests use Landlock in earnest."""

from __future__ import annotations

from pathlib import Path

from pytest_agentbench.agents.process import landlock
from pytest_agentbench.agents.process.landlock import Policy


def test_visible_is_all_but_the_hidden_and_what_lies_on_the_way(make, tmp_path):
    make(tmp_path, "a/x", "a/truth/y", "a/b/z", "c/d")
    found = set(landlock.visible(tmp_path, [tmp_path / "a/truth", tmp_path / "e/not-yet"]))
    assert found == {tmp_path / name for name in ("a/x", "a/b", "c")}
    assert list(landlock.visible(tmp_path, [Path("/elsewhere")])) == [tmp_path]
    assert list(landlock.visible(tmp_path, [tmp_path])) == []


def test_a_link_makes_nothing_visible(make, tmp_path):
    make(tmp_path, "truth/y", "x")
    (tmp_path / "link").symlink_to(tmp_path / "truth")
    assert list(landlock.visible(tmp_path, [tmp_path / "truth"])) == [tmp_path / "x"]


def test_links_in_hidden_folders_are_followed(make, tmp_path):
    """As in the cache of the hub, where the files of a snapshot are links to blobs."""
    make(tmp_path, "blobs/1", "more/deep/2", "python/bin/python3", "agent.py")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/one").symlink_to("../blobs/1")
    (tmp_path / "data/folder").symlink_to(tmp_path / "more")
    (tmp_path / "data/up").symlink_to(tmp_path)  # holds the agent: nobody's data
    (tmp_path / "more/loop").symlink_to(tmp_path / "data")
    (tmp_path / "name").symlink_to(tmp_path / "data")
    own = (tmp_path / "python", tmp_path / "agent.py")
    policy = landlock.real_places(Policy(own, hidden=(tmp_path / "name",)))
    assert set(policy.hidden) == {tmp_path / name for name in ("data", "blobs/1", "more")}
