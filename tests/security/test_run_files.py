"""The folder of a run is data: no import, path, command or address in it is followed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import names, run_folder

BAITED = Path(__file__).with_name("baited_runs.py")


@pytest.mark.slow
def test_nothing_that_the_files_of_a_run_name_is_followed(project):
    """Every command of ``agentbench``, --resume, --baseline and --submission, heard by an audit hook.

    `python tests/security/baited_runs.py single` and `every` take one field, or one kind of bait, at a time.
    """
    result = project.python(str(BAITED), "grouped")
    assert result.ret == 0
    assert re.fullmatch("nothing bitten in [0-9]+ commands", result.stdout.str())


def test_a_link_or_a_pipe_among_the_files_is_not_opened(project):
    """A link in a folder that somebody else made names any file here, and a pipe is never read to its end."""
    assert project.pytest("--benchmark=toysum", "--run-dir=good", "-q").ret == 0
    secret = project.path / "secret"
    secret.write_text("{}\n")
    for file in ("manifest.json", "scores.json", "records.jsonl"):
        for make in (lambda path: path.symlink_to(secret), os.mkfifo):
            path = project.path / "good" / file
            whole = path.read_bytes()
            path.unlink()
            make(path)
            found = project.agentbench("save", "kept", "good")
            assert (found.ret, len(found.errlines)) == (2, 1)
            resumed = project.pytest("--benchmark=toysum", "--resume=good")
            assert resumed.ret == (0 if file == "scores.json" else 4)
            if file == "manifest.json":
                assert "in a regular file, got a" in resumed.stderr.str()
            assert secret.read_text() == "{}\n"
            path.unlink()
            path.write_bytes(whole)
    assert project.agentbench("save", "kept", "good").ret == 0


def test_a_manifest_of_a_gigabyte_is_not_read(tmp_path):
    path = tmp_path / "manifest.json"
    with path.open("wb") as file:
        file.truncate(1 << 30)  # takes no room on the disk
    with pytest.raises(BenchmarkError, match="of at most 268,435,456 bytes, got 1,073,741,824"):
        run_folder.read_manifest(tmp_path)
    (tmp_path / "scores.json").write_text("{}")
    assert names.runs_below(tmp_path).runs == []
