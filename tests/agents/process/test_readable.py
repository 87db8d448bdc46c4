"""What a confined agent may read, and what is kept from it in its own folder."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from pytest_agentbench.agents.process import readable


@pytest.fixture
def names(tmp_path):
    """Paths as names within the folder."""
    return lambda paths: {Path(path).relative_to(tmp_path).as_posix() for path in paths}


def test_importable_is_code_and_not_what_lies_beside_it(make, tmp_path, names):
    make(tmp_path, "helper.py", "fast.so", "package/__init__.py", "package/prompt.txt", "space/deep/x.py",
         "data/rows.csv", "notes.txt", ".hidden/x.py", "not-a-name/x.py")  # fmt: skip
    (tmp_path / "link").symlink_to(tmp_path / "package")
    assert names(readable.importable(tmp_path)) == {"helper.py", "fast.so", "package", "space"}
    assert list(readable.importable(tmp_path / "nowhere")) == []


def test_a_home_or_temporary_folder_is_nobodys_own(make, tmp_path, names, monkeypatch):
    make(
        tmp_path,
        "home/me/agent.py",
        "home/me/letters.txt",
        "home/me/project/agent.py",
        "home/you/agent.py",
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home/me"))
    project = tmp_path / "home/me/project"
    assert readable.whole(project) == [project]
    assert names(readable.whole(tmp_path / "home/me")) == {"home/me/agent.py"}
    assert names(readable.whole(tmp_path / "home/you")) == {"home/you/agent.py"}
    assert tmp_path / "home" not in readable.whole(tmp_path / "home")


def test_remains_are_repositories_runs_and_reports(make, tmp_path, names):
    make(tmp_path, "agent.py", "words/list.txt", ".git/HEAD", "a/b/.git", "out/manifest.json", "out/scores.json",
         "cut/records.jsonl", "web/manifest.json", "web/index.html", "mlruns/0/x", "node_modules/m/records.jsonl",
         ".agentbench/runs/1/records.jsonl", ".venv/pyvenv.cfg", ".venv/x/records.jsonl")  # fmt: skip
    (tmp_path / "page.html").write_text("<p>…</p><footer>pytest-agentbench 0.1.0</footer>", "utf-8")
    found = readable.remains([tmp_path])
    assert names(found) == {".git", "a/b/.git", "out", "cut", "mlruns", ".agentbench", "page.html"}


def test_many_runs_are_hidden_with_their_folder(make, tmp_path, names):
    make(
        tmp_path,
        *(f"mine/runs/{n}/records.jsonl" for n in range(30)),
        *(f"{n}/records.jsonl" for n in range(30)),
    )
    found = names(readable.remains([tmp_path]))
    assert "mine/runs" in found
    assert found - {"mine/runs"} == {
        str(n) for n in range(30)
    }  # the agent's own folder is not hidden


def test_what_is_too_large_to_search_is_kept_back(make, tmp_path, names, monkeypatch):
    make(tmp_path, "agent.py", *(f"big/{n}/x/y" for n in range(20)))
    monkeypatch.setattr(readable, "MOST_SEARCHED", 10)
    assert names(readable.remains([tmp_path])) == {f"big/{n}" for n in range(20)}
    assert readable.remains([tmp_path], beyond_reach=False) == []


def test_a_python_in_a_project_is_not_the_project(make, tmp_path, names):
    make(tmp_path, "pyvenv.cfg", "bin/python", "lib/x.py", "data/truth.txt", "truth.txt")
    assert names(readable.environment(tmp_path)) == {"pyvenv.cfg", "bin", "lib"}
    (tmp_path / "conda-meta").mkdir()
    assert readable.environment(tmp_path) == [tmp_path]


def test_code_is_found_on_the_path_and_in_editable_installs(make, tmp_path, monkeypatch):
    make(
        tmp_path,
        "source/mine/__init__.py",
        "source/data/truth.txt",
        "flat/tool.py",
        "venv/site-packages/x.py",
    )
    module = ModuleType("__editable___mine_finder")
    module.MAPPING = {"mine": str(tmp_path / "source/mine")}
    monkeypatch.setitem(sys.modules, module.__name__, module)
    packages, code = readable.python([str(tmp_path / "flat"), str(tmp_path / "venv/site-packages")])
    assert tmp_path / "venv/site-packages" in packages
    assert {tmp_path / "source/mine", tmp_path / "flat/tool.py"} <= set(code)
    assert tmp_path / "flat" not in code


def test_the_root_of_our_checkout_is_no_package():
    root = readable.PACKAGE.parent
    packages, code = readable.python([str(root)])
    assert readable.PACKAGE in packages
    assert not [path for path in code if path.parent == root]


def test_nothing_with_passwords_is_of_the_system():
    found = set(map(str, readable.system()))
    assert found >= {"/usr/bin", "/usr/lib"} or sys.platform != "linux"
    assert not found & {
        "/",
        "/etc",
        "/etc/shadow",
        "/usr",
        "/home",
        "/root",
        "/var",
        "/tmp",
        "/run",
        "/opt",
        "/mnt",
    }
