"""A run that was cut short is continued: nothing logged is lost, nothing valid is asked again."""

from __future__ import annotations

import json

import pytest

COUNTING = """
import os, time
def agent(context):
    with open("asked.txt", "a") as file:
        file.write(f"{context['a']}\\n")
    time.sleep(float(os.environ.get("PAUSE", "0")))
    return context["a"] + context["b"] if context["a"] != 3 or os.path.exists("fixed") else "x"
"""


def asked(project):
    path = project.path / "asked.txt"
    lines = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return sorted(map(int, lines))


@pytest.mark.parametrize(
    "extra", [[], ["-n2"], ["--concurrency=3"]], ids=["serial", "xdist", "ahead"]
)
def test_valid_answers_are_kept_and_failed_ones_asked_again(project, extra):
    project.write(agent__py=COUNTING)
    common = ["--benchmark=toysum", "--agent=agent.py", *extra]
    project.pytest(*common, "-k", "s1 or s2 or s3")
    assert asked(project) == [1, 2, 3, 10, 11]
    (project.path / "fixed").touch()
    result = project.pytest(*common, "--resume")
    assert result.ret == 0
    assert asked(project) == [0, 3, 4, 5, 6, 7, 8, 9]
    (run,) = project.runs()
    assert project.scores(run)["samples"]["ok"] == 12
    assert len(json.loads((run / "manifest.json").read_text())["resumed"]) == 1
    project.pytest(*common, "--run-dir=whole")
    assert project.scores(run)["readings"] == project.scores(project.path / "whole")["readings"]


def test_failed_only_asks_nothing_new(project):
    project.write(agent__py=COUNTING)
    common = ["--benchmark=toysum", "--agent=agent.py"]
    project.pytest(*common, "-k", "s1 or s2 or s3")
    asked(project)
    (project.path / "fixed").touch()
    result = project.pytest(*common, "--resume", "--resume-failed-only")
    assert result.ret == 0
    assert asked(project) == [3]
    assert project.scores()["samples"] == {
        "total": 5,
        "ok": 5,
        "invalid": 0,
        "error": 0,
        "timeout": 0,
    }
    assert project.scores()["partial"] is True


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (["--seed=4"], "seed (0, now 4)"),
        (["--mode=inference"], "mode ('test', now 'inference')"),
        (["--epochs=2"], "epochs (1, now 2)"),
        ("agent", "agent source"),
    ],
)
def test_what_has_changed_is_refused_by_name(project, change, named):
    project.write(agent__py=COUNTING)
    common = ["--benchmark=toysum", "--agent=agent.py"]
    project.pytest(*common, "-k", "s1")
    if change == "agent":
        project.write(agent__py=COUNTING + "\n# better\n")
        change = []
    result = project.pytest(*common, *change, "--resume")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert named in result.stderr.str()
    assert "--resume-anyway" in result.stderr.str()
    insisted = project.pytest(*common, *change, "--resume", "--resume-anyway")
    assert insisted.ret in (0, 1)


def test_nothing_to_resume_is_a_usage_error(project):
    result = project.pytest("--benchmark=toysum", "--resume")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "no run of toysum with records.jsonl" in result.stderr.str()


def test_a_changed_parameter_is_named_alone(project):
    project.write(s__yaml="benchmark: toysum\nshift: 1\n")
    project.pytest("--benchmark=s.yaml", "--limit=2")
    project.write(s__yaml="benchmark: toysum\nshift: 2\n")
    changed = project.pytest("--benchmark=s.yaml", "--limit=2", "--resume")
    assert changed.ret == pytest.ExitCode.USAGE_ERROR
    assert "was made with other data, shift (1, now 2);" in changed.stderr.str()
