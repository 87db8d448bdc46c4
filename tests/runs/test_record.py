"""Records are plain JSON, whatever an agent said."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.plain import jsonable
from pytest_agentbench.runs.logged import Logged, LogLines
from pytest_agentbench.runs.record import AnswerText, Record, as_metrics

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_any_json_answer_survives_the_way_to_the_log_and_back(answer):
    kept = jsonable(answer)
    line = Record("b", "s[1]", "ok", answer=kept).to_json()
    assert line.isascii()
    assert "\n" not in line
    assert Record.from_json(line).answer == kept
    assert json.loads(line)["answer"] == kept


@pytest.mark.parametrize("answer", [[[17, 4]] * 1000, "é\ud800" * 600, {"short": 1}, None])
def test_long_answers_stay_in_the_log_and_come_back_whole(tmp_path, answer):
    record = Record("b", "s[1]", "ok", answer=answer, metrics={"r": {"m": 0.5}})
    log = tmp_path / "log"
    log.write_text(f"first\n{record.to_json()}\n", encoding="ascii")
    place = Logged(LogLines(log), 6, len(record.to_json()))
    for back in (
        Record.from_parts(*record.to_parts(), place),
        Record.from_json(record.to_json(), place),
        Record.from_parts(*record.to_parts()),
        Record.from_json(record.to_json()),
    ):
        assert back == record
        assert back.to_json() == record.to_json()
        assert back.has_answer == (answer is not None)
        assert back.changed(metrics={}).answer == answer
    is_long = len(record.to_json()) > 500
    back = Record.from_parts(*record.to_parts(), place)
    log.write_text("", encoding="ascii")  # nobody has it but those who keep it in memory
    if is_long:
        with pytest.raises(BenchmarkError, match="the file was changed meanwhile"):
            _ = back.answer
    else:
        assert back.answer == answer


@given(JSON)
def test_a_record_of_this_process_is_as_if_it_had_been_read_back(answer):
    made = Record(
        "b", "s[1]", "ok", answer=jsonable(answer), metrics={"r": {"m": 0.5}}, seconds=0.1
    )
    parts = made.to_parts()
    assert made.is_plain
    back = Record.from_parts(*parts)
    made.stay(sum(map(len, parts)), None)
    assert made == back
    assert made.to_json() == back.to_json()
    assert made.usage is back.usage
    assert made.evidence is back.evidence


@pytest.mark.parametrize("answer", [[[17, 4]] * 1000, {"short": 1}, None])
def test_a_long_answer_of_this_process_stays_in_the_log_too(tmp_path, answer):
    made = Record("b", "s[1]", "ok", answer=answer)
    line = made.to_json()
    log = tmp_path / "log"
    log.write_text(f"{line}\n", encoding="ascii")
    made.stay(len(line), Logged(LogLines(log), 0, len(line)))
    assert made.answer == answer
    log.write_text("", encoding="ascii")
    if len(line) > 500:
        with pytest.raises(BenchmarkError, match="the file was changed meanwhile"):
            _ = made.answer
    else:
        assert made.answer == answer


@pytest.mark.parametrize(
    "changed",
    [
        {"status": "invalid"},
        {"error": "no"},
        {"evidence": {"stdout": "\ud83d\ude00"}},  # read back, the pair is one character
        {"answer": AnswerText("[1]")},
    ],
)
def test_any_other_record_is_read_back(changed):
    assert not Record("b", "s[1]", "ok", answer=[1]).changed(**changed).is_plain


def test_what_many_records_have_in_common_is_kept_once():
    one, other = (Record.from_json(Record("b", f"s[{n}]", "ok").to_json()) for n in (1, 2))
    for name in ("benchmark", "status", "usage", "evidence"):
        assert getattr(one, name) is getattr(other, name)


@pytest.mark.parametrize("line", ["", "3", "{}", '{"benchmark": "b"}', "[1]", '{"x": 1}', "nonsense",
                                  '{"benchmark": "b", "sample": "s", "status": "fine"}'])  # fmt: skip
def test_what_is_no_record_is_refused(line):
    with pytest.raises(ValueError, match=r"."):
        Record.from_json(line)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"sample": 3}, "`sample`: expected a text, got 3"),
        ({"epoch": 0}, "`epoch`: expected a whole number from 1, got 0"),
        ({"status": ["ok"]}, "`status`: expected a text, got ['ok']"),
        ({"seconds": "1"}, "`seconds`: expected a number, got '1'"),
        ({"usage": {"cost": None}}, "`usage.cost`: expected a number, got None"),
        ({"metrics": {"exact": []}}, "`metrics.exact`: expected an object, got []"),
        ({"metrics": {"exact": {"accuracy": True}}}, "`metrics.exact.accuracy`: expected a number, got True"),
        ({"evidence": "log"}, "`evidence`: expected an object, got 'log'"),
    ],
)  # fmt: skip
def test_a_wrong_type_is_named_by_its_key(changed, said):
    good = json.loads(Record("b", "s[1]", "ok", metrics={"exact": {"accuracy": 1.0}}).to_json())
    with pytest.raises(ValueError, match=r".") as caught:
        Record.from_json(json.dumps({**good, **changed}))
    assert str(caught.value) == said


@pytest.mark.parametrize("levels", [130, 3000, 100_000])
def test_an_answer_of_too_many_levels_is_refused(levels):
    allowed = '{"benchmark": "b", "sample": "s", "status": "ok", "answer": %s}'
    assert Record.from_json(allowed % ("[" * 100 + "]" * 100)).has_answer
    with pytest.raises(ValueError, match="more than 100 levels"):
        Record.from_json(allowed % ("[" * levels + "]" * levels))


def test_keys_of_a_later_version_are_passed_over():
    line = '{"benchmark": "b", "sample": "s", "status": "ok", "judge": {"by": "them"}}'
    assert Record.from_json(line) == Record("b", "s", "ok")


def test_an_answer_that_is_not_set_yet_is_an_attribute_that_is_missing():
    """msgspec asks so while it makes a record; Python 3.14 prints every error but AttributeError."""
    assert not hasattr(object.__new__(Record), "answer")


def test_evidence_of_any_kind_is_looked_through():
    record = Record("b", "s", "ok", evidence={"messages": [3, {"role": "user"}], "missing": "x"})
    assert record.messages == [{"role": "user"}]
    assert record.missing == []


@pytest.mark.parametrize(
    "found",
    [
        {"r": {"m": 0.5, "n": 1.0}, "s": {}},
        {"r": {"m": 1}},
        {"r": {"m": np.float64(0.5)}},
        {"r": {"é": 0.5}},
        {},
    ],
)
def test_what_was_measured_is_kept_as_plain_numbers(found):
    kept = as_metrics(found)
    assert kept == found == json.loads(json.dumps(kept))
    assert all(one is not found.get(name) for name, one in kept.items())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "1", [1.0], True])
def test_what_is_no_finite_number_is_not_measured(value):
    with pytest.raises(ValueError, match=r"`r\.m`: expected a number"):
        as_metrics({"r": {"m": value}})


def test_numbers_without_a_reading_are_not_measured():
    with pytest.raises(ValueError, match=r"`r`: expected an object, got 0\.5"):
        as_metrics({"r": 0.5})


def test_an_answer_that_is_json_already_is_decoded_when_it_is_read():
    made = Record("humob", "uid[1]", "ok", answer=AnswerText("[[1,2],[3,4]]"))
    assert made.answer == [[1, 2], [3, 4]]
    assert made.to_json() == made.changed(answer=[[1, 2], [3, 4]]).to_json()
    assert {type(part) for part in made.to_parts()} == {str}  # xdist carries no subclass


def test_what_metrics_were_made_of_is_not_logged_and_not_read_from_a_log():
    made = Record("humob", "uid[1]", "ok", answer=1)
    based = made.changed(basis=b"days")
    assert (made.basis, based.basis, based.changed(epoch=2).basis) == (b"", b"days", b"days")
    assert based.to_json() == made.to_json()
    line = made.to_json().replace('"status"', '"basis": "ZGF5cw==", "status"')
    assert Record.from_json(line).basis == b""
