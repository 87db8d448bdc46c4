"""Which runs are put together, and what is missing then."""

from __future__ import annotations

import re
import shutil

import pytest
from toy_parts import part, read, rewrite

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder, stored
from pytest_agentbench.runs.plan import Question
from pytest_agentbench.scoring import merging


def load(*folders):
    from toybench import ToySum

    return [stored.begun(folder, stored.Named((ToySum(),))) for folder in folders]


def refused(runs):
    with pytest.raises(BenchmarkError) as caught:
        merging.check_alike(runs)
    return str(caught.value)


@pytest.fixture
def first(tmp_path):
    return part(tmp_path / "first", range(6))


OTHERS = {
    "agent": ({"manifest": {"agent": {"name": "mine.py", "digest": "d"}}}, "'builtin:half', got 'mine.py'"),
    "data": ({"shift": 3}, "expected data [0-9a-f]{12}…, got [0-9a-f]{12}…"),
    "seed": ({"seed": 7}, "expected seed 0, got 7"),
    "mode": ({"mode": "inference"}, "expected mode 'test', got 'inference'"),
    "reading": ({"reading": "lenient"}, "expected reading 'exact', got 'lenient'"),
    "epochs": ({"epochs": 2}, "expected epochs 1, got 2"),
    "limit": ({"settings": {"limit": 3}}, "expected limit None, got 3"),
    "models": ({"settings": {"llm": [{"model": "m", "base_url": "http://m"}]}}, r"expected llm \[\], got .*http://m"),
    "conditions": ({"conditions": {"candidate order": "seed 1"}}, "expected candidate order 'seed 0', got 'seed 1'"),
}  # fmt: skip


@pytest.mark.parametrize("key", OTHERS)
def test_runs_of_different_kinds_are_refused(tmp_path, first, key):
    changes, message = OTHERS[key]
    second = part(tmp_path / "second", range(6, 12), **changes)
    said = refused(load(first, second))
    assert said.startswith(f"{second} cannot be merged with {first}: ")
    assert re.search(message, said), said


def test_agents_of_two_versions_are_refused_unless_they_are_baselines(tmp_path, first):
    other = {"name": "builtin:half", "digest": "e"}
    second = part(tmp_path / "second", range(6, 12), manifest={"agent": other})
    merging.check_alike(load(first, second))  # their file changes with every version of the package
    mine = [{"agent": {"name": "mine.py", "digest": digest}} for digest in ("d", "e")]
    both = [part(tmp_path / m["agent"]["digest"], manifest=m) for m in mine]
    assert "expected agent source 'd', got 'e'" in refused(load(*both))


def test_what_may_differ(tmp_path, first):
    """Paths of another machine, gates, workers and how the agent was asked."""
    elsewhere = {
        "dataset": "/elsewhere", "submission": "/elsewhere/too", "concurrency": 8, "gates": ["accuracy > 1"],
        "agent_isolation": "process",
    }  # fmt: skip
    second = part(tmp_path / "second", range(6, 12), settings=elsewhere)
    runs = load(first, second)
    merging.check_alike(runs)
    assert [gate.text for gate in merging.gates_of(runs)] == ["coverage >= 1", "accuracy > 1"]


def test_a_run_and_a_shard_are_given_once(tmp_path, first):
    assert "expected each run once, got it twice" in refused(load(first, first))
    shards = [part(tmp_path / f"s{n}", range(n), shard=(1, 4)) for n in (1, 2)]
    assert f"it is shard 1 of 4, and so is {shards[0]}" in refused(load(*shards))
    other = part(tmp_path / "other", shard=(1, 3))
    said = refused(load(shards[0], other))
    assert "shards of one and the same division" in said
    assert f"{other} is shard 1 of 3 (pytest-split)" in said


def merged(*folders):
    """The records of these runs, measured again."""
    runs = load(*folders)
    settings = stored.settings_of(runs[0])
    dataset = stored.load_data(runs[0], settings)
    return merging.joined([merging.measured(run, settings, dataset) for run in runs])


def test_the_same_answer_twice_is_one_and_another_is_refused(tmp_path, first):
    second = part(tmp_path / "second", range(5, 12))
    assert len(merged(first, second)) == 12
    wrong = part(tmp_path / "wrong", range(5, 12), "right")
    with pytest.raises(BenchmarkError) as caught:
        merged(first, wrong)
    assert str(caught.value) == (
        f"sum[s5]: expected one answer, got two that differ: -1 in {first} and 10 in {wrong}; merge one "
        "of these runs only"
    )

    def failing(context):
        return "nothing" if context["a"] == 5 else -1

    failed = part(tmp_path / "failed", range(5, 12), failing)
    with pytest.raises(
        BenchmarkError, match=r"sum\[s5\]: .* differ: -1 in .*first and 'nothing' in .*failed"
    ):
        merged(first, failed)


