"""The table of ``agentbench runs``."""

from __future__ import annotations

from toy_runs import make_run

from pytest_agentbench.reports.run_list import runs_table
from pytest_agentbench.runs import stored


def rows(table):
    """The cells of each line; columns stand two spaces apart at least."""
    return [
        [cell.strip() for cell in line.split("  ") if cell.strip()] for line in table.splitlines()
    ]


def test_a_line_has_when_what_who_how_well_and_where(tmp_path):
    half = stored.read(make_run(tmp_path / "one", "half"))
    head, row = rows(runs_table([half]))
    assert head == ["time", "benchmark", "agent", "headline", "samples", "gates", "run"]
    assert row[:3] == ["2026-01-02 03:04:05", "toysum", "builtin:half"]
    # Half of the twelve sums have an even a. The interval is the run's own.
    low, high = (half.scores.metric("accuracy").low, half.scores.metric("accuracy").high)
    assert row[3] == f"accuracy 0.5000 [{low:.4f} .. {high:.4f}]"
    assert row[4:] == ["12", "1/1", "one"]


def test_a_part_of_the_samples_and_a_run_cut_short_are_marked(tmp_path):
    part = stored.read(make_run(tmp_path / "part", "right", only=range(3)))
    cut = stored.read(make_run(tmp_path / "cut", "right", incomplete="interrupted"))
    _, first, second = rows(runs_table([part, cut]))
    assert first[4] == "3 partial"
    assert second[4] == "12 incomplete"


def test_saved_runs_stand_below_under_a_head_of_their_own(tmp_path):
    runs = [stored.read(make_run(tmp_path / name, "right")) for name in ("one", "two")]
    lines = rows(runs_table(runs[:1], runs[1:]))
    assert [line[-1] for line in lines if line] == ["run", "one", "saved", "run", "two"]
    assert lines[2] == []  # a blank line between
    assert "saved" not in runs_table(runs)


def test_a_run_of_a_benchmark_that_is_not_installed_shows_its_first_metric(tmp_path):
    gone = stored.read(make_run(tmp_path / "gone", "wrong", benchmark="elsewhere"))
    _, row = rows(runs_table([gone]))
    assert row[1] == "elsewhere (unknown)"
    assert row[3].startswith("accuracy 0.0000")


def test_a_name_neither_moves_the_cursor_nor_adds_a_row(tmp_path):
    name = "\x1b[2Jmine\n2026-01-01  toysum  best"
    run = stored.read(make_run(tmp_path / "run", "half", name=name))
    head, row = runs_table([run]).splitlines()
    assert "\\x1b[2Jmine\\n2026-01-01  toysum  best" in row
    assert head.startswith("time")
    long = stored.read(make_run(tmp_path / "long", "half", name="a" * 10_000))
    assert len(runs_table([long]).splitlines()[1]) < 500
