"""Answers are read back from where they were logged, and never from another line."""

from __future__ import annotations

import os

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs.logged import Logged, LogLines
from pytest_agentbench.runs.record import Record

LINES = [Record("b", f"s[{n}]", "ok", epoch=n, answer=f"{n}" * 600).to_json() for n in (1, 2, 3)]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(LINES) + "\n", encoding="ascii")
    return path


@pytest.fixture
def places(log):
    lines = LogLines(log)
    size = len(LINES[0]) + 1
    return [Logged(lines, n * size, size) for n in range(3)]


def test_each_answer_is_at_its_place(places):
    assert [one.answer(f"s[{n}]", n) for n, one in enumerate(places, 1)] == [
        "1" * 600, "2" * 600, "3" * 600
    ]  # fmt: skip


def test_a_log_that_is_deleted_or_replaced_comes_back_all_the_same(log, places):
    log.unlink()
    log.write_text("another\n")
    assert places[1].answer("s[2]", 2) == "2" * 600


@pytest.mark.parametrize(
    "now",
    [
        "",
        LINES[0],
        f"moved{LINES[0]}\n{LINES[1]}\n{LINES[2]}\n",
        f"{LINES[2]}\n" * 3,
        "\n".join([LINES[0], LINES[1].replace('"epoch": 2', '"epoch": 7')]),
        f"{LINES[0]}\n{'[' * 700}\n",
        f"{LINES[0]}\n{'3' * 700}\n",
    ],
    ids=[
        "emptied",
        "cut",
        "moved",
        "of another sample",
        "of another epoch",
        "no JSON",
        "no record",
    ],
)
def test_another_line_is_refused_by_name(log, places, now):
    with log.open("r+", encoding="ascii") as file:
        file.truncate()
        file.write(now)
    said = r"records.jsonl: expected the record of s\[2\] where it was logged, got something else"
    with pytest.raises(BenchmarkError, match=said):
        places[1].answer("s[2]", 2)


def test_the_file_is_closed_with_the_last_of_its_places(places):
    file = places[0].lines._file
    os.fstat(file)
    places.clear()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)


def test_there_is_no_place_where_no_more_files_can_be_open_or_it_is_another(tmp_path, monkeypatch):
    path = tmp_path / "log"
    with path.open("w") as file:
        assert LogLines.of(path, file.fileno()) is not None

        def full(*args):
            raise OSError(24, "Too many open files")

        with monkeypatch.context() as patched:
            patched.setattr(os, "open", full)
            assert LogLines.of(path, file.fileno()) is None
        path.rename(tmp_path / "elsewhere")
        path.write_text("another")
        assert LogLines.of(path, file.fileno()) is None
