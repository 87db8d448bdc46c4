"""The folder that ``--dataset`` means."""

from __future__ import annotations

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.sources import hub
from pytest_agentbench.benchmarks.sources.folders import find_folder


def test_the_demo_the_hub_or_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "fetch", lambda repository, revision: tmp_path / f"{revision}")
    demo = tmp_path / "demo"
    assert find_folder("demo", demo, "a/b", "x") == (demo, "demo data (synthetic)")
    assert find_folder("hub", demo, "a/b", "x", "v1") == (tmp_path / "v1", "a/b")
    assert find_folder(tmp_path, demo, "a/b", "x") == (tmp_path, str(tmp_path))
    with pytest.raises(BenchmarkError, match="no: expected demo, hub or a folder with x and y"):
        find_folder(tmp_path / "no", demo, "a/b", "x and y")
