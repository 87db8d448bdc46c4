"""The cache folder, remembered digests, whole writes, and locks between processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_agentbench.base import files

# Holds a lock in another process until its input ends.
HOLDS = "import os, sys; from pathlib import Path; from pytest_agentbench.base import files\n"


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def other_process(code):
    """A process that has run the code, said so, and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{HOLDS}{code}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_the_cache_folder_follows_the_environment(monkeypatch, tmp_path):
    assert files.cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("AGENTBENCH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert files.cache_folder() == tmp_path / "agentbench"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert files.cache_folder() == tmp_path / ".cache" / "agentbench"


def test_a_digest_is_remembered_for_an_unchanged_file_only(tmp_path, cache_folder):
    path = tmp_path / "data"
    path.write_text("rows")
    long_ago = time.time() - 3600
    os.utime(path, (long_ago, long_ago))
    digest = files.file_digest(path)
    (note,) = (cache_folder / "digests").iterdir()
    note.write_text(note.read_text().replace(digest, "remembered"))
    assert files.file_digest(path) == "remembered"
    os.utime(path)
    assert files.file_digest(path) == digest


def test_a_file_is_replaced_whole_or_stays_as_it_was(tmp_path):
    path = tmp_path / "new" / "x.json"
    files.write_whole(path, "é")
    assert path.read_bytes() == "é".encode()

    def fail_in_the_middle():
        with files.replacing(path) as half:
            half.write_text("half of")
            assert path.read_bytes() == "é".encode()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_in_the_middle()
    assert [file.name for file in path.parent.iterdir()] == ["x.json"]
    assert path.read_bytes() == "é".encode()
    files.write_whole(path, b"other")
    assert path.read_bytes() == b"other"


def test_a_file_may_be_read_by_whom_the_umask_allows(tmp_path):
    before = os.umask(0o027)
    try:
        files.write_whole(tmp_path / "x", "")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


def test_a_folder_is_replaced_whole_too(tmp_path):
    place = tmp_path / "table"
    for name in ("first", "second"):
        with files.replacing(place) as half:
            half.mkdir()
            (half / name).touch()
    assert [path.name for path in tmp_path.rglob("*")] == ["table", "second"]


def test_many_writers_of_one_file_leave_one_of_their_texts(tmp_path):
    path = tmp_path / "x"
    texts = [str(number) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: files.write_whole(path, text), texts * 5))
    assert path.read_text() in texts
    assert list(tmp_path.glob(".x*")) == []


def test_one_builds_while_the_others_wait(tmp_path):
    inside, most = [0], [0]

    def build(_):
        with files.one_at_a_time(tmp_path / "store"):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.01)
            inside[0] -= 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(build, range(8)))
    assert most == [1]


def test_the_end_of_a_process_gives_its_lock_back(tmp_path):
    path = tmp_path / "store"
    holder = other_process(
        f"with files.one_at_a_time(Path({str(path)!r})): print('held', flush=True); sys.stdin.read()"
    )
    holder.kill()
    holder.communicate()
    with files.one_at_a_time(path):
        pass


def test_a_disk_without_room_for_the_lock_costs_only_the_lock(tmp_path):
    (tmp_path / "file").touch()
    with files.one_at_a_time(tmp_path / "file" / "store"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="no lock there")
def test_an_open_file_is_locked_until_its_process_ends(tmp_path):
    path = tmp_path / "records"
    path.touch()
    holder = other_process(
        f"print('held' if files.locked(os.open({str(path)!r}, os.O_WRONLY)) else '', flush=True)\n"
        "sys.stdin.read()"
    )
    with path.open("ab") as file:
        assert files.locked(file.fileno()) is False
        holder.kill()
        holder.communicate()
        assert files.locked(file.fileno()) is True


def test_what_cannot_be_locked_is_told_apart_from_what_is_held():
    read, write = os.pipe()
    os.close(read)
    os.close(write)
    assert files.locked(read) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('["\\ud800"]', r"half a character \('\\ud800'\) in a text"),
        ('{"\\uDFFF": 1}', "half a character"),
        ("[" * 5000 + "]" * 5000, "more than 100 levels"),
        ("[1", "Expecting"),
        ("1" * 5000, "Exceeds the limit"),
    ],
)
def test_json_that_cannot_be_kept_is_a_value_error(text, why):
    with pytest.raises(ValueError, match=why):
        files.parsed_json(text)


def test_whole_characters_may_be_escaped():
    assert files.parsed_json('["\\ud83d\\ude00", "\\\\ud800"]') == ["\U0001f600", "\\ud800"]
