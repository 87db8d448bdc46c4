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


@pytest.mark.slow
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
    again = ["--resume", "--resume-failed-only"]
    result = project.pytest(*common, *again, "-k", "s1 or s2 or s3")
    assert result.ret == 0
    assert asked(project) == [3]
    assert (project.scores()["samples"]["total"], project.scores()["samples"]["ok"]) == (5, 5)
    assert project.scores()["partial"] is True


@pytest.mark.parametrize("extra", [[], ["--chunk=4"], ["-n1"]], ids=["serial", "chunk", "xdist"])
def test_failed_only_counts_what_was_never_asked(project, extra):
    """A run that was cut short is not complete because the rest of it is left alone."""
    project.write(agent__py=COUNTING)
    common = ["--benchmark=toysum", "--agent=agent.py"]
    project.pytest(*common, "-k", "s1 or s2 or s3")
    asked(project)
    (project.path / "fixed").touch()
    result = project.pytest(*common, *extra, "--resume", "--resume-failed-only")
    assert result.ret == 1
    assert asked(project) == [3]
    assert (project.scores()["samples"]["total"], project.scores()["samples"]["ok"]) == (12, 5)
    assert project.scores()["readings"]["exact"]["coverage"]["value"] == pytest.approx(5 / 12)
    result.stdout.fnmatch_lines(
        ["*7 samples left no record, as --resume-failed-only asks nothing*"]
    )
    assert project.pytest(*common, "--resume").ret == 0  # nothing of it was logged as failed


OTHERS = "all answers are of this run"


def gate_of(project, text=OTHERS):
    return next((gate for gate in project.scores()["gates"] if gate["gate"] == text), None)


def test_answers_of_another_agent_are_not_credited(project):
    """--resume-anyway keeps them; the scores name both agents, and the run passes no gate any more."""
    common = ["--benchmark=toysum", "--resume=run"]
    first = ["--benchmark=toysum", "--agent=builtin:right", "--run-dir=run", "-k", "s1 or s2"]
    assert project.pytest(*first).ret == 0
    result = project.pytest(*common, "--agent=builtin:wrong", "--resume-anyway")
    assert result.ret == 1
    run = project.path / "run"
    assert project.scores(run)["agent"]["name"] == "builtin:right, then builtin:wrong"
    named = "4 answers were given with other agent ('builtin:right', now 'builtin:wrong')"
    result.stdout.fnmatch_lines([f"*{named}: start a new run*".replace("[", "[[]")])
    # A later session of the second agent alone does not forget it.
    again = project.pytest(*common, "--agent=builtin:wrong")
    assert again.ret == 1
    again.stdout.fnmatch_lines([f"*{named}*"])
    submitted = ["--benchmark=toysum", "--submission=run", "--run-dir=second"]
    project.pytest(*submitted)
    assert project.scores(project.path / "second")["agent"]["name"] == (
        "builtin:right, then builtin:wrong"
    )


def test_nothing_is_mixed_where_nothing_was_taken_over_or_only_more_is_asked(project):
    project.write(agent__py=COUNTING)
    only = ["--benchmark=toysum", "--agent=agent.py", "-k", "s3"]
    project.pytest(*only)  # its only answer is invalid
    project.write(agent__py=COUNTING + "\n# better\n")
    (project.path / "fixed").touch()
    assert project.pytest(*only, "--resume", "--resume-anyway").ret == 0
    whole = ["--benchmark=toysum", "--agent=agent.py", "--epochs=2"]
    assert project.pytest(*whole, "--resume", "--resume-anyway").ret == 0
    assert gate_of(project) is None


def changed_after_a_few(project, change):
    """Asks a few samples, then changes the agent or the options; those of the session that goes on."""
    project.write(agent__py=COUNTING)
    common = ["--benchmark=toysum", "--agent=agent.py"]
    project.pytest(*common, "-k", "s1")
    if change == "agent":
        project.write(agent__py=COUNTING + "\n# better\n")
        return common
    return [*common, *change]


@pytest.mark.parametrize(
    ("change", "name"),
    [(["--seed=4"], "agent.py"), ("agent", "agent.py (in 2 versions)")],
)
def test_answers_to_other_questions_do_not_count_either(project, change, name):
    changed = changed_after_a_few(project, change)
    (project.path / "fixed").touch()
    assert project.pytest(*changed, "--resume", "--resume-anyway").ret == 1
    assert project.scores()["agent"]["name"] == name
    assert gate_of(project)["passed"] is False


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
    changed = changed_after_a_few(project, change)
    result = project.pytest(*changed, "--resume")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert named in result.stderr.str()
    assert "--resume-anyway" in result.stderr.str()
    insisted = project.pytest(*changed, "--resume", "--resume-anyway")
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
