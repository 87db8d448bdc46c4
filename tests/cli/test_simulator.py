"""Scripts that drive WebSocietySimulator's Simulator, as they are: what they get back, and what is kept."""

from __future__ import annotations

import json

import pytest
from llm_server import text
from shared_data import SHARED, needs_real_data

REVIEWER = """
class Mine(SimulationAgent):
    def __init__(self, llm: LLMBase):
        super().__init__(llm=llm)

    def workflow(self):
        try:
            user = self.interaction_tool.get_user(user_id=self.task["user_id"])
            seen = self.interaction_tool.get_reviews(user_id=user["user_id"])
            prompt = f"{user['name']} on {self.task['item_id']} {[r['item_id'] for r in seen]}"
            said = self.llm(messages=[{"role": "user", "content": prompt}], max_tokens=50)
            return {"stars": 3.0, "review": said}
        except Exception:
            return {"stars": 5.0, "review": "made up"}
"""
RECOMMENDER = """
class Mine(RecommendationAgent):
    def workflow(self):
        return sorted(self.task["candidate_list"])
"""


def config(project, server):
    models = [{"model": "m", "base_url": server.url}]
    project.write(asbench__yml=json.dumps({"llm": models}))
    return "--config=asbench.yml"


def test_the_usual_block_runs_and_leaves_a_run(project, server, challenge):
    result, said = challenge("reviews", REVIEWER, config(project, server))
    assert (result.ret, result.stderr.str()) == (0, "")
    outputs = said["outputs"]
    assert [output["task"]["item_id"] for output in outputs] == [f"i{n}" for n in range(6)]
    assert all(output["output"] == {"stars": 3.0, "review": "Hi"} for output in outputs)
    assert all(output["task"]["description"].startswith("Write") for output in outputs)
    # Distances of 3 from 1, 2, 3, 4, 5, 5 stars, as shares of five.
    estimation = 1 - (2 + 1 + 0 + 1 + 2 + 2) / 6 / 5
    metrics = said["results"]["metrics"]
    assert said["results"]["type"] == "simulation"
    assert metrics.pop("preference_estimation") == pytest.approx(estimation)
    assert metrics == {"review_generation": None, "overall_quality": None}  # no text models
    assert said["results"]["data_info"] == {
        "evaluated_count": 6, "original_simulation_count": 6, "original_ground_truth_count": 6,
    }  # fmt: skip
    (folder,) = project.runs()
    result.stdout.fnmatch_lines(["6 samples: 6 ok", f"run: .agentbench/runs/{folder.name}"])
    for name in ("records.jsonl", "scores.json", "report.html", "manifest.json"):
        assert (folder / name).is_file()
    records = project.records()
    assert [record["usage"]["llm_calls"] for record in records] == [1] * 6
    published = project.scores()["readings"]["published-0.1.4"]
    assert published["preference_estimation"]["value"] == pytest.approx(estimation)
    assert project.scores()["agent"]["name"] == "script.py:Mine"


def test_the_agent_has_the_store_without_the_reviews_in_question_and_our_model(
    project, server, challenge
):
    challenge("reviews", REVIEWER, config(project, server))
    asked = [seen["body"]["messages"][0]["content"] for seen in server.seen]
    # The six tasks are about i0 to i5: what one of them asks for, none of them shows.
    assert asked == [f"Ada on i{n} ['i6', 'i7']" for n in range(6)]
    assert {(seen["body"]["model"], seen["key"]) for seen in server.seen} == {("m", None)}


def test_without_a_model_no_made_up_answer_passes(project, challenge):
    result, said = challenge("reviews", REVIEWER)
    assert result.ret == 0  # the script's own
    assert all(set(output) == {"task", "error"} for output in said["outputs"])
    assert "a model, and none is configured" in said["outputs"][0]["error"]
    assert "script.py:" in said["outputs"][0]["error"]
    assert said["results"]["data_info"]["evaluated_count"] == 0
    assert {record["status"] for record in project.records()} == {"error"}
    result.stdout.fnmatch_lines(["6 samples: the agent asked for a model, and none is configured"])


def test_the_metrics_of_rankings_have_their_published_names(challenge):
    result, said = challenge("ranks", RECOMMENDER)
    assert result.ret == 0
    assert said["results"]["type"] == "recommendation"
    # iN is at place N + 1: one of six tasks hits at 1, three at 3, five at 5.
    assert said["results"]["metrics"] == pytest.approx({
        "top_1_hit_rate": 1 / 6, "top_3_hit_rate": 3 / 6, "top_5_hit_rate": 5 / 6,
        "average_hit_rate": 9 / 18, "total_scenarios": 6,
        "top_1_hits": 1, "top_3_hits": 3, "top_5_hits": 5,
    })  # fmt: skip
    assert said["outputs"][0]["output"] == [f"i{n}" for n in range(8)]
    assert said["outputs"][0]["task"]["candidate_category"] == "product"


