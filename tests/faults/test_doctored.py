"""Files of a run that say something else than its answers: nothing is decided on what they say."""

from __future__ import annotations

import json

import pytest
from faults.baseline_runs import NAMES
from faults.doctored_campaign import campaign


@pytest.mark.parametrize("name", NAMES)
def test_no_edit_of_a_run_is_believed(name, tmp_path):
    points = 3 if name == "humob" else 1  # the only one whose scores are means of what records say
    figures = campaign(name, points, seed=4, folder=tmp_path, most=8)
    assert figures.edited
    assert figures.problems == []


def edit(folder, metrics, **changes):
    """Gives every record these metrics in both readings, and other fields."""
    path = folder / "records.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    said = dict.fromkeys(("exact", "lenient"), metrics)
    path.write_text(
        "".join(json.dumps({**line, "metrics": said, **changes}) + "\n" for line in lines)
    )


def edit_scores(folder, value):
    path = folder / "scores.json"
    said = json.loads(path.read_text())
    for metrics in said["readings"].values():
        metrics["accuracy"] = {"value": value, "low": value, "high": value}
    path.write_text(json.dumps(said))


PERFECT = {"accuracy": 1.0, "distance": 0.0}
WORTHLESS = {"accuracy": 0.0, "distance": 99.0}


def run(project, agent, folder):
    project.pytest("--benchmark=toysum", f"--agent=builtin:{agent}", f"--run-dir={folder}")
    return project.path / folder


@pytest.mark.parametrize("option", ["--resume=out", "--submission=out"])
def test_an_edited_log_passes_no_gate(project, option):
    out = run(project, "wrong", "out")
    edit(out, PERFECT)
    edit_scores(out, 1.0)
    agent = ["--agent=builtin:wrong"] if "resume" in option else ["--run-dir=second"]
    result = project.pytest("--benchmark=toysum", option, "--gate=accuracy >= 0.1", *agent)
    assert result.ret == 1
    found = project.scores(out if "resume" in option else project.path / "second")
    assert found["readings"]["exact"]["accuracy"]["value"] == 0.0
    if "resume" in option:
        note = (
            "out: 12 of 12 records do not agree with their answers and were measured again; the first: "
            "double[s0]: accuracy of exact is 1.0, its answer gives 0"
        )
        assert note in found["details"]["notes"]
        assert "12 of 12 records do not agree with their answers" in result.stdout.str()


def test_a_failure_that_is_called_valid_is_asked_again(project):
    project.write(agent__py="def agent(c):\n    return 'x' if c['a'] == 3 else c['a'] + c['b']\n")
    command = ["--benchmark=toysum", "--agent=agent.py"]
    project.pytest(*command, "--run-dir=out")
    edit(project.path / "out", PERFECT, status="ok", error=None)
    result = project.pytest(*command, "--resume=out")
    assert result.ret == 1
    found = project.scores(project.path / "out")
    assert (found["samples"]["ok"], found["samples"]["invalid"]) == (11, 1)
    assert "1 of 12 records do not agree" in found["details"]["notes"][0]


def test_a_baseline_that_was_made_worse_lets_nothing_pass(project):
    base = run(project, "right", "base")
    edit(base, WORTHLESS)
    edit_scores(base, 0.0)
    gates = ["accuracy >= baseline", "delta(accuracy) >= 0", "distance <= baseline"]
    given = [f"--gate={gate}" for gate in gates]
    result = project.pytest(
        "--benchmark=toysum", "--agent=builtin:half", "--baseline=base", "--run-dir=out", *given
    )
    assert result.ret == 1
    found = project.scores(project.path / "out")
    assert [gate["passed"] for gate in found["gates"]] == [True, False, False, False]
    assert found["baseline"]["readings"]["exact"]["accuracy"] == {"value": 1.0}
    assert found["details"]["notes"][0].startswith("base: 12 of 12 records do not agree")
    assert found["details"]["notes"][1] == (
        "base: its scores.json says accuracy of exact is 0.0, its answers give 1.0"
    )


def test_a_comparison_is_of_the_answers(project):
    before, after = run(project, "half", "before"), run(project, "wrong", "after")
    honest = json.loads(project.agentbench("compare", "before", "after", "--json").stdout.str())
    assert honest["notes"] == []
    edit(after, PERFECT)
    edit_scores(after, 1.0)
    edit_scores(before, 0.0)
    found = json.loads(project.agentbench("compare", "before", "after", "--json").stdout.str())
    assert {**found, "notes": []} == honest
    assert [note.partition(":")[0] for note in found["notes"]] == ["before", "after", "after"]
    assert (
        "do not agree with their answers"
        in project.agentbench("compare", "before", "after").stdout.str()
    )


def test_a_baseline_without_all_its_records_is_refused(project):
    base = run(project, "right", "base")
    lines = (base / "records.jsonl").read_text().splitlines(keepends=True)
    (base / "records.jsonl").write_text("".join(lines[:5]))
    result = project.pytest("--benchmark=toysum", "--baseline=base")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "its scores.json counts 12 answers, and its records.jsonl has 5" in result.stderr.str()
