"""The leaderboard as text and as a page."""

from __future__ import annotations

from dataclasses import replace

from toy_runs import make_run

from pytest_agentbench.reports import leaderboard
from pytest_agentbench.runs.stored import read
from pytest_agentbench.scoring import ranking


def board_of(*folders):
    return ranking.leaderboard([read(folder) for folder in folders])


def test_ties_and_runs_without_a_rank_are_in_the_text(tmp_path):
    board = board_of(
        make_run(tmp_path / "a", "half"),
        make_run(tmp_path / "b", "half"),
        make_run(tmp_path / "c", "half", incomplete="cut short"),
    )
    lines = leaderboard.text(board).splitlines()
    assert lines[0] == "toysum (test), reading exact"
    assert lines[1].split() == [
        "agent",
        "rank",
        "score",
        "95",
        "%",
        "interval",
        "coverage",
        "gates",
        "run",
    ]
    assert lines[2].split()[:3] == ["builtin:half", "=1", "0.5000"]
    assert lines[-3] == "without a rank"
    assert lines[-1].split() == [
        "builtin:half",
        "accuracy",
        "0.5000",
        "1.0000",
        "c",
        "incomplete:",
        "cut",
        "short",
    ]


def test_runs_apart_stand_in_markdown_and_in_the_page_with_the_reason(tmp_path):
    failed = {
        "gate": "accuracy >= 1",
        "passed": False,
        "value": 0.5,
        "threshold": 1.0,
        "reason": None,
    }
    board = board_of(
        make_run(tmp_path / "a", "half"),
        make_run(
            tmp_path / "best", "right", gates=[{**failed, "gate": "distance < 0", "value": 0.0}]
        ),
    )
    markdown = leaderboard.markdown(board)
    assert "| builtin:half | 1 | 0.5000 |" in markdown
    assert "### Without a rank" in markdown
    assert (
        "| builtin:right | accuracy 1.0000 | 1.0000 | best | gate distance &lt; 0: got 0"
        in markdown
    )
    page = leaderboard.html(board)
    assert "<h2>Without a rank</h2>" in page
    assert page.index("builtin:half") < page.index("Without a rank") < page.index("builtin:right")


def test_what_could_not_be_read_is_named_everywhere(tmp_path):
    board = replace(board_of(make_run(tmp_path / "a", "half")), left_out=("b: <half a run>",))
    assert leaderboard.text(board).splitlines()[-1] == "left out: b: <half a run>"
    assert leaderboard.markdown(board).splitlines()[-1] == "- left out: b: &lt;half a run&gt;"
    assert "left out: b: &lt;half a run&gt;" in leaderboard.html(board)


def used(cost, replayed=None):
    return {
        "models": ["m"], "calls": 12, "input_tokens": 11_000, "output_tokens": 1_000,
        "cost": cost, "replayed_cost": replayed,
    }  # fmt: skip


def test_runs_that_asked_models_have_cost_cost_per_point_and_tokens(tmp_path):
    board = board_of(
        make_run(tmp_path / "a", "right", model_use=used(2.0)),
        make_run(tmp_path / "b", "half", model_use=used(0.0, 2.0)),  # the cache has answered
        make_run(tmp_path / "c", "wrong", model_use=used(2.0)),
        make_run(tmp_path / "d", "wrong"),
    )
    lines = leaderboard.text(board).splitlines()
    assert lines[1].split()[-4:] == ["cost", "cost/point", "tokens/sample", "run"]
    assert [line.split()[-4:] for line in lines[2:6]] == [
        ["2.00", "0.020", "1,000", "a"],
        ["2.00", "0.040", "1,000", "b"],
        ["2.00", "-", "1,000", "c"],  # no point was won
        ["-", "-", "-", "d"],
    ]
    said = "a point is a hundredth of the way from the worst accuracy to the best"
    assert said in lines
    assert "| 2.00 | 0.020 | 1,000 | a |" in leaderboard.markdown(board)
    assert said in leaderboard.html(board)


def test_where_points_cannot_be_counted_the_table_says_why(tmp_path):
    board = board_of(make_run(tmp_path / "a", "half", model_use=used(2.0)))
    (table,) = board.tables
    (row,) = table.rows
    unbounded = replace(table, metric="distance", rows=(replace(row, cost_per_point=None),))
    text = leaderboard.text(replace(board, tables=(unbounded,)))
    assert "no cost per point: distance is not between a worst and a best value" in text
    assert "cost" not in leaderboard.text(board_of(make_run(tmp_path / "b", "half")))


def test_the_page_escapes_names(tmp_path):
    board = board_of(make_run(tmp_path / "a", "half", name="<script>alert(1)</script>"))
    page = leaderboard.html(board)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
