"""Sessions of the real pytest-split and pytest-shard: a shard says that it is one, and merging gives the whole."""

from __future__ import annotations

import json

import pytest

SPLIT = ["-p", "pytest-split"]
SHARD = ["-p", "pytest-shard"]
SUM = ["--benchmark=toysum", "--agent=builtin:half"]
DIVISIONS = {
    "pytest-split": lambda number, of: [*SPLIT, f"--splits={of}", f"--group={number}"],
    "pytest-shard": lambda number, of: [*SHARD, f"--num-shards={of}", f"--shard-id={number - 1}"],
}


def same(project, *runs):
    """Whether these runs have equal scores.json, but for the digest of the log: that has times."""
    found = [project.scores(project.path / run) for run in runs]
    for scores in found:
        scores["records"].pop("digest")
    return all(scores == found[0] for scores in found)


@pytest.mark.parametrize("by", DIVISIONS)
def test_shards_decide_no_gate_and_merged_they_are_the_whole_run(project, by):
    gates = ["--gate=accuracy >= 0.9", "--gate=coverage >= 0.5"]
    for number in (1, 2, 3):
        shard = project.pytest(*SUM, *gates, *DIVISIONS[by](number, 3), f"--run-dir=s{number}")
        assert shard.ret == 0
        shard.stdout.fnmatch_lines(
            [
                f"shard {number} of 3 ({by}): gates are decided on all shards together, by agentbench merge",
                f"gate not decided: accuracy >= 0.9: shard {number} of 3: agentbench merge decides it",
                f"gate not decided: coverage >= 0.5: shard {number} of 3: agentbench merge decides it",
            ]
        )
        own = {"number": number, "of": 3, "by": by}
        assert project.scores(project.path / f"s{number}")["shard"] == own
        manifest = json.loads((project.path / f"s{number}" / "manifest.json").read_text())
        assert manifest["shard"] == own
    assert project.pytest(*SUM, *gates, "--run-dir=whole").ret == 1
    merged = project.agentbench("merge", "s3", "s1", "s2", "--out=merged")
    assert merged.ret == 1
    merged.stdout.fnmatch_lines(
        [
            "12 samples: 12 ok",
            "gate failed: accuracy >= 0.9: got 0.5 against 0.9",
            "gate passed: coverage >= 0.5 (1.0000)",
            "run: merged",
        ]
    )
    assert same(project, "whole", "merged")
    assert "shard 1 of 3" in (project.path / "s1" / "report.html").read_text(encoding="utf-8")
    project.agentbench("runs", "s1").stdout.fnmatch_lines(["* partial shard 1 of 3 *"])
    check = project.agentbench("check", "s1")
    assert check.ret == 1
    check.stdout.fnmatch_lines(
        ["* not decided: accuracy >= 0.9, coverage >= 0.5 (shard 1 of 3: *)"]
    )
    ranked = project.agentbench("leaderboard", "s1", "whole")
    ranked.stdout.fnmatch_lines(["*shard 1 of 3: agentbench merge makes one run of them all*"])


@pytest.mark.slow
@pytest.mark.parametrize("by", DIVISIONS)
def test_shards_of_workers_merge_to_the_whole(project, by):
    for number in (1, 2):
        shard = project.pytest(*SUM, "-n2", *DIVISIONS[by](number, 2), f"--run-dir=s{number}")
        assert shard.ret == 0
        shard.stdout.fnmatch_lines([f"shard {number} of 2 ({by}): *"])
    assert project.pytest(*SUM, "--run-dir=whole").ret == 0
    assert project.agentbench("merge", "s1", "s2", "--out=merged").ret == 0
    assert same(project, "whole", "merged")