def test_a_log_that_was_not_scored_is_refused(first):
    log = first / run_folder.RECORDS
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:-1]))
    with pytest.raises(
        BenchmarkError, match=r"first cannot be merged: records.jsonl is not the file that"
    ):
        merged(first)
    rewrite(first, records=None)
    with pytest.raises(BenchmarkError, match="does not say which records it was made of"):
        merged(first)


def test_what_a_record_says_of_its_answer_is_not_believed(first):
    log = first / run_folder.RECORDS
    log.write_text(log.read_text().replace('"accuracy": 0.0', '"accuracy": 1.0'))
    rewrite(first)
    (run,) = load(first)
    settings = stored.settings_of(run)
    run = merging.measured(run, settings, stored.load_data(run, settings))
    assert [record.metrics["exact"]["accuracy"] for record in run.records] == [1, 0, 1, 0, 1, 0]
    assert "3 of 6 records do not agree with their answers" in run.notes[0]


def test_records_without_answers_are_refused(first):
    log = first / run_folder.RECORDS
    log.write_text(re.sub(r'"answer": -?\d+', '"answer": null', log.read_text()))
    rewrite(first)
    with pytest.raises(BenchmarkError, match="its records hold no answers"):
        merged(first)


QUESTIONS = [Question(index, 1) for index in range(12)]


def lacking(*folders, recorded=QUESTIONS[:6], partial=False):
    return merging.missing_parts(load(*folders), QUESTIONS, recorded, partial)


def test_what_is_missing_is_named(tmp_path, first):
    assert lacking(first, recorded=QUESTIONS) is None
    assert lacking(first) == (
        "the runs do not hold all samples; if no more were to be asked (-k, names of samples), say so with --partial"
    )
    assert lacking(first, partial=True) is None
    shard = part(tmp_path / "shard", range(6), shard=(2, 3))
    others = "shard 1 of 3 is not among the runs; shard 3 of 3 is not among the runs"
    assert lacking(shard) == lacking(shard, partial=True) == others
    assert lacking(shard, recorded=QUESTIONS) is None  # the others had nothing to ask
    rewrite(first, incomplete="the session was cut short (SIGTERM)")
    cut = f"{first} is not finished: the session was cut short (SIGTERM); go on with it first (--resume={first})"
    assert lacking(first) == lacking(first, partial=True) == cut


def test_shards_that_were_divided_in_two_ways_are_noticed(tmp_path):
    one = part(tmp_path / "one", range(6), shard=(1, 2))
    two = part(tmp_path / "two", range(4, 9), shard=(2, 2))
    found = lacking(one, two, recorded=QUESTIONS[:9], partial=True)
    assert found.startswith(
        "the shards asked 11 questions, and 9 are recorded; were they all divided"
    )
    assert "names of samples" in lacking(one, two, recorded=QUESTIONS[:9])


def test_a_run_that_was_killed_counts_and_is_named(tmp_path, first):
    shutil.move(first / run_folder.SCORES, tmp_path)
    (run,) = load(first)
    assert (run.scores.mode, run.scores.primary, run.scores.seed) == ("test", "exact", 0)
    assert len(merged(first)) == 6
    assert "it has no scores.json: it is under way, or was killed" in lacking(first)
    merging.check_alike(load(first, part(tmp_path / "second", range(6, 12))))


def test_failures_beside_the_scores_are_taken_over_once(tmp_path, first):
    problem = {
        "gate": "submission fits the data",
        "passed": False,
        "reason": "2 rows are of nobody",
    }
    own = [
        problem,
        {"gate": "every sample recorded", "passed": False, "reason": "1 sample left no record"},
        {"gate": "accuracy >= 0.9", "passed": False, "reason": None},
    ]
    second = part(tmp_path / "second", range(6, 12))
    for folder in (first, second):
        rewrite(folder, gates=own)
    (found,) = merging.failures_of(load(first, second))
    assert (found.gate, found.failure) == ("submission fits the data", "2 rows are of nobody")


def test_the_manifest_says_what_was_merged(tmp_path, first):
    second = part(
        tmp_path / "second", range(6, 12), shard=(2, 2),
        manifest={"confinement": "bubblewrap", "mixed": [{"agent": "a.py", "answers": 2, "changed": ["data"]}]},
    )  # fmt: skip
    found = merging.manifest({"settings": {}}, load(first, second))
    assert found["confinement"] is None  # no more than what is true of all of them
    assert found["mixed"] == [{"agent": "a.py", "answers": 2, "changed": ["data"]}]
    one, two = found["merged"]
    assert (one["run"], one["records"], one["shard"]) == ("first", 6, None)
    assert two["shard"] == {"number": 2, "of": 2, "by": "pytest-split"}
    assert two["digest"] == read(second, run_folder.SCORES)["records"]["digest"]