def test_the_first_tasks_are_those_with_the_lowest_numbers(project, challenge):
    result, said = challenge("ranks", "SIMULATE = dict(number_of_tasks=2)\n" + RECOMMENDER)
    assert result.ret == 0
    assert [output["task"]["task_id"] for output in said["outputs"]] == [0, 1]
    assert said["results"]["data_info"] == {
        "evaluated_count": 2, "original_simulation_count": 2, "original_ground_truth_count": 6,
    }  # fmt: skip
    assert project.scores()["partial"]


def test_what_fails_has_an_error_in_its_place(challenge):
    agent = """
class Mine(RecommendationAgent):
    def workflow(self):
        number = self.task["task_id"]
        if number == 1:
            raise KeyError("mine")
        return ["no candidate"] if number == 2 else self.task["candidate_list"]
"""
    result, said = challenge("ranks", agent)
    assert result.ret == 0
    assert [sorted(output) for output in said["outputs"]][:4] == [
        ["output", "task"], ["error", "task"], ["error", "output", "task"], ["output", "task"],
    ]  # fmt: skip
    assert said["outputs"][1]["error"] == "KeyError: 'mine'"
    assert said["outputs"][2]["output"] == ["no candidate"]
    assert said["results"]["metrics"]["total_scenarios"] == 4
    assert said["results"]["data_info"]["original_simulation_count"] == 6


def test_models_are_used_in_turn_and_those_of_the_script_are_its_own(project, server, challenge):
    agent = """
class Other(LLMBase):
    def __init__(self):
        super().__init__(model="other")
        self.client, self.embedding_model = "mine", None

    def __call__(self, messages, **options):
        return self.client

MODELS = [InfinigenceLLM(api_key="sk-of-the-script"), Other()]
"""
    server.usual = text("ours")
    _, said = challenge("reviews", agent + REVIEWER, config(project, server))
    assert [output["output"]["review"] for output in said["outputs"]] == ["ours", "mine"] * 3
    assert len(server.seen) == 3


def test_the_truth_may_lie_elsewhere(project, challenge):
    (project.path / "ranks" / "groundtruth").rename(project.path / "truth")
    result, said = challenge("ranks", "TRUTH = 'truth'\n" + RECOMMENDER)
    assert result.ret == 0
    assert said["results"]["metrics"]["top_5_hits"] == 5
    result, _ = challenge("ranks", "TRUTH = 'nowhere'\n" + RECOMMENDER)
    assert result.ret == 1
    assert (
        "groundtruth: expected a folder with groundtruth_N.json, got 'nowhere'"
        in (result.stderr.lines[-1])
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Simulator().run_simulation()", "RuntimeError: run_simulation: expected an agent"),
        ("Simulator().evaluate()", "RuntimeError: evaluate: expected a simulation"),
        ("Simulator().set_interaction_tool(3)", "*BenchmarkError: set_interaction_tool: expected Sim"),
        ("Simulator().set_agent(dict)", "ValueError: set_agent: expected a subclass of Sim"),
        ("s = Simulator(); s.set_agent(Mine); s.run_simulation()", "RuntimeError: * expected tasks"),
        ("TASKS = 'nowhere'", "*SettingsError: Simulator: task_dir: expected a path that exists"),
        ("SIMULATE = dict(number_of_tasks=0)", "*SettingsError: Simulator: number_of_tasks: expected"),
    ],
)  # fmt: skip
def test_mistakes_are_told_where_the_script_makes_them(challenge, line, said):
    result, _ = challenge("ranks", f"{RECOMMENDER}\n{line}\n")
    assert result.ret == 1
    result.stderr.fnmatch_lines(["Traceback *", '  File "script.py", line *', f"{said}*"])
    assert "pytest_agentbench/" not in result.stderr.str()


@needs_real_data
def test_unchanged_candidates_of_the_challenge_score_as_the_published_tool_says(project, challenge):
    """0.4115 is what WebSocietySimulator's own evaluation gives for the same outputs."""
    track = SHARED / "real" / "challenge" / "track2" / "amazon"
    agent = "SIMULATE = dict(enable_threading=True, max_workers=4)\n" + RECOMMENDER.replace(
        "sorted", "list"
    )
    result, said = challenge(str(track), agent, "--keep-candidate-order")
    assert result.ret == 0
    numbers = [output["task"]["task_id"] for output in said["outputs"]]
    assert numbers == sorted(numbers)
    assert len(numbers) == said["results"]["data_info"]["evaluated_count"] == 388
    assert said["results"]["metrics"]["average_hit_rate"] == pytest.approx(0.4115, abs=5e-5)
