"""A comparison of two runs as text, Markdown and a page."""

from __future__ import annotations

import pytest
from toy_runs import make_run

from pytest_agentbench.reports import comparison
from pytest_agentbench.scoring.compare import compare


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


def test_what_the_models_of_both_sides_took_is_among_the_facts(tmp_path):
    use = {
        "models": ["big"],
        "calls": 12,
        "input_tokens": 9000,
        "cost": 2.0,
        "p50": 0.5,
        "p95": 1.5,
    }
    before = make_run(tmp_path / "a", "half", model_use=use)
    after = make_run(tmp_path / "b", "right", model_use={**use, "models": ["small"], "cost": 0.1})
    found = compare(before, after)
    lines = comparison.text(found).splitlines()
    taken = "12 calls, 9,000 tokens in, 0 out, cost {}, latency p50 0.50 s, p95 1.5 s"
    assert lines[3] == f"before: big, {taken.format('2.00')}"
    assert lines[4] == f"after: small, {taken.format('0.10')}"
    assert found.as_json()["after"]["model_use"]["cost"] == 0.1


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
    assert '<td class="better">▲ better</td>' in text
    assert "largest changes in distance" in text
