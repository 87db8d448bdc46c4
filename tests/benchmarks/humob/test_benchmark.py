"""humob as people run it: submissions, inference, validation, files, in real subprocesses."""

from __future__ import annotations

import csv
import gzip

import pytest

SCENARIO = "benchmark: humob\ndataset: data.csv.gz\nusers: 0-9\npredict_days: 4-5\n"


@pytest.fixture
def files(project):
    """Ten users, six days, four half hours a day; and a prediction one cell off."""
    rows = [
        (uid, d, t, 50 + uid + (t > 20), 60 + d % 2)
        for uid in range(10)
        for d in range(6)
        for t in (10, 20, 30, 40)
    ]
    write(project.path / "data.csv.gz", rows)
    write(project.path / "pred.csv.gz", [(u, d, t, x + 1, y) for u, d, t, x, y in rows if d >= 4])
    project.write(s__yaml=SCENARIO)
    return rows


def write(path, rows):
    with gzip.open(path, "wt", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("uid", "d", "t", "x", "y"), *rows])


def test_a_submission_file_is_scored(project, files):
    result = project.pytest("s.yaml", "--submission=pred.csv.gz", "-n2")
    assert result.ret == 0
    result.assert_outcomes(passed=11)
    readings = project.scores()["readings"]
    # By hand: cells 51 51 52 52 against 50 50 51 51, half a kilometre each. The first 51 pays for
    # both 50s (unless it may start anywhere, as in 2023), the last two 52s pay for themselves.
    assert readings["2025"]["dtw"]["value"] == 2.0
    assert readings["2023"]["dtw"]["value"] == 1.0


def test_in_chunks_the_scores_are_the_same_bits(project, files):
    single = project.pytest("s.yaml", "--submission=pred.csv.gz", "--run-dir=one")
    chunks = project.pytest(
        "s.yaml", "--submission=pred.csv.gz", "--run-dir=many", "--chunk=4", "-n2"
    )
    single.assert_outcomes(passed=11)
    chunks.assert_outcomes(passed=4)
    one, many = (project.scores(project.path / name)["readings"] for name in ("one", "many"))
    assert one == many


