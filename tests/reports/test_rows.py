"""What reports show is built once: every format says the same."""

from __future__ import annotations

import re

from pytest_agentbench.reports import rows
from pytest_agentbench.runs.scores_file import Scores

SCORES = Scores.from_json(
    {
        "benchmark": "toysum",
        "primary": "lenient",
        "samples": {"total": 12, "ok": 10, "error": 2},
        "readings": {
            "exact": {"accuracy": {"value": 0.5}},
            "lenient": {
                "accuracy": {"value": 0.75, "low": 0.5, "high": 1.0},
                "style": {"value": None, "reason": "numbers have no style"},
            },
        },
        "epochs": [{"lenient": {"accuracy": 0.5}}, {"lenient": {"accuracy": 1.0}}],
    },
    "here",
)


def test_a_zero_difference_is_the_same_in_every_report(project, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    project.pytest("--benchmark=toysum", "--run-dir=old")
    result = project.pytest("--benchmark=toysum", "--baseline=old", "--run-dir=new")
    result.stdout.fnmatch_lines(
        ["  accuracy  0.0000 [[]0.0000 .. 0.0000[]] same; 0 better, 0 worse, 12 same"]
    )
    summary = (project.path / "summary.md").read_text(encoding="utf-8")
    assert "| accuracy | 0.0000 | 0.0000 .. 0.0000 | same |" in summary
    page = (project.path / "new" / "report.html").read_text(encoding="utf-8")
    section = page[page.index('id="comparison"') : page.index('id="plots"')]
    assert re.search(r"accuracy.*0\.0000.*= same", section, re.DOTALL)
    assert "unclear" not in section
    code = "import sys; from pytest_agentbench.cli import main; sys.exit(main(['compare', 'old', 'new']))"
    compared = project.python("-c", code)
    compared.stdout.re_match_lines([r"accuracy .* 0\.0000 +0\.0000 \.\. 0\.0000 +same"])


def test_the_primary_reading_comes_first_and_absent_values_are_explained():
    (table,) = rows.metric_tables(SCORES, [])
    assert table.readings == ("lenient", "exact")
    assert [[score.value for score in row.scores] for row in table.rows] == [
        [0.75, 0.5],
        [None] * 2,
    ]
    assert rows.absences(table) == ["style is absent: numbers have no style"]


def test_samples_and_epochs_in_words():
    assert rows.counts(SCORES.samples) == "10 ok, 2 error"
    assert rows.epochs_note(SCORES, "accuracy") == (
        "means over 2 epochs; accuracy of each: 0.5000, 1.0000"
    )


def test_readings_of_other_metrics_have_a_table_of_their_own():
    beside = {"mrr": {"value": 0.5}, "coverage": {"value": 1.0}}
    shared = {"accuracy": {"value": 0.75}, "coverage": {"value": 1.0}}
    data = {
        "benchmark": "x",
        "primary": "b",
        "readings": {"a": shared, "beside": beside, "b": shared},
    }
    first, second = rows.metric_tables(Scores.from_json(data, "here"), [])
    assert (first.readings, second.readings) == (("b", "a"), ("beside",))
    assert [row.metric.name for row in first.rows] == ["accuracy", "coverage"]
    assert [row.metric.name for row in second.rows] == ["mrr"]


def test_metrics_that_are_absent_for_one_reason_stand_together():
    gone = {"value": None, "reason": "no text models"}
    data = {"benchmark": "x", "primary": "a", "readings": {"a": {"emotion": gone, "topic": gone}}}
    (table,) = rows.metric_tables(Scores.from_json(data, "here"), [])
    assert rows.absences(table) == ["emotion, topic are absent: no text models"]
