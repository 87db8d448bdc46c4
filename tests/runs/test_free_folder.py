"""A run that could not be written is refused before anything is asked."""

from __future__ import annotations

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.free_folder import check_free


def test_a_file_or_a_link_to_nothing_in_the_way_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "nothing" / "there")
    for place, why in (("file", "Not a dir"), ("file/x", "Not a dir"), ("link", "No such file")):
        with pytest.raises(BenchmarkError, match=rf"can be written, got .* \({why}"):
            check_free(tmp_path / place)


def test_a_folder_that_will_be_made_is_free_and_nothing_is_left_there(tmp_path):
    check_free(tmp_path / "new" / "run")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_run_is_refused_and_one_without_a_record_is_not(tmp_path):
    (tmp_path / run_folder.RECORDS).write_text("")
    check_free(tmp_path)
    (tmp_path / run_folder.ANSWERS).write_text("{}")
    with pytest.raises(BenchmarkError, match="expected a folder without a run"):
        check_free(tmp_path)
