"""Answers that exist already are scored: those of a file, or of an earlier run."""

from __future__ import annotations

import json
import shutil

import pytest
from runs.toy_plan import toy_plan
from toy_agents import HALF

from pytest_agentbench.runs.evaluate import Evaluation
from pytest_agentbench.runs.submissions import evaluate_submitted

ALL = "\n".join(f"{'sum' if n % 4 else 'double'}[s{n}],{2 * n}" for n in range(12))


def test_a_submission_is_scored_instead_of_asking_an_agent(project):
    project.write(pred__csv=ALL)
    result = project.pytest("--benchmark=toysum", "--submission=pred.csv", "-n2")
    assert result.ret == 0
    scores = project.scores()
    assert scores["readings"]["exact"]["accuracy"]["value"] == 1.0
    assert scores["agent"]["name"] == "submission:pred.csv"


def test_missing_and_extra_answers_are_each_counted_listed_and_failed(project):
    project.write(pred__csv=ALL.replace("sum[s1],2\n", "") + "\nsum[s77],1\nsum[s78],1\n")
    result = project.pytest("--benchmark=toysum", "--submission=pred.csv")
    assert result.ret == 1
    result.assert_outcomes(passed=11, failed=3)
    result.stdout.fnmatch_lines(
        [
            "sum[[]s1]: the submission has no answer for this sample",
            "2 samples are not in the data: sum[[]s77], sum[[]s78]",
            "FAILED toysum::gate[[]submission fits the data]*",
        ]
    )
    assert project.scores()["samples"]["error"] == 1


def test_an_earlier_run_can_be_scored_again(project):
    project.write(agent__py=HALF)
    project.pytest("--benchmark=toysum", "--agent=agent.py", "--run-dir=first")
    first = project.scores(project.path / "first")
    for given in ("first", "first/scores.json"):
        project.pytest("--benchmark=toysum", f"--submission={given}")
        again = project.scores()
        assert again["readings"] == first["readings"]
        assert again["samples"] == first["samples"]
        assert again["agent"] == first["agent"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--submission=no.csv"], "--submission: expected a path that exists, got 'no.csv'"),
        (["--submission=.", "--agent=builtin:right"], "expected either a submission or an agent"),
        (["--submission=folder"], "--submission: expected a file or the folder of a run, got"),
    ],
)
def test_mistakes_about_submissions(project, args, message):
    project.write(folder___x__txt="")
    result = project.pytest("--benchmark=toysum", *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


def test_a_submission_may_be_a_run_by_its_name(project):
    run = ("--benchmark=toysum", "-q", "--run-dir")
    assert project.pytest("--benchmark=toysum", "--agent=builtin:half", "-q").ret == 0
    (first,) = project.runs()
    shutil.copytree(first, project.path / ".agentbench" / "saved" / "main")
    assert project.pytest(*run, "a", "--submission=last", "-n2").ret == 0
    assert project.pytest(*run, "b", "--submission=main").ret == 0
    assert project.pytest(*run, "c", f"--submission={first.name}").ret == 0
    half = project.scores(first)
    for name in "abc":
        scores = project.scores(project.path / name)
        assert (scores["agent"], scores["readings"]) == (half["agent"], half["readings"])
    settings = json.loads((project.path / "a" / "manifest.json").read_text())["settings"]
    assert settings["submission"] == str(first)
    scored = project.agentbench("score", "toysum", "--submission=last", "--run-dir=d")
    assert scored.ret == 0
    assert project.scores(project.path / "d")["readings"] == half["readings"]
    gone = project.pytest(*run, "e", "--submission=gone")
    assert gone.ret == pytest.ExitCode.USAGE_ERROR
    assert "--submission: expected a path that exists, got 'gone'" in gone.stderr.str()
    assert "(there are: main;" in gone.stderr.str()


def test_where_answers_cannot_be_scored_at_once_each_is_scored_by_itself(monkeypatch):
    plan = toy_plan()

    def fail(*_):
        raise RuntimeError("not this one")

    monkeypatch.setattr(type(plan.benchmark), "score_submitted", fail)
    evaluation = Evaluation(plan.benchmark, 2)
    answers = {"sum[s1]": 2, "sum[s2]": "four"}
    names = ("sum[s1]", "sum[s2]", "sum[s3]")
    questions = [(plan.dataset.index_of[name], 2) for name in names]
    evaluate_submitted(evaluation, plan.benchmark, plan.dataset, answers, questions)
    assert [(one.sample, one.epoch, one.status) for one in evaluation.records] == [
        ("sum[s1]", 2, "ok"), ("sum[s2]", 2, "invalid"), ("sum[s3]", 2, "error")
    ]  # fmt: skip
    assert evaluation.records[0].metrics["exact"]
