"""Which text models there are on a machine, found out fast and said clearly."""

from __future__ import annotations

import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling.text_models import sets

PACKAGES = ("torch", "transformers", "sentence_transformers")


@pytest.fixture
def installed(monkeypatch):
    """Pretends that all packages are there, so that only weights can be missing."""
    monkeypatch.setattr(sets, "find_spec", lambda name: find_spec("json"))


def saved_model(folder):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


def cached(home, repository, commit="abc"):
    folder = home / "hub" / f"models--{repository.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text(commit, encoding="ascii")
    return saved_model(folder / "snapshots" / commit)


def test_without_weights_published_is_one_message_with_the_command(
    installed, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    cached(tmp_path, sets.TOPIC_REPOSITORY)
    started = time.process_time()  # nothing is waited for, and other load does not count
    with pytest.raises(BenchmarkError) as caught:
        sets.find("published")
    assert time.process_time() - started < 1
    assert f"hf download {sets.EMOTION_REPOSITORY}" in str(caught.value)
    assert f"hf download {sets.TOPIC_REPOSITORY}" not in str(caught.value)


def test_published_weights_are_taken_from_the_clients_cache(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    topic = cached(tmp_path, sets.TOPIC_REPOSITORY)
    emotion = cached(tmp_path, sets.EMOTION_REPOSITORY)
    assert sets.find("published") == sets.ModelSet("published", topic, emotion)
    ref = tmp_path / "hub" / f"models--{sets.TOPIC_REPOSITORY.replace('/', '--')}" / "refs" / "main"
    ref.unlink()  # as after a fetch at a commit
    assert sets.hub_snapshot(sets.TOPIC_REPOSITORY) == topic
    (emotion / "model.safetensors").unlink()  # a download that was broken off
    with pytest.raises(BenchmarkError, match="hf download"):
        sets.find("published")


def test_a_folder_needs_both_models(installed, tmp_path):
    saved_model(tmp_path / "models" / "topic")
    with pytest.raises(BenchmarkError, match=r"emotion.* has no config\.json"):
        sets.find("models", [tmp_path])
    saved_model(tmp_path / "models" / "emotion")
    found = sets.find("models", [tmp_path])
    assert found is not None
    assert found.topic == tmp_path / "models" / "topic"
    with pytest.raises(BenchmarkError, match="expected published, offline, none or a folder"):
        sets.find("modles", [tmp_path])


def test_models_are_told_apart_by_their_content(tmp_path):
    one = sets.ModelSet("x", saved_model(tmp_path / "a"), None)
    same = sets.ModelSet("x", saved_model(tmp_path / "b"), None)
    other = sets.ModelSet("x", saved_model(tmp_path / "c"), None)
    (other.topic / "model.safetensors").write_bytes(b"other")
    assert one.digests() == same.digests()
    assert one.digests() != other.digests()


@pytest.mark.parametrize("package", [*PACKAGES, sets.OFFLINE_PACKAGE])
def test_a_missing_package_is_named_with_the_command_that_mends_it(monkeypatch, package):
    monkeypatch.setattr(
        sets, "find_spec", lambda name: None if name == package else find_spec("json")
    )
    with pytest.raises(BenchmarkError, match=rf"{package} not installed; .*pip install .*\[text\]"):
        sets.find("offline")
    assert sets.find(None) is None
    assert package in sets.why_none(None)


def test_none_is_none(installed):
    assert sets.find("none") is None
    assert "--text-models none" in sets.why_none("none")


def test_finding_a_set_imports_no_model_library():
    code = (
        "import sys, time; from pytest_agentbench.benchmarks.behavior_modeling.text_models import sets; start = time.process_time(); "
        "sets.find(None); assert time.process_time() - start < 1; "
        f"print([m for m in {(*PACKAGES, 'nltk')} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
