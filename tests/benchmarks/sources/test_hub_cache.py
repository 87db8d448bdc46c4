"""Where the hub's client keeps its files: its rules, and our notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_agentbench.benchmarks.sources import hub_cache


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    for name in ("HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "ours"))


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({}, ".cache/huggingface/hub"),
        ({"XDG_CACHE_HOME": "{}/xdg"}, "xdg/huggingface/hub"),
        ({"HF_HOME": "{}/hf", "XDG_CACHE_HOME": "{}/xdg"}, "hf/hub"),
        ({"HF_HOME": "~/hf"}, "hf/hub"),
        ({"HF_HUB_CACHE": "{}/here", "HF_HOME": "{}/hf"}, "here"),
        ({"HUGGINGFACE_HUB_CACHE": "{}/old"}, "old"),
    ],
)
def test_the_folder_follows_the_clients_variables(monkeypatch, tmp_path, variables, folder):
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    assert hub_cache.folder() == tmp_path / folder
    assert hub_cache.repository("a/b", "model") == tmp_path / folder / "models--a--b"


def test_a_note_belongs_to_what_was_asked():
    notes = {
        hub_cache.note("a/b", revision, files, "dataset")
        for revision in (None, "v1")
        for files in (None, ["x"], ["x", "y"])
    }
    assert len(notes) == 6
    assert hub_cache.note("a/b", None, ["y", "x"], "dataset") in notes


def test_every_copy_of_a_data_set_is_named():
    note = hub_cache.note("a/b", None, None, "dataset")
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"folder": "/elsewhere"}))
    assert set(hub_cache.copies("a/b")) == {
        hub_cache.repository("a/b", "dataset"),
        hub_cache.home() / "xet",
        Path("/elsewhere"),
    }
