"""Tables come from the cache, survive damage to it, and follow the file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pytest_agentbench.benchmarks.humob import table_cache
from pytest_agentbench.benchmarks.humob.table_cache import load_table
from pytest_agentbench.benchmarks.humob.tables import read_table


def entries(folder):
    return sorted(folder.glob("humob/*/digests.json"))


def test_the_second_load_maps_what_the_first_has_written(csv, person, cache_folder, monkeypatch):
    path = csv(person(5))
    first = load_table(path)
    monkeypatch.setattr(table_cache, "read_table", None)  # reading again would fail
    second = load_table(path)
    assert second.digest == first.digest
    assert isinstance(second.table.rows.base, np.memmap)
    assert second.table.of(5).tolist() == [list(row[1:]) for row in person(5)]
    assert len(entries(cache_folder)) == 1


def test_a_changed_file_is_read_again(csv, person):
    path = csv(person(5))
    old = load_table(path)
    csv(person(6))
    new = load_table(path)
    assert new.table.uids.tolist() == [6]
    assert new.digest != old.digest


@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "other"])
def test_a_damaged_cache_is_built_anew(csv, person, cache_folder, damage):
    path = csv(person(5))
    load_table(path)
    rows = entries(cache_folder)[0].with_name("rows.npy")
    if damage == "cut":
        rows.write_bytes(rows.read_bytes()[:-10])
    elif damage == "empty":
        rows.write_bytes(b"")
    elif damage == "gone":
        rows.unlink()
    else:
        np.save(rows, np.zeros((3, 4), np.int16))
    assert load_table(path).table.of(5).tolist() == [list(row[1:]) for row in person(5)]
    assert np.load(rows).shape == (15, 4)


def test_a_cache_that_cannot_be_written_is_done_without(csv, person, tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    monkeypatch.setenv("AGENTBENCH_CACHE", str(blocked))
    assert load_table(csv(person(5))).table.uids.tolist() == [5]


def test_many_processes_build_it_at_once_and_nothing_is_left_over(csv, person, cache_folder):
    path = csv([row for uid in range(50) for row in person(uid)])
    code = (
        "import sys, pathlib; from pytest_agentbench.benchmarks.humob.table_cache import load_table;"
        "print(load_table(pathlib.Path(sys.argv[1])).table.rows.sum())"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    said = {worker.communicate(timeout=60)[0] for worker in workers}
    assert [worker.returncode for worker in workers] == [0, 0, 0, 0]
    assert len(said) == 1
    assert len(entries(cache_folder)) == 1
    assert not list(cache_folder.glob("humob/.*"))


def test_tables_unused_for_long_make_room(csv, person, cache_folder):
    load_table(csv(person(5), "old.csv"))
    (old,) = entries(cache_folder)
    long_ago = time.time() - 100 * 86400
    os.utime(old, (long_ago, long_ago))
    load_table(csv(person(6), "new.csv"))
    assert len(entries(cache_folder)) == 1
    assert not old.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_rows_that_are_let_go_take_no_memory_and_are_there_when_asked_for(
    csv, person, cache_folder
):
    table = load_table(csv(person(1))).table
    rows = table.rows.tolist()
    assert resident(cache_folder) > 0
    table_cache.let_go(table)
    assert resident(cache_folder) == 0
    assert table.rows.tolist() == rows


def resident(folder):
    """Kilobytes of the mapped rows below a folder that are in memory; other tests may have some of their own."""
    total, ours = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ")[0]:
            ours = str(folder) in line and line.endswith("/rows.npy")
        elif ours and line.startswith("Rss:"):
            total += int(line.split()[1])
    return total


def test_rows_that_are_not_mapped_stay_as_they_are(csv, person):
    table = read_table(csv(person(1)))
    rows = table.rows.tolist()
    table_cache.let_go(table)
    assert table.rows.tolist() == rows