@pytest.mark.slow
def test_a_large_submission_is_looked_up_in_chunks_unless_single_items_are_asked_for(project):
    rows = [(uid, d, 20, 1 + uid % 200, 1 + uid // 200) for uid in range(5001) for d in (0, 1)]
    write(project.path / "data.csv.gz", rows)
    write(project.path / "pred.csv.gz", [row for row in rows if row[1]])
    project.write(s__yaml="benchmark: humob\ndataset: data.csv.gz\npredict_days: 1-1\n")
    result = project.pytest("s.yaml", "--submission=pred.csv.gz", "-n2")
    result.assert_outcomes(passed=7)  # six chunks and a gate
    assert project.scores()["samples"]["ok"] == len(project.records()) == 5001
    for args, count in (
        (["--submission=pred.csv.gz", "--chunk=1"], 5001),
        (["--submission=pred.csv.gz", "--limit=5000"], 5000),
        ([], 5001),  # an agent's answers take time: no chunk holds up the others
    ):
        listed = project.pytest("s.yaml", "--collect-only", "-q", *args)
        assert sum("::uid[" in line for line in listed.outlines) == count


def test_missing_extra_and_mismatched_users_fail_by_name(project, files):
    rows = [(u, d, t, x, y) for u, d, t, x, y in files if d >= 4 and u != 3]
    rows = [row for row in rows if row[:3] != (5, 4, 10)] + [(77, 4, 10, 1, 1)]
    write(project.path / "bad.csv.gz", rows)
    result = project.pytest("s.yaml", "--submission=bad.csv.gz")
    assert result.ret == 1
    result.assert_outcomes(passed=8, failed=4)
    result.stdout.fnmatch_lines(
        [
            "uid[[]3]: the submission has no answer for this sample",
            "uid[[]5]: expected *",
            "*1 users are not among the 10 to predict: uid 77*",
            "*rows of 1 users do not fit*uid 5 has 7 rows, expected 8*",
        ]
    )
    scores = project.scores()
    assert scores["readings"]["2023"]["dtw"]["value"] is None
    assert 0 < scores["readings"]["2023"]["geobleu"]["value"] < 0.9


def test_a_run_leaves_tables(project, files):
    project.pytest("s.yaml", "--agent=builtin:slot-mode", "--run-dir=out")
    with (project.path / "out" / "users.csv").open() as file:
        users = list(csv.DictReader(file))
    assert [user["uid"] for user in users] == [str(uid) for uid in range(10)]
    assert (project.path / "out" / "days.csv").stat().st_size > 0


def test_a_short_run_imports_neither_polars_nor_an_http_client(project):
    project.write(
        conftest__py="import sys\n"
        "from pathlib import Path\n"
        "def pytest_unconfigure():\n"
        "    Path('modules.txt').write_text(' '.join(sys.modules))\n"
    )
    for _ in range(2):  # the first one may fill the cache
        assert project.pytest_process("--benchmark=humob", "--limit=2").ret == 0
    assert not (project.path / ".agentbench" / "llm-cache").exists()
    modules = set((project.path / "modules.txt").read_text().split())
    assert "pytest_agentbench.benchmarks.humob.run_tables" in modules
    heavy = {"polars", "numba", "pandas", "asyncio", "httpx2", "openai", "ssl", "tenacity"}
    assert not heavy & modules
    assert not [
        name for name in modules if ".http_" in name or (".llm.c" in name and "calls" not in name)
    ]


def test_bad_data_is_a_usage_error_with_the_line(project, files):
    write(project.path / "data.csv.gz", [(1, 0, 10, 5, 5), (1, 0, 48, 5, 5)])
    result = project.pytest("s.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *data.csv.gz*line 3*48*"])


@pytest.mark.slow
def test_inference_writes_a_file_that_validates(project):
    project.write(s__yaml="benchmark: humob\nmode: inference\ntask: 1\nteam: us\n")
    result = project.pytest("s.yaml", "--run-dir=out", "--agent=builtin:mode")
    assert result.ret == 0
    written = project.path / "out" / "us_task1_humob.csv.gz"
    with gzip.open(written, "rt") as file:
        assert file.readline() == "uid,d,t,x,y\n"
    validation = (project.path / "out" / "validation.txt").read_text()
    assert "missing" in validation  # the demo has 300 of the task's 20,000 users


def test_validate_lists_every_problem_and_says_when_there_is_none(project):
    rows = [(uid, d, t, 5, 6) for uid in range(147001, 150001) for d in (61, 75) for t in (3, 40)]
    write(project.path / "us_cityA_humob25.csv.gz", rows)
    good = project.agentbench(
        "validate", "humob", "us_cityA_humob25.csv.gz", "--edition=2025", "--task=A"
    )
    assert good.ret == 0
    assert good.outlines == [
        "Validation finished without errors! us_cityA_humob25.csv.gz can be submitted"
    ]
    bad = [(1, 61, 3, 5, 6), (147001, 60, 3, 999, 999), (147002, 61, 3, 0, 5), *rows[12:]]
    write(project.path / "wrong.csv.gz", bad)
    result = project.agentbench("validate", "humob", "wrong.csv.gz", "--edition=2025", "--city=A")
    assert result.ret == 1
    text = result.stdout.str()
    for word in ("name", "999", "line 4", "147003", "problems"):
        assert word in text, word


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["x.csv.gz", "--edition=2025"],
            "agentbench: --task: expected a task of 2025 (A, B, C, D), got none",
        ),
        (
            ["x.csv.gz", "--edition=2021", "--task=1"],
            "agentbench: --edition: edition '2021': expected one of 2023, 2024, 2025",
        ),
        (["x.csv.gz", "--task=1"], "agentbench: x.csv.gz: no such file"),
    ],
)
def test_mistakes_in_validate(project, args, message):
    result = project.agentbench("validate", "humob", *args)
    assert result.ret == 2
    assert message in result.stderr.str()
