"""A population in the published output format."""

from __future__ import annotations

import json

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.daily_mobility.benchmark import DailyMobility
from pytest_agentbench.benchmarks.daily_mobility.intentions import FIELDS


def population(count):
    return {
        "gyration_radius": [100.0 * n for n in range(count)],
        "daily_location_numbers": [1 + n for n in range(count)],
        "intention_sequences": [[1 + n % 7] * 48 for n in range(count)],
        "intention_proportions": [[1, 0, 0, 0, 0, 0, 0]] * count,
    }


@pytest.fixture
def read(tmp_path, folder, load):
    dataset = load(folder())

    def read(content, name="pred.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return DailyMobility().read_submission(path, dataset, None), dataset, path

    return read


def test_rows_are_the_answers_of_the_profiles_in_order(read):
    submission, dataset, _ = read(population(4))
    assert list(submission.answers) == ["user[10]", "user[11]", "user[12]", "user[13]"]
    assert submission.problems == ()
    assert submission.answers["user[12]"]["gyration_radius"] == 200.0
    checked = DailyMobility().check(dataset.sample(2), submission.answers["user[12]"])
    assert checked["intention_sequences"] == [3] * 48


def test_fewer_rows_leave_profiles_missing(read):
    submission, _, _ = read(population(3))
    assert list(submission.answers) == ["user[10]", "user[11]", "user[12]"]


def test_more_rows_are_a_problem(read):
    submission, _, path = read(population(7))
    assert len(submission.answers) == 4
    assert submission.problems == (
        f"{path}: expected 4 people, one a profile, got 7; the last 3 are not scored",
    )


def uneven():
    return {**population(4), "gyration_radius": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "four lists with an entry a person as JSON (Expecting property name"),
        ([], "four lists with an entry a person, got a list"),
        ({"gyration_radius": [1]}, "an entry a person; daily_location_numbers is nothing"),
        ({**population(4), "gyration_radius": 7}, "an entry a person; gyration_radius is a int"),
        (population(0), "an entry a person, got empty lists"),
        (
            uneven(),
            "expected four lists of one length, got gyration_radius 2, daily_location_numbers 4, "
            "intention_sequences 4, intention_proportions 4",
        ),
    ],
)
def test_a_file_of_another_shape_is_refused(read, content, message):
    with pytest.raises(BenchmarkError) as error:
        read(content)
    assert message in str(error.value)
    assert "pred.json: expected " in str(error.value)


def test_a_pickle_is_never_opened(read):
    with pytest.raises(
        BenchmarkError, match="a pickle runs whatever code it holds when it is opened"
    ):
        read("cos\nsystem\n(S'touch owned'\ntR.", "pred.pkl")


def test_a_missing_file_is_named(tmp_path, folder, load):
    with pytest.raises(
        BenchmarkError, match=r"nowhere\.json: expected \{gyration_radius.*No such file"
    ):
        DailyMobility().read_submission(tmp_path / "nowhere.json", load(folder()), None)


def test_the_names_are_those_of_the_published_format():
    assert list(population(1)) == list(FIELDS)
