"""Reference populations: from a file, gzipped or not, and from a run; what is wrong is named."""

from __future__ import annotations

import gzip
import json

import pytest
from benchmarks.lived_days import CITY, HOME, WORK, day

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.daily_mobility.answers import check
from pytest_agentbench.benchmarks.days.reference import FILES, REFERENCE, given, in_folder, load

VISITS = [[0, HOME, 1], [32400, WORK, 4], [64800, HOME, 2]]
LIVED = day(900, [(40, HOME, "sleep"), (2, None, "work"), (54, WORK, "work")])
PEOPLE = [
    {"profile": {"home": HOME, "gender": "Male"}, "visits": VISITS},
    {"profile": {"home": HOME, "age": 70}, **LIVED},
]


def loaded(path, profiles=None):
    def checked(told):
        return check({"day": told}, CITY)["day"]

    return load(path, checked, CITY.position, profiles or {})


def written(path, content):
    text = (content if isinstance(content, str) else json.dumps(content)).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", FILES)
def test_people_of_a_file_with_visits_or_lived_days(tmp_path, name):
    path = written(tmp_path / name, {"note": "made up\nfor tests", "people": PEOPLE})
    assert in_folder(tmp_path) == path
    found = loaded(path)
    assert (found.name, found.note) == (f"{name}, 2 people", "made up for tests")
    assert found.groups == [{"gender": "male"}, {"age": "65 or more"}]
    assert [own["trips"] for own in found.people] == [[2], [1]]
    assert [own["return_home"] for own in found.people] == [[1.0], [0.0]]
    assert found.is_lived
    assert [bool(own["travel_time"]) for own in found.people] == [False, True]


def test_without_a_file_there_is_none(tmp_path):
    assert in_folder(tmp_path) is None
    assert given(None, ()) is None


def test_the_days_of_a_run_are_a_reference(tmp_path):
    records = [
        {"sample": "user[1]", "status": "ok", "answer": check(told, CITY)}
        for told in ({"visits": [{"start": 0, "place": HOME, "intention": 1}]}, LIVED)
    ]
    others = [
        {"sample": "user[2]", "status": "error", "answer": {"day": "none"}},
        {"sample": "user[3]", "status": "ok", "answer": {"gyration_radius": 1.0}},
    ]
    lines = "\n".join(map(json.dumps, [*records, *others]))
    (tmp_path / "records.jsonl").write_text(lines + "\n")
    assert given(str(tmp_path), ()) == tmp_path
    found = loaded(tmp_path, {"user[1]": {"home": WORK, "gender": "f"}})
    assert len(found.people) == 2
    assert found.groups == [{"gender": "f"}] * 2
    assert [own["return_home"] for own in found.people] == [[0.0], [1.0]]


def test_the_parameter_is_looked_for_in_the_bases_and_names_a_place(tmp_path):
    path = written(tmp_path / "days.json", {"people": PEOPLE})
    assert given("days.json", (tmp_path / "elsewhere", tmp_path)) == path
    assert REFERENCE.is_place("days.json")
    assert not REFERENCE.is_place(None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "expected people with visits, or with the rows and trips of a lived day as JSON"),
        ({"people": []}, 'expected {"people": [people with visits, or with the rows and trips'),
        ([], "got []"),
        ({"people": [3]}, "person 0: expected people with visits, or with the rows"),
        ({"people": [{"profile": {}}]}, "person 0: expected people with visits"),
        (
            {"people": [PEOPLE[0], {"visits": [[0, 99, 1]]}]},
            "person 1: expected place of visit 0 as the id of a place of the city or a position",
        ),
        (
            {"people": [{"visits": [[5, HOME, 1]]}]},
            "person 0: expected visit 0 to start at",
        ),
        (
            {"people": [{**LIVED, "rows": LIVED["rows"][:7]}]},
            "person 0: expected rows as 95 to 101 rows, one every 900 seconds, got 7 rows",
        ),
    ],
)
def test_what_is_wrong_is_named_with_file_and_person(tmp_path, content, message):
    path = written(tmp_path / "days.json", content)
    with pytest.raises(BenchmarkError) as error:
        loaded(path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


def test_damaged_and_missing_files(tmp_path):
    path = tmp_path / "days.json.gz"
    path.write_bytes(gzip.compress(b'{"people": []}' * 9)[:-20])
    with pytest.raises(BenchmarkError, match=r"days\.json\.gz: expected people .* as JSON \("):
        loaded(path)
    (tmp_path / "records.jsonl").write_text("{\n")
    with pytest.raises(
        BenchmarkError, match=r"records\.jsonl: expected a record as JSON in line 1"
    ):
        loaded(tmp_path)
    (tmp_path / "records.jsonl").write_text('{"answer": 3}\n')
    with pytest.raises(BenchmarkError, match="got nobody"):
        loaded(tmp_path)
    with pytest.raises(BenchmarkError) as error:
        given("nowhere", ())
    assert str(error.value) == (
        "reference nowhere: expected a JSON file (people with visits, or with the rows and trips of a "
        "lived day) or the folder of a run, got nothing there"
    )
    (tmp_path / "empty").mkdir()
    with pytest.raises(BenchmarkError, match=r"got a folder without records\.jsonl"):
        given(str(tmp_path / "empty"), ())
