"""A lean start leaves the collector and the environment as it found them."""

from __future__ import annotations

import gc
import os

import pytest

from pytest_agentbench.base.lean_start import lean_start

NAME = "OPENBLAS_THREAD_TIMEOUT"


def test_within_it_nothing_is_collected_and_threads_of_openblas_are_to_sleep(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    assert gc.isenabled()
    with lean_start():
        assert not gc.isenabled()
        assert os.environ[NAME] == "4"
    assert gc.isenabled()
    assert NAME not in os.environ


def test_what_the_user_chose_stays(monkeypatch):
    monkeypatch.setenv(NAME, "20")
    gc.disable()
    try:
        with lean_start():
            assert os.environ[NAME] == "20"
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert os.environ[NAME] == "20"


def test_an_import_that_fails_leaves_everything_as_it_was(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    with pytest.raises(ImportError, match="missing"), lean_start():
        raise ImportError("missing")
    assert gc.isenabled()
    assert NAME not in os.environ
