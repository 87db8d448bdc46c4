"""Files of answers: which entries they have and where each stands, whatever the file is called."""

from __future__ import annotations

import gzip
import json
import pickle

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling.answer_files import read, refuse_evaluation

ONE = {"task_id": 17, "item_list": ["i1"]}
TWO = {"task_id": 18, "stars": 4, "review": "Fine.\u2028Really."}  # a line separator in the text


def is_answer(value):
    return isinstance(value, dict) and "task_id" in value


@pytest.fixture
def reading(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path, is_answer)

    return write


def places(file, tmp_path):
    return [entry.where.removeprefix(f"{tmp_path}/") for entry in file.entries]


def lines(*values):
    return "".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values)


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "a.txt"])
def test_lines_are_counted_as_in_an_editor_with_blank_ones(reading, tmp_path, name):
    file = reading(name, f"{lines(ONE)}\n{lines(TWO)}")
    assert file.format == "JSON Lines"
    assert [entry.value for entry in file.entries] == [ONE, TWO]
    assert places(file, tmp_path) == [f"{name}, line 1", f"{name}, line 3"]


def test_one_line_is_lines_by_the_name_of_the_file_and_else_one_answer(reading, tmp_path):
    file = reading("a.jsonl", lines(ONE))
    assert (file.format, places(file, tmp_path)) == ("JSON Lines", ["a.jsonl, line 1"])
    file = reading("a.json", lines(ONE))
    assert (file.format, places(file, tmp_path)) == ("JSON", ["a.json, entry 0"])


def test_a_damaged_line_is_a_fault_of_that_entry_alone(reading):
    file = reading("a.jsonl", f'{lines(ONE)}{{"task_id": 1\n{lines(TWO)}')
    assert [entry.value for entry in file.entries] == [ONE, None, TWO]
    assert [bool(entry.fault) for entry in file.entries] == [False, True, False]
    assert file.entries[1].fault.startswith("expected JSON, but ")
    assert file.entries[1].where.endswith("a.jsonl, line 2")


def test_gzip_and_a_byte_order_mark_change_nothing(reading):
    plain = b"\xef\xbb\xbf" + json.dumps([ONE, TWO]).encode()
    for name, content in (("a.json", plain), ("a.json.gz", gzip.compress(plain)),
                          ("b.json", gzip.compress(plain))):  # fmt: skip
        assert [entry.value for entry in reading(name, content).entries] == [ONE, TWO]


def test_the_one_list_of_answers_in_an_object_is_found_under_any_key(reading, tmp_path):
    content = {"metadata": {"n": 2}, "tags": ["x"], "outputs": [ONE, None, TWO]}
    file = reading("a.json", json.dumps(content))
    assert [entry.value for entry in file.entries] == [ONE, None, TWO]
    assert places(file, tmp_path)[1] == "a.json, entry 1 of 'outputs'"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", " \n", "expected answers, got an empty file"),
        ("a.json", "3", "expected a list of answers, got 3"),
        ("a.json", '{"x": 1, "y": []}', "expected a list of answers, got an object with ['x', 'y']"),
        ("a.json", json.dumps({"a": [ONE], "b": [TWO]}), "expected one list of answers, got several: 'a', 'b'"),
        ("a.json", '{"metrics": {"top_1": 0.2}}', "got an evaluation of them with ['metrics']"),
        ("a.json", '[{"task_id": 1},\n{"task_id": 2}', "expected JSON or JSON Lines, but "),
        ("a.csv", "task_id,stars\n1,4\n", "expected JSON or JSON Lines, but "),
        ("a.json", b"\xff\xfe[\x00", "got bytes that are no text"),
        ("a.json.gz", gzip.compress(b"[1, 2, 3]" * 99, mtime=0)[:-9], "cannot be unzipped to its end"),
    ],
)  # fmt: skip
def test_what_holds_no_answers_is_said_with_the_file(reading, tmp_path, name, content, message):
    with pytest.raises(BenchmarkError) as error:
        reading(name, content)
    assert str(error.value).startswith(f"{tmp_path / name}: ")
    assert message in str(error.value)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(BenchmarkError, match=r"expected a file of answers, but .*none\.json"):
        read(tmp_path / "none.json", is_answer)


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return open, (str(self.place), "w")


@pytest.mark.parametrize("name", ["results.pkl", "results.json", "results.json.gz"])
def test_a_pickle_is_refused_unopened_whatever_its_name(reading, tmp_path, name):
    sprung = tmp_path / "sprung"
    content = pickle.dumps(Trap(sprung))
    with pytest.raises(BenchmarkError, match="a pickle runs whatever code it holds"):
        reading(name, gzip.compress(content) if name.endswith(".gz") else content)
    assert not sprung.exists()
    pickle.loads(content).close()
    assert sprung.exists()  # the trap works


def test_only_what_has_the_keys_of_scores_is_an_evaluation(tmp_path):
    refuse_evaluation(tmp_path, ONE)
    refuse_evaluation(tmp_path, [{"metrics": 1}])
    with pytest.raises(BenchmarkError, match="as run_simulation\\(\\) returns them"):
        refuse_evaluation(tmp_path, {"type": "simulation", "simulation_metrics": {}})
