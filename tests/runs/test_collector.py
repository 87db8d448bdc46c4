"""A run as the controller sees it: what has come, what is missing, what it cost."""

from __future__ import annotations

import json

import pytest
from runs.toy_plan import toy_plan

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs.collector import Carried, Collector, Place, Resuming
from pytest_agentbench.runs.plan import Question
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.run_folder import RunLog, read_records

STARTED = "20260102-030405"


@pytest.fixture
def collect(tmp_path):
    """Collectors of runs of the toy benchmark in one project, closed at the end."""
    made = []

    def collect(resuming=None, agent="builtin:right", digest="d", **settings):
        plan = toy_plan(**settings)
        facts = {"name": agent, "digest": digest}
        place = Place(tmp_path / ".agentbench", tmp_path, ["--benchmark=toysum"])
        collector = Collector(plan, facts, place, STARTED, resuming=resuming)
        made.append(collector)
        return collector

    yield collect
    for collector in made:
        collector.log.close()
        collector.plan.close()


def parts(sample="sum[s1]", status="ok", answer=2, **more):
    return Record("toysum", sample, status, answer=answer, **more).to_parts()


def test_a_record_is_logged_as_it_came_and_found_under_its_question(collect, tmp_path):
    collector = collect()
    folder = tmp_path / ".agentbench" / "runs" / "20260102-030405-toysum-right"
    assert collector.log.folder == folder
    assert not folder.exists()  # nothing has come
    record = collector.add(*parts(epoch=2))
    assert read_records(folder) == [record]
    assert collector.records == {("sum[s1]", 2): record}
    assert collector.came.keys() == {("sum[s1]", 2)}
    assert json.loads((folder / "manifest.json").read_text())["started"] == STARTED


@pytest.mark.parametrize(
    "order", [(True, False, False), (False, True, False), (False, False, True)]
)
def test_a_record_without_a_question_never_replaces_an_attempt_and_is_none(collect, order):
    collector = collect()
    skipped = parts(status="error", answer=None, error="skipped")
    for asked in order:
        collector.add(*(parts() if asked else skipped), asked)
    assert [record.status for record in collector.records.values()] == ["ok"]
    assert collector.attempts_note() is None
    assert read_records(collector.log.folder)[-1].status == "ok"


def test_a_question_that_nobody_asked_has_one_record_and_an_error(collect):
    collector = collect()
    for reason in ("skipped", "setup failed"):
        collector.add(*parts(status="error", answer=None, error=reason), asked=False)
    (record,) = read_records(collector.log.folder)
    assert (record.status, record.error) == ("error", "skipped")
    assert collector.attempts_note() is None


def test_what_was_collected_and_left_no_record_is_missing_in_the_order_of_the_data(collect):
    collector = collect()
    keys = list(map(str, collector.plan.dataset.keys))
    collector.expected = {Question(index, 1) for index in range(11)}
    for index in (8, 2, 6, 0, 4, 11):  # the last is of nobody's question
        collector.add(*parts(keys[index]))
    assert collector.missing() == [keys[index] for index in (1, 3, 5, 7, 9, 10)]
    assert collector.answered() == [Question(index, 1) for index in (0, 2, 4, 6, 8)]
    assert [record.sample for record in collector.logged()] == keys[0:9:2]


@pytest.mark.parametrize(
    ("settings", "usage", "said"),
    [
        ({"max_cost": 0.5}, {"cost": 0.2}, None),
        ({"max_cost": 0.5}, {"cost": 0.25}, "the budget is spent: cost 0.5 of 0.5"),
        ({"max_tokens": 20}, {"input_tokens": 6, "output_tokens": 3}, None),
        (
            {"max_tokens": 20},
            {"input_tokens": 6, "output_tokens": 4},
            "the budget is spent: 20 of 20 tokens",
        ),
        ({}, {"cost": 1e9, "input_tokens": 1e9}, None),
    ],
    ids=["below the cost", "at the cost", "below the tokens", "at the tokens", "no budget"],
)
def test_the_budget_is_that_of_all_workers_together(collect, settings, usage, said):
    collector = collect(**settings)
    for sample in ("sum[s1]", "sum[s2]"):
        collector.add(*parts(sample, usage=usage))
    assert collector.overspent() == said


