"""A disk that is full or cannot be written, in the middle of a run: a small tmpfs, really mounted."""

from __future__ import annotations

import subprocess

import pytest
from faults.sessions import logged, numbers, write_agent

COMMON = ("--benchmark=toysum", "--agent=agent.py", "-p", "no:cacheprovider")


@pytest.fixture
def disk(project):
    """Mounts a small disk in the project's folder ``disk``; called again, it changes its options."""
    place = project.path / "disk"
    place.mkdir()

    def mount(options):
        how = ["-o", f"remount,{options}"] if place.is_mount() else ["-t", "tmpfs", "-o", options]
        made = subprocess.run(
            ["mount", *how, "tmpfs", str(place)], capture_output=True, text=True, check=False
        )
        if made.returncode != 0:
            pytest.skip(f"no disk can be mounted here: {made.stderr.strip()}")
        return place

    yield mount
    if place.is_mount():
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("extra", [[], ["-n2"]], ids=["serial", "xdist"])
def test_a_full_disk_ends_the_run_and_what_was_logged_is_kept(project, disk, extra):
    write_agent(project, "print('x' * 5000)")
    run = disk("size=48k") / "out"
    cut = project.pytest(*COMMON, f"--run-dir={run}", *extra)
    assert cut.ret not in (0, 5)
    text = cut.stdout.str()
    assert "No space left on device; what was logged before is kept" in text
    assert f"--resume={run}" in text
    before = logged(run)
    assert 1 <= len(before) < 12
    kept = run / "answers.jsonl"  # of workers; shorter than records, they may still have fitted
    known = {*before, *(logged(run, name=kept.name) if kept.exists() else ())}
    numbers(project, "asked")
    disk("size=20m")
    assert project.pytest(*COMMON, f"--resume={run}", *extra).ret == 0
    assert numbers(project, "asked") == [n for n in range(12) if n not in known]
    assert project.scores(run)["samples"]["ok"] == 12


def test_a_disk_that_was_full_from_the_start_leaves_nothing_in_the_way(project, disk):
    write_agent(project)
    run = disk("size=4k,nr_inodes=4") / "out"
    (run.parent / "fills").write_bytes(b"x" * 4096)
    full = project.pytest(*COMMON, f"--run-dir={run}")
    assert full.ret == pytest.ExitCode.USAGE_ERROR
    assert "No space left on device" in full.stderr.str()
    assert numbers(project, "asked") == []
    disk("size=20m,nr_inodes=100")
    assert project.pytest(*COMMON, f"--run-dir={run}").ret == 0


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_asked(project, disk):
    write_agent(project)
    run = disk("size=20m") / "out"
    project.pytest(*COMMON, f"--run-dir={run}", "-k", "s1 or s2")
    before = (run / "records.jsonl").read_bytes()
    numbers(project, "asked")
    disk("ro")
    for option, said in (
        (f"--resume={run}", "its records.jsonl cannot be written: Read-only file system"),
        (f"--run-dir={run.parent / 'new'}", "expected a folder that can be written"),
    ):
        refused = project.pytest(*COMMON, option)
        assert refused.ret == pytest.ExitCode.USAGE_ERROR
        assert said in refused.stderr.str()
    assert numbers(project, "asked") == []
    assert (run / "records.jsonl").read_bytes() == before
