"""Output of overlapping calls, kept apart and shown later."""

from __future__ import annotations

import io
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier

import pytest

from pytest_agentbench.agents import captured


@contextmanager
def showing():
    """Streams and a log in the place of pytest's, which puts its own back for every phase of a test."""
    log = logging.StreamHandler(io.StringIO())
    with pytest.MonkeyPatch.context() as patch:
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, io.StringIO())
            patch.setattr(sys, f"__{name}__", getattr(sys, name))
        patch.setattr(logging.getLogger(), "handlers", [log])
        captured.install([log])
        yield lambda: (sys.stdout.getvalue(), sys.stderr.getvalue(), log.stream.getvalue())


def talk(word):
    sys.stdout.write(f"{word} out\n")
    sys.stderr.write(f"{word} err\n")
    logging.getLogger("mine").warning("%s log", word)


def test_what_a_block_prints_and_logs_is_kept_until_it_is_replayed():
    with showing() as shown:
        talk("before")
        with captured.kept() as printed:
            talk("within")
        talk("after")
        kinds = ("out", "err", "log")
        assert shown() == tuple(f"before {kind}\nafter {kind}\n" for kind in kinds)
        printed.replay()
        assert shown() == tuple(f"before {kind}\nafter {kind}\nwithin {kind}\n" for kind in kinds)


def test_calls_that_overlap_do_not_mix():
    with showing() as shown:
        together = Barrier(4, timeout=30)

        def call(number):
            with captured.kept() as printed:
                for _ in range(3):
                    together.wait()
                    talk(number)
            return printed.stdout.getvalue(), [record.getMessage() for record in printed.logs]

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(call, range(4))) == [
                (f"{number} out\n" * 3, [f"{number} log"] * 3) for number in range(4)
            ]
        assert shown() == ("", "", "")


def test_installing_again_keeps_everything_once():
    with showing() as shown:
        captured.install([])
        with captured.kept() as printed:
            talk("kept")
        assert printed.stdout.getvalue() == "kept out\n"
        assert [record.getMessage() for record in printed.logs] == ["kept log"]
        talk("later")
        assert shown() == ("later out\n", "later err\n", "later log\n")
