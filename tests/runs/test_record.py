"""Records are plain JSON, whatever an agent said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.base.plain import jsonable
from pytest_agentbench.runs.record import Record

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
def test_long_answers_are_kept_small_and_come_back_whole(answer):
    record = Record("b", "s[1]", "ok", answer=answer, metrics={"r": {"m": 0.5}})
    for back in (Record.from_parts(*record.to_parts()), Record.from_json(record.to_json())):
        assert back == record
        assert back.to_json() == record.to_json()
        kept = vars(back)["answer"]
        assert len(kept if isinstance(kept, bytes) else json.dumps(kept)) < 500


@pytest.mark.parametrize("line", ["", "3", "{}", '{"benchmark": "b"}', "[1]", '{"x": 1}', "nonsense",
                                  '{"benchmark": "b", "sample": "s", "status": "fine"}'])  # fmt: skip
def test_what_is_no_record_is_refused(line):
    with pytest.raises(ValueError, match=r"."):
        Record.from_json(line)