def test_a_sample_without_a_valid_answer_fails_its_shard(project):
    project.write(agent__py="def agent(context):\n    return context['a'] or 'none'\n")
    options = ["--benchmark=toysum", "--agent=agent.py", *SPLIT, "--splits=4"]
    failed = project.pytest(*options, "--group=1")
    assert failed.ret == 1
    failed.stdout.fnmatch_lines(["gate failed: coverage >= 1: got 0.666667 against 1"])
    assert project.pytest(*options, "--group=2").ret == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([*SHARD, "--num-shards=2", "--shard-id=2"], "expected 0 to 1 beside --num-shards 2, got 2"),
        (
            [*SHARD, *SPLIT, "--num-shards=2", "--splits=2", "--group=1"],
            "--splits: expected either pytest-split or pytest-shard (--num-shards) * got both",
        ),
        ([*SHARD, "--num-shards=2", "-k", "sum", "--limit=2"], "--limit, --first: expected none *"),
    ],
)  # fmt: skip
def test_refused(project, options, message):
    result = project.pytest(*SUM, *options)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*{message}*"])


def test_a_quiet_shard_says_so_in_its_line(project):
    result = project.pytest(*SUM, "-q", *SPLIT, "--splits=4", "--group=4", "--run-dir=run")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["toysum: accuracy *, shard 4 of 4 (agentbench merge decides its gates), run: run"]
    )


def test_a_shard_without_samples_fails_no_gate(project):
    """pytest itself ends such a session with 5: no tests were collected. The others are the whole run."""
    gate = "--gate=accuracy >= 0.9"
    result = project.pytest(*SUM, gate, *SPLIT, "--splits=13", "--group=13")
    assert result.ret == 5
    assert "failed" not in result.stdout.str()
    assert project.runs() == []


def test_a_shard_with_tests_of_the_project_alone_fails_no_gate(project):
    project.write(test_own__py="def test_a():\n    pass\n\n\ndef test_b():\n    pass\n")
    options = ["test_own.py", "--agentbench-gate=accuracy >= 0.9", *SPLIT]
    assert project.pytest(*options, "--splits=2", "--group=1").ret == 0
    assert project.pytest(*options).ret == 1  # no benchmark ran


def test_shards_of_marked_tests_are_merged_too(project):
    project.write(
        test_mine__py="import pytest\n\n\n@pytest.mark.agentbench('toysum')\n"
        "def test_sum(agent, sample):\n    agent(sample.context)\n"
    )
    options = ["test_mine.py", "--agentbench-agent=builtin:half"]
    gate = "--agentbench-gate=accuracy >= 0.9"
    for number in (1, 2):
        shard = [*SPLIT, "--splits=2", f"--group={number}", f"--agentbench-run-dir=s{number}"]
        result = project.pytest(*options, gate, *shard)
        assert result.ret == 0
        result.stdout.fnmatch_lines([f"shard {number} of 2 (pytest-split): *"])
    assert project.pytest(*options, gate, "--agentbench-run-dir=whole").ret == 1
    assert project.agentbench("merge", "s1", "s2", "--out=merged").ret == 1
    assert same(project, "whole", "merged")


def test_one_of_one_is_no_shard(project):
    one = [*SPLIT, "--splits=1", "--group=1", *SHARD, "--num-shards=1"]
    result = project.pytest(*SUM, *one, "--gate=accuracy >= 0.9")
    assert result.ret == 1
    assert "shard" not in project.scores()


def test_a_draw_of_a_selection_is_divided_by_pytest_split(project):
    drawn = ["-k", "sum", "--limit=4", "--seed=3"]
    for number in (1, 2):
        shard = [*SPLIT, "--splits=2", f"--group={number}", f"--run-dir=s{number}"]
        assert project.pytest(*SUM, *drawn, *shard).ret == 0
    assert project.pytest(*SUM, *drawn, "--run-dir=whole").ret == 0
    merged = project.agentbench("merge", "s1", "s2", "--out=merged", "--partial")
    assert merged.ret == 0
    assert same(project, "whole", "merged")


def test_a_shard_that_is_gone_on_with_without_a_division_is_the_whole(project):
    shard = [*SPLIT, "--splits=2", "--group=2", "--run-dir=run"]
    assert project.pytest(*SUM, *shard, "--gate=accuracy >= 0.9").ret == 0
    resumed = project.pytest(*SUM, "--resume=run", "--gate=accuracy >= 0.9")
    assert resumed.ret == 1
    resumed.stdout.fnmatch_lines(["gate failed: accuracy >= 0.9: got 0.5 against 0.9"])
    assert "shard" not in project.scores(project.path / "run")
    assert "shard" not in json.loads((project.path / "run" / "manifest.json").read_text())
