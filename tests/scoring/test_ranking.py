"""The leaderboard: ranks, ties, and tables kept apart."""

from __future__ import annotations

import json

import pytest
from toy_runs import make_run

from pytest_agentbench.reports import leaderboard
from pytest_agentbench.runs.stored import read
from pytest_agentbench.scoring import ranking


def board_of(*folders, **options):
    return ranking.leaderboard([read(folder) for folder in folders], **options)


def ranks(table):
    return [(row.run.name, row.rank, row.tied) for row in table.rows]


def apart(board):
    return {one.run.name: one.why for one in board.unranked}


def almost(context):
    return context["a"] + context["b"] if context["a"] else -1


def move_data(*folders):
    for folder in folders:
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["settings"]["dataset"] = "gone.csv"
        (folder / "manifest.json").write_text(json.dumps(manifest))


def test_runs_are_ranked_and_unclear_differences_share_a_rank(tmp_path):
    folders = [
        make_run(tmp_path / "almost", almost),
        make_run(tmp_path / "wrong", "wrong"),
        make_run(tmp_path / "right", "right"),
    ]
    (table,) = board_of(*folders).tables
    # One sample of twelve is no clear difference; twelve are.
    assert ranks(table) == [("right", 1, True), ("almost", 1, True), ("wrong", 3, False)]
    assert "paired" in table.ties


def test_runs_without_the_headline_are_ranked_by_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr("toybench.ToySum.headline", "style")
    monkeypatch.setattr("toybench.ToySum.other_headlines", ("distance", "accuracy"))

    def silent(context):
        return None if context["a"] == 3 else context["a"] + context["b"]

    folders = [make_run(tmp_path / "wrong", "wrong"), make_run(tmp_path / "right", "right")]
    (table,) = board_of(*folders).tables
    assert (table.metric, table.better) == ("distance", "lower")
    assert [name for name, *_ in ranks(table)] == ["right", "wrong"]
    # One that lacks what the others have stays out; alone, it has a table.
    accepted = {"gate": "coverage >= 0.9", "passed": True, "value": 0.917, "threshold": 0.9}
    failed = make_run(tmp_path / "silent", silent, name="silent", gates=[accepted])
    board = board_of(*folders, failed)
    assert apart(board) == {"silent": "distance is absent: a sample has no valid answer"}
    assert board_of(failed).tables[0].metric == "accuracy"


def test_pairing_tells_apart_what_overlapping_intervals_do_not(tmp_path):
    def two_thirds(context):  # right wherever half is, and twice beyond
        return context["a"] + context["b"] if context["a"] % 2 == 0 or context["a"] > 4 else -1

    folders = [make_run(tmp_path / "more", two_thirds), make_run(tmp_path / "half", "half")]
    (paired,) = board_of(*folders).tables
    assert ranks(paired) == [("more", 1, False), ("half", 2, False)]
    move_data(*folders)
    (overlapping,) = board_of(*folders).tables
    assert ranks(overlapping) == [("more", 1, True), ("half", 1, True)]
    assert "overlap (not paired: " in overlapping.ties
    assert "gone.csv" in overlapping.ties
    (found,) = board_of(*folders, dataset="demo").tables
    assert ranks(found) == ranks(paired)


def test_what_may_not_be_compared_stands_in_tables_apart(tmp_path):
    board = board_of(
        make_run(tmp_path / "a", "half"),
        make_run(tmp_path / "b", "right", seed=1),
        make_run(tmp_path / "c", "right", only=range(5)),
        make_run(tmp_path / "d", "right"),
    )
    assert [ranks(table) for table in board.tables] == [
        [("d", 1, False), ("a", 2, False)],
        [("b", 1, False)],
        [("c", 1, False)],
    ]
    assert "3 tables: runs in different ones cannot be compared" in leaderboard.text(board)


def test_runs_without_a_headline_are_named_with_the_reason(tmp_path):
    board = board_of(
        make_run(tmp_path / "cut", "half", incomplete="the session was cut short"),
        make_run(tmp_path / "strange", "half", benchmark="elsewhere"),
        make_run(tmp_path / "good", "half"),
    )
    assert len(board.tables) == 1
    assert apart(board)["cut"] == "incomplete: the session was cut short"
    assert "install the package" in apart(board)["strange"]


def mostly_silent(context):
    """Right wherever it answers, which is once."""
    return context["a"] + context["b"] if context["a"] == 3 else None


def edit(folder, **changes):
    path = folder / "scores.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize("said", ["coverage >= 1", "coverage <= 1", None])
def test_a_run_that_answered_little_has_no_rank_whatever_its_file_says_of_the_gate(tmp_path, said):
    """A gate on coverage that is gone, says little or is said to have passed is decided again."""
    little, half = make_run(tmp_path / "little", mostly_silent), make_run(tmp_path / "half", "half")
    passed = {"gate": said, "passed": True, "value": 1.0, "threshold": 1.0, "reason": None}
    edit(little, gates=[passed] if said else [])
    for data in ("demo", None):  # with the data, and where nobody has them
        board = board_of(little, half, dataset=data)
        assert [ranks(table) for table in board.tables] == [[("half", 1, False)]]
        assert apart(board) == {"little": "gate coverage >= 1: got 0.0833333 against 1"}
        move_data(little, half)


def test_a_run_whose_answers_are_of_several_agents_has_no_rank(tmp_path):
    mixed = {"gate": "all answers are of this run", "passed": False, "reason": "9 answers …"}
    board = board_of(make_run(tmp_path / "a", "right", gates=[mixed]))
    assert board.tables == ()
    assert apart(board) == {"a": "gate all answers are of this run: 9 answers …"}


def test_scores_that_the_answers_do_not_give_have_no_rank(tmp_path):
    edited, logged = make_run(tmp_path / "edited", "wrong"), make_run(tmp_path / "logged", "wrong")
    best = json.loads((make_run(tmp_path / "right", "right") / "scores.json").read_text())
    edit(edited, readings=best["readings"])
    edit(logged, readings=best["readings"])
    path = logged / "records.jsonl"
    path.write_text(path.read_text().replace('"accuracy": 0.0', '"accuracy": 1.0'))
    board = board_of(edited, logged)
    assert board.tables == ()
    assert apart(board)["edited"] == (
        "edited: its scores.json says accuracy of exact is 1.0, its answers give 0.0"
    )
    assert apart(board)["logged"].startswith(
        "logged: 12 of 12 records do not agree with their answers and were measured again; the first: "
        "double[s0]: accuracy of exact is 1.0, its answer gives 0; logged: its scores.json says"
    )


def test_without_the_data_the_scores_are_as_recorded_and_said_to_be(tmp_path):
    edited = make_run(tmp_path / "edited", "wrong")
    move_data(edited)
    (table,) = board_of(edited).tables
    assert "gone.csv" in table.recorded
    assert "scores as recorded, not recomputed: " in leaderboard.text(board_of(edited))
    assert "not recomputed" not in leaderboard.text(board_of(edited, dataset="demo"))
