"""``agentbench merge`` as a person types it; the oracle is one run of all samples."""

from __future__ import annotations

import json
import random
import shutil

import pytest
from toy_parts import part, read

HALF = ["--benchmark=toysum", "--agent=builtin:half", "-q"]


@pytest.fixture
def agentbench(project):
    return project.agentbench


def scores(project, run):
    """scores.json without what depends on time: the digest of the log, and how much of the floor was computed."""
    found = project.scores(project.path / run)
    found["records"].pop("digest")
    found.pop("floor")
    found["details"].pop("notes")
    return found


def divide(project, run, drawing, parts):
    """The folders of a run that was killed ``parts`` times: each record is in one of them, or in two."""
    lines = (project.path / run / "records.jsonl").read_text().splitlines(keepends=True)
    drawing.shuffle(lines)
    own = [[] for _ in range(parts)]
    for line in lines:
        for number in drawing.sample(range(parts), drawing.choice([1, 1, 2])):
            own[number].append(line)
    for number, some in enumerate(own):
        folder = project.path / f"part{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(project.path / run / "manifest.json", folder)
        (folder / "records.jsonl").write_text("".join(some))
    return [f"part{number}" for number in range(parts)]


WHOLE = [
    pytest.param(
        ["--benchmark=toysum", "--agent=agent.py", "--epochs=2", "--limit=9"],
        id="epochs, a draw and failing samples",
    ),
    pytest.param(
        ["--benchmark=humob", "--agent=builtin:mode", "--limit=6", "--seed=3"],
        id="people",
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize("options", WHOLE)
def test_any_partition_gives_the_bits_of_the_whole(project, agentbench, options):
    project.write(
        agent__py="def agent(context):\n    return context['a'] + 1 if context['a'] % 5 else 'none'\n"
    )
    project.pytest(*options, "--gate=coverage >= 0.5", "--run-dir=whole", "-q")
    drawing = random.Random(7)
    for number in range(3):
        parts = divide(project, "whole", drawing, 2 + number)
        drawing.shuffle(parts)
        assert agentbench("merge", *parts, f"--out=merged{number}").ret == 0
        assert scores(project, f"merged{number}") == scores(project, "whole")


def test_a_matrix_of_selections(project, agentbench):
    """Jobs that divide the samples by themselves, each in its own folder, with the gate of the last."""
    selections = {"a": "double", "b": "sum and not s1", "c": "sum and s1"}
    for job, selection in selections.items():
        gate = ["--gate=accuracy >= 0.4"] if job == "c" else []
        project.pytest(*HALF, "-k", selection, f"--run-dir={job}", *gate)
    project.pytest(*HALF, "--gate=accuracy >= 0.4", "--run-dir=whole")
    merged = agentbench("merge", "a", "b", "c")
    assert merged.ret == 0
    merged.stdout.fnmatch_lines(
        [
            "agentbench: toysum (test), 12 samples, toy data, builtin:half",
            "merged: *a (3 records)",
            "12 samples: 12 ok",
            "gate passed: coverage >= 1 (1.0000)",
            "gate passed: accuracy >= 0.4 (0.5000)",
            "run: .agentbench/runs/*-toysum-half",
        ]
    )
    (run,) = project.runs()
    assert scores(project, run) == scores(project, "whole")
    # Gates that the command names stand for those of the runs.
    named = agentbench("merge", "a", "b", "c", "--gate=accuracy >= 0.6", "--out=named")
    assert named.ret == 1
    assert [g["gate"] for g in read(project.path / "named", "scores.json")["gates"]] == [
        "coverage >= 1",
        "accuracy >= 0.6",
    ]


def test_the_merged_run_is_used_as_any_other(project, agentbench):
    for job, selection in (("a", "double"), ("b", "sum")):
        project.pytest(*HALF, "-k", selection, f"--run-dir={job}")
    assert agentbench("merge", "a", "b", "--out=merged").ret == 0
    assert agentbench("check", "merged").outlines == [
        "merged: passed: 12 of 12 samples have a valid answer, 1 of 1 gates passed"
    ]
    better = ["--benchmark=toysum", "--agent=builtin:right", "--run-dir=right"]
    gate = ["--baseline=merged", "--gate=delta(accuracy) >= 0.5"]
    assert project.pytest(*better, *gate).ret == 0
    compared = agentbench("compare", "merged", "right")
    compared.stdout.fnmatch_lines(
        ["before: merged, builtin:half, 12 samples", "accuracy * +0.5000 *"]
    )
    agentbench("leaderboard", "merged", "right").stdout.fnmatch_lines(["builtin:half * 2 *"])
    assert agentbench("report", "merged", "-o", "again.html").ret == 0
    assert agentbench("merge", "merged", "--out=again").ret == 0
    against = ["--baseline=right", "--gate=delta(accuracy) >= 0"]
    worse = agentbench("merge", "a", "b", *against, "--out=worse")
    assert worse.ret == 1
    worse.stdout.fnmatch_lines(["gate failed: delta(accuracy) >= 0: got -0.5 against 0"])
    unknown = agentbench("merge", "a", "b", against[1], "--out=unknown")
    unknown.stdout.fnmatch_lines(
        ["gate failed: delta(accuracy) >= 0: needs a run to compare with*"]
    )


def test_a_missing_shard_fails_the_run_and_resume_asks_it(project, agentbench):
    ranges = {1: range(3), 2: range(3, 6), 4: range(9, 12)}
    for number, only in ranges.items():
        part(project.path / f"s{number}", only, shard=(number, 4))
    merged = agentbench("merge", "s1", "s2", "s4", "--gate=accuracy >= 0.1", "--out=merged")
    assert merged.ret == 1
    merged.stdout.fnmatch_lines(
        [
            "12 samples: 9 ok, 3 error",
            "gate failed: coverage >= 1: got 0.75 against 1",
            "gate failed: all parts are there: shard 3 of 4 is not among the runs",
            "gate failed: every sample recorded: 3 samples left no record: sum[[]s6[]], sum[[]s7[]], double[[]s8[]]",
        ]
    )
    check = agentbench("check", "merged")
    assert check.ret == 1
    assert project.pytest(*HALF, "--resume=merged").ret == 0
    assert project.scores(project.path / "merged")["samples"]["ok"] == 12


def test_a_shard_that_was_cut_short_fails_the_run(project, agentbench):
    project.write(
        conftest__py="import pytest\n\n\ndef pytest_runtest_logreport(report):\n"
        "    if report.when == 'teardown' and 's5' in report.nodeid:\n        pytest.exit('enough')\n"
    )
    project.pytest(*HALF, "-k", "sum", "--run-dir=cut")
    (project.path / "conftest.py").unlink()
    project.pytest(*HALF, "-k", "double", "--run-dir=other")
    merged = agentbench("merge", "cut", "other", "--partial", "--out=merged")
    assert merged.ret == 1
    merged.stdout.fnmatch_lines(
        [
            "gate failed: all parts are there: *cut is not finished: *; go on with it first (--resume=*cut)"
        ]
    )
    whole = agentbench("merge", "cut", "other", "--out=whole")
    assert whole.ret == 1
    whole.stdout.fnmatch_lines(["gate failed: every sample recorded: 5 samples left no record: *"])


def test_a_selection_is_merged_as_one_only_if_asked(project, agentbench):
    for job, selection in (("a", "s1"), ("b", "s2")):
        project.pytest(*HALF, "-k", selection, f"--run-dir={job}")
    project.pytest(*HALF, "-k", "s1 or s2", "--run-dir=both")
    strict = agentbench("merge", "a", "b", "--out=strict")
    assert strict.ret == 1
    strict.stdout.fnmatch_lines(["gate failed: all parts are there: * say so with --partial"])
    assert agentbench("merge", "a", "b", "--out=merged", "--partial").ret == 0
    assert scores(project, "merged") == scores(project, "both")
    assert scores(project, "merged")["partial"]


def test_mistakes_are_said_before_anything_is_written(project, agentbench):
    part(project.path / "a", range(6))
    part(project.path / "b", range(6, 12), seed=1)
    (project.path / "c").mkdir()
    for given, message in (
        (
            ["a", "b"],
            "b cannot be merged with *a: expected seed 0, got 1; expected candidate order *",
        ),
        (["a", "nothing"], "nothing: expected the folder of a run (with manifest.json)*"),
        (["a", "c"], "c: expected the folder of a run *"),
        (["a", "--gate=accuracy"], "--gate: expected METRIC OP NUMBER *"),
        (["a", "--out=b"], "*b: expected a folder without a run, but it holds records.jsonl*"),
        (["a", "--baseline=nothing"], "nothing: expected the folder of a run *"),
    ):
        result = agentbench("merge", *given)
        assert result.ret == 2, given
        result.stderr.fnmatch_lines([f"agentbench: *{message}"])
    assert project.runs() == []
    assert agentbench("merge").ret == 2
    assert agentbench("merge", "a", "--dataset=nowhere").ret == 2


def test_data_that_lie_elsewhere_are_named(project, agentbench, monkeypatch):
    """Jobs on other machines: their paths are not opened here, and the data are where the user says."""
    from humob_parts import write_tables

    monkeypatch.setenv("AGENTBENCH_CACHE", str(project.path / "cache"))
    write_tables(project.path)
    project.write(
        ci__yaml="benchmark: humob\nsubmission: given\ndataset: data\nusers: 80010-80013\n"
    )
    for job, users in (("a", "80010 or 80011"), ("b", "80012 or 80013")):
        project.pytest("--benchmark=ci.yaml", "-k", users, f"--run-dir={job}")
        path = project.path / job / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["settings"]["dataset"] = f"/machine/{job}/data"
        path.write_text(json.dumps(manifest))
    refused = agentbench("merge", "a", "b")
    assert refused.ret == 2
    refused.stderr.fnmatch_lines(["*names '/machine/a/data', which no command of yours has used*"])
    assert agentbench("merge", "a", "b", "--dataset=data", "--out=merged").ret == 0
    assert project.pytest("--benchmark=ci.yaml", "--run-dir=whole").ret == 0
    ours, theirs = scores(project, "merged"), scores(project, "whole")
    for found in (ours, theirs):  # the path, as it was typed
        assert found["dataset"].pop("source").endswith("data")
        assert (
            found["dataset"]
            .pop("description")
            .endswith("data: 4 users, days 60-74, HuMob 2023 format")
        )
    assert ours == theirs
    assert agentbench("report", "merged").ret == 0  # later commands know where they are


def test_a_mixture_and_a_hidden_truth_stay_what_they_are(project, agentbench):
    mixed = [{"agent": "old.py", "answers": 2, "changed": ["agent ('old.py', now 'builtin:half')"]}]
    part(project.path / "a", range(6), manifest={"mixed": mixed})
    part(project.path / "b", range(6, 12), settings={"report_without_truth": True})
    merged = agentbench("merge", "a", "b", "--out=merged")
    assert merged.ret == 1
    merged.stdout.fnmatch_lines(
        [
            "agent: old.py, then builtin:half",
            "gate failed: all answers are of this run: 2 answers *",
        ]
    )
    assert (
        read(project.path / "merged", "manifest.json")["settings"]["report_without_truth"] is True
    )
