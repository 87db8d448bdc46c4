"""A few cases of the campaign, and what it has found; mutated_files.py says how to try thousands."""

from __future__ import annotations

import json

import pytest
from fuzz import mutated_files

from pytest_agentbench.base.errors import BenchmarkError


def test_changed_files_are_read_as_what_they_are_or_refused_by_name():
    figures, problems = mutated_files.campaign(count=60, seed=17)
    assert problems == []
    assert figures["read"] > 5
    assert figures["refused"] > 10


DEEP = '{"a":' * 3000 + "1" + "}" * 3000
ODD = {"half a character": '"\\ud800"', "more than 100 levels": DEEP}
FILES = {
    "user.json": '{{"user_id": "demo-user-000", "name": {}}}\n',
    "item.json": '{{"item_id": "i", "title": {}}}\n',
    "review.json": '{{"user_id": "u", "item_id": "i", "text": {}}}\n',
    "test_tasks.json": '[{{"task_id": 1, "target": "review_writing", "user_id": {}}}]',
}


@pytest.mark.parametrize("why", ODD)
@pytest.mark.parametrize("file", FILES)
def test_what_cannot_be_kept_is_refused_with_file_and_line(file, why):
    files = mutated_files.small("BehaviorModeling")
    line = FILES[file].format(ODD[why]).encode()
    lines = files[file].splitlines(True)
    in_lines = not file.endswith("tasks.json")
    files[file] = b"".join([*lines[:2], line, *lines[2:]]) if in_lines else line
    place = r", line 3" if in_lines else ""
    with (
        mutated_files.data_set("BehaviorModeling", files) as folder,
        pytest.raises(BenchmarkError, match=rf"{file}{place}: expected .*{why}"),
    ):
        mutated_files.loaded("BehaviorModeling", folder)


@pytest.mark.parametrize("why", ODD)
@pytest.mark.parametrize("name", ["DailyMobility", "HurricaneMobility"])
def test_profiles_and_truth_likewise(name, why):
    files = mutated_files.small(name)
    files["profiles.json"] = f'[{{"id": 1, "age": {ODD[why]}}}]'.encode()
    with (
        mutated_files.data_set(name, files) as folder,
        pytest.raises(BenchmarkError, match=rf"profiles\.json: expected .*{why}"),
    ):
        mutated_files.loaded(name, folder)


def test_a_date_that_no_float_holds_is_no_date():
    files = mutated_files.small("BehaviorModeling")
    review = {"user_id": "u", "item_id": "i", "text": "x", "timestamp": 10**400}
    files["review.json"] += json.dumps(review).encode() + b"\n"
    with mutated_files.data_set("BehaviorModeling", files) as folder:
        _, dataset = mutated_files.loaded("BehaviorModeling", folder)
        store = dataset.sample(0).context["uir"]
        assert [one["timestamp"] for one in store.get_reviews(user_id="u")] == [10**400]
