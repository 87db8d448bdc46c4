"""A run whose records exist: what is shown of it, here and on GitHub."""

from __future__ import annotations

from toy_parts import part


def test_github_is_told_of_failed_gates(project, monkeypatch):
    part(project.path / "a")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    result = project.agentbench("merge", "a", "--gate=accuracy > 0.5")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["::error title=gate failed%3A toysum::accuracy > 0.5: got 0.5 against 0.5"]
    )
    assert "| accuracy &gt; 0.5 | ❌ failed |" in (project.path / "summary.md").read_text("utf-8")


def test_failed_samples_are_named(project):
    part(project.path / "a", agent=lambda context: context["a"] or "none")
    result = project.agentbench("merge", "a", "--gate=coverage >= 0.9")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "1 of 12 samples have no valid answer",
            "double[[]s0[]]: expected a whole number, got 'none'",
            "12 samples: 11 ok, 1 invalid",
        ]
    )
