"""Markdown for GitHub's summary, and its error lines."""

from __future__ import annotations

import pytest
from toy_runs import ToySum, make_run

from pytest_agentbench.reports import comparison
from pytest_agentbench.reports.github import MOST_BYTES, append_summary, github_errors
from pytest_agentbench.reports.markdown import cell, markdown
from pytest_agentbench.runs import stored
from pytest_agentbench.scoring.compare import compare


def scores_of(tmp_path, agent="half", **changes):
    folder = make_run(tmp_path / str(agent), agent, **changes)
    return stored.read(folder).scores


GATES = [
    {"gate": "accuracy >= 0.4", "passed": True, "value": 0.5, "threshold": 0.4, "reason": None},
    {"gate": "accuracy >= 0.9", "passed": False, "value": 0.5, "threshold": 0.9, "reason": None},
    {"gate": "x > 1", "passed": False, "value": None, "threshold": None, "reason": "no 50%,\nnone"},
    {"gate": "y > 1", "passed": None, "value": None, "threshold": None, "reason": "cut short"},
]


def test_all_readings_with_intervals_and_gates(tmp_path):
    text = markdown(
        scores_of(tmp_path, gates=GATES), ToySum.metrics, "accuracy", "s.yaml", "runs/one"
    )
    lines = text.splitlines()
    assert lines[0] == "## agentbench: s.yaml"
    assert lines[2] == "**accuracy 0.5000** (0.2472 .. 0.7472)"
    assert (
        "| metric | better | exact (primary) | 95 % interval | lenient | 95 % interval |" in lines
    )
    row = next(line for line in lines if line.startswith("| distance (units) | lower |"))
    assert row.count("..") == 2
    assert "- style is absent: numbers have no style" in lines
    assert "| accuracy &gt;= 0.9 | ❌ failed | 0.5000 |  |" in lines
    assert "| y &gt; 1 | not decided | - | cut short |" in lines
    assert "- run: runs/one" in lines
    assert "- 12 samples: 12 ok" in lines
    assert "\n\n\n" not in text


def test_the_difference_to_the_baseline_is_there(tmp_path):
    deltas = {"exact": {"accuracy": {"value": 0.5, "low": 0.25, "high": 0.75}}}
    baseline = {"run": "old", "agent": {"name": "a.py"}, "common_samples": 7, "deltas": deltas}
    text = markdown(scores_of(tmp_path, baseline=baseline))
    assert "### Difference to the baseline old (a.py) on 7 common samples" in text
    assert "| accuracy | +0.5000 | +0.2500 .. +0.7500 |" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("line\nbreak", "line break"),
        ("<img src=x onerror=y>", "&lt;img src=x onerror=y&gt;"),
        ("[a](javascript:b)", r"\[a\](javascript:b)"),
        ("average_hit_rate", "average_hit_rate"),
        ("_emphasis_ and `code`", r"\_emphasis\_ and \`code\`"),
        ("back\\slash", r"back\\slash"),
    ],
)
def test_what_a_run_says_is_shown_as_it_is(text, shown):
    assert cell(text) == shown


def test_failed_gates_are_errors_and_escaped(tmp_path):
    assert github_errors(scores_of(tmp_path, gates=GATES), "a,b.yaml: x") == [
        "::error title=gate failed%3A a%2Cb.yaml%3A x::accuracy >= 0.9: got 0.5 against 0.9",
        "::error title=gate failed%3A a%2Cb.yaml%3A x::x > 1: no 50%25,%0Anone",
    ]


def test_the_summary_is_appended_to(tmp_path):
    path = tmp_path / "summary.md"
    append_summary(path, "one\n")
    append_summary(path, "two\n")
    assert path.read_text() == "one\n\ntwo\n"


def test_the_summary_stays_below_what_github_takes(tmp_path):
    path = tmp_path / "summary.md"
    path.write_bytes(b"x" * (MOST_BYTES // 2))
    append_summary(path, "é line\n" * MOST_BYTES)
    assert MOST_BYTES - 100 < path.stat().st_size <= MOST_BYTES
    text = path.read_text(encoding="utf-8")  # not cut within a character
    assert text.endswith("é line\n\n\n*The rest was cut: a summary may have 1 MiB.*\n")
    append_summary(path, "more\n" * 100)
    assert path.stat().st_size <= MOST_BYTES


@pytest.fixture
def compared(tmp_path):
    hostile = "<script>alert('x')</script>|"
    before = make_run(tmp_path / "a", "half", name=hostile)
    return compare(before, make_run(tmp_path / "b", "right"))


def test_a_comparison_as_text(compared):
    lines = comparison.text(compared).splitlines()
    assert "compared on 12 common samples" in lines
    assert any(line.split() == ["accuracy", "6", "0", "6"] for line in lines)
    accuracy = next(line for line in lines if line.startswith("accuracy "))
    assert accuracy.split()[:4] == ["accuracy", "0.5000", "1.0000", "+0.5000"]
    assert accuracy.endswith("better")
    assert "sum[s11]  0.0000  1.0000  +1.0000" in lines


def test_a_comparison_as_markdown_folds_what_is_secondary(compared):
    text = comparison.markdown(compared)
    assert "<script" not in text
    assert "| accuracy | 0.5000 | 1.0000 | +0.5000 |" in text
    assert "<details><summary>reading lenient</summary>" in text
    assert text.count("<details>") == text.count("</details>") == 2


def test_a_comparison_as_a_page_runs_no_script_and_needs_no_network(compared):
    text = comparison.html(compared)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "http" not in text
    assert '<td class="better">better</td>' in text
    assert "largest changes in distance" in text
