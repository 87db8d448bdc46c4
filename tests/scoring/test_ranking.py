"""The leaderboard: ranks, ties, and tables kept apart."""

from __future__ import annotations

import json

from toy_runs import make_run

from pytest_agentbench.reports import leaderboard
from pytest_agentbench.runs.stored import read
from pytest_agentbench.scoring import ranking


def board_of(*folders, **options):
    return ranking.leaderboard([read(folder) for folder in folders], **options)


def ranks(table):
    return [(row.run.name, row.rank, row.tied) for row in table.rows]


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
    failed = make_run(tmp_path / "silent", silent, name="silent")
    board = board_of(*folders, failed)
    assert board.left_out == ("silent (silent): distance is absent: a sample has no valid answer",)
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
    assert "cut (builtin:half): incomplete: the session was cut short" in board.left_out
    assert "install the package" in board.left_out[1]