def test_a_record_that_cannot_be_logged_still_counts_and_the_reason_is_kept(collect, tmp_path):
    other = RunLog(tmp_path / "mine", {})
    other.append("{}")
    (tmp_path / "mine" / "records.jsonl").write_text("")  # another session is at it
    collector = collect(run_dir=tmp_path / "mine")
    record = collector.add(*parts())
    assert collector.logged() == []  # nobody expected it
    assert collector.records == {("sum[s1]", 1): record}
    assert "another session writes its records there" in collector.unlogged
    other.close()


def test_a_folder_that_holds_a_run_is_refused_before_anything_is_asked(collect, tmp_path):
    collect(run_dir=tmp_path / "mine").add(*parts())
    with pytest.raises(BenchmarkError, match=r"it holds records\.jsonl"):
        collect(run_dir=tmp_path / "mine")


def test_a_resumed_run_starts_with_its_records_and_asks_only_what_failed(collect, tmp_path):
    first = collect(run_dir=tmp_path / "mine")
    keys = list(map(str, first.plan.dataset.keys))
    first.add(*parts(keys[0]))
    first.add(*parts(keys[1], "error", None, error="x"))
    first.log.close()
    again = collect(Resuming("mine", False, True))
    assert set(again.records) == {(keys[0], 1), (keys[1], 1)}
    assert again.came.keys() == set()
    assert again.plan.answered == {Question(0, 1)}
    assert again.plan.unasked == {Question(index, 1) for index in range(2, 12)}
    again.add(*parts(keys[1]))
    assert {r.sample: r.status for r in read_records(tmp_path / "mine")} == {
        keys[0]: "ok", keys[1]: "ok",
    }  # fmt: skip


def test_a_run_of_another_seed_is_not_gone_on_with_and_its_log_is_free_again(collect, tmp_path):
    first = collect(run_dir=tmp_path / "mine")
    first.add(*parts())
    first.log.close()
    with pytest.raises(BenchmarkError, match=r"was made with other seed \(0, now 5\)"):
        collect(Resuming("mine", False, False), seed=5)
    assert collect(Resuming("mine", True, False), seed=5).records


def test_records_that_come_together_are_logged_in_one_write(collect, monkeypatch):
    collector = collect()
    written = []
    append = RunLog.append
    monkeypatch.setattr(
        RunLog, "append", lambda log, *lines: (written.append(lines), append(log, *lines))[1]
    )
    samples = ["sum[s1]", "sum[s2]", "sum[s3]"]
    made = [
        Record("toysum", sample, "ok", answer=2).changed(basis=b"\x00\xff") for sample in samples
    ]
    added = collector.add_all(list(map(Carried.of, made)))
    assert [(one.sample, one.basis) for one in added] == [(one, b"\x00\xff") for one in samples]
    assert len(written) == 1
    assert [one.to_json() for one in read_records(collector.log.folder)] == [
        one.to_json() for one in made
    ]
    assert collector.add_all([]) == []
    assert len(written) == 1


def test_a_record_that_was_made_here_is_kept_itself_and_is_what_the_log_says(collect):
    collector = collect()
    plain = Record("toysum", "sum[s1]", "ok", answer=[2], metrics={"r": {"m": 1.0}})
    printed = Record("toysum", "sum[s2]", "ok", answer=2, evidence={"stdout": "\ud83d\ude00"})
    carried = [Carried.of(one)._replace(made=one) for one in (plain, printed)]
    added = collector.add_all(carried)
    assert added[0] is plain
    assert added[1].evidence == {"stdout": "\U0001f600"}
    assert added == read_records(collector.log.folder)


def test_of_records_that_come_together_one_without_a_question_gives_way_to_an_attempt(collect):
    collector = collect()
    attempt = Record("toysum", "sum[s1]", "ok", answer=2)
    skipped = [Record("toysum", f"sum[s{n}]", "error", error="skipped") for n in (1, 2)]
    carried = [Carried.of(attempt), *(Carried.of(one, asked=False) for one in skipped)]
    assert [one.error for one in collector.add_all(carried)] == [None, "skipped"]
    assert [one.sample for one in read_records(collector.log.folder)] == ["sum[s1]", "sum[s2]"]
