"""A run as Markdown."""

from __future__ import annotations

import pytest
from toy_runs import ToySum, make_run

from pytest_agentbench.reports.markdown import cell, markdown
from pytest_agentbench.runs import stored


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
