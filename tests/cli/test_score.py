"""``agentbench score`` as a person types it: here and on a cluster, against the same run of pytest."""

from __future__ import annotations

import pytest
from humob_parts import without_answers, write_tables


@pytest.fixture
def agentbench(project):
    return project.agentbench


@pytest.fixture
def tables(project, monkeypatch):
    """Partitions of 60 people and of predictions that fail for two of them, and a cache of their own."""
    monkeypatch.setenv("AGENTBENCH_CACHE", str(project.path / "cache"))
    write_tables(project.path)


def same_bits(project, first, second):
    """What must be equal of two runs: every value, interval, gate, digest and record."""
    ours, theirs = project.scores(first), project.scores(second)
    # Baselines need the rows, which the cluster keeps; the log has the seconds and its own order.
    for apart in ("floor", "details", "records"):
        ours.pop(apart, None), theirs.pop(apart, None)
    assert ours == theirs
    records = [sorted(without_answers(project, run), key=str) for run in (first, second)]
    assert records[0] == records[1]
    assert len(records[0]) == 60


@pytest.mark.slow
def test_here_and_on_a_cluster_it_gives_the_bits_of_pytest(project, agentbench, tables):
    where = ["--submission=given", "--dataset=data"]
    tested = project.pytest("--benchmark=humob", *where, "--chunk=20", "--run-dir=tested", "-q")
    here = agentbench("score", "humob", *where, "--run-dir=here")
    there = project.agentbench_process("score", "humob", *where, "--run-dir=there", "--engine=dask")
    assert (tested.ret, here.ret, there.ret) == (1, 1, 1)
    folders = [project.path / name for name in ("tested", "here", "there")]
    same_bits(project, folders[0], folders[1])
    same_bits(project, folders[0], folders[2])
    for result, folder in ((here, "here"), (there, "there")):
        assert "Error" not in result.stderr.str()
        result.stdout.fnmatch_lines(
            [
                "agentbench: humob (test), 60 samples, *data, submission:given",
                "2 of 60 samples have no valid answer",
                "uid[[]80003[]]: the submission has no answer for this sample",
                "uid[[]80007[]]: expected * rows, *",
                "=* agentbench: humob =*",
                "60 samples: 58 ok, 1 invalid, 1 error",
                "geobleu   higher  0.* .. 0.*",
                "gate failed: coverage >= 1: got 0.966667 against 1",
                "gate failed: submission fits the data: *given: the rows of 1 users do not fit*",
                f"run: {folder}",
            ]
        )
    assert project.scores(folders[1])["floor"]
    compared = agentbench("compare", "here", "there")
    compared.stdout.fnmatch_lines(["compared on 60 common samples", "geobleu * same"])
    page = (folders[2] / "report.html").read_text(encoding="utf-8")
    assert "only the workers of the cluster read them" in page
    assert "could not make its plots" not in page
    assert agentbench("report", "there", "-o", "again.html").ret == 0


def test_gates_decide_the_exit_code(project, agentbench, tables):
    lenient = ["--gate=coverage >= 0.9", "--users=80010-80019"]
    where = ["--submission=given/*.parquet", "--dataset=data", *lenient]
    assert agentbench("score", "humob", *where, "--gate=geobleu >= 0.1").ret == 0
    failing = agentbench("score", "humob", *where, "--gate=geobleu >= 0.99")
    assert failing.ret == 1
    failing.stdout.fnmatch_lines(["gate failed: geobleu >= 0.99: got 0.* against 0.99"])
    first, second = project.runs()
    assert first.parent == project.path / ".agentbench" / "runs"
    assert project.scores(second)["samples"]["total"] == 10


def test_a_scenario_file_and_an_earlier_run_are_taken_as_by_pytest(project, agentbench):
    project.write(
        humob__yaml="benchmark: humob\nagent: builtin:mode\nlimit: 5\nseed: 3\ngates: [geobleu >= 0.1]",
        sums__yaml="benchmark: toysum\nepochs: 2\ngates: [accuracy >= 0.1]",
    )
    assert project.pytest("--benchmark=sums.yaml", "--run-dir=asked", "-q").ret == 0
    result = agentbench("score", "sums.yaml", "--submission=asked", "--run-dir=again")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["gate passed: accuracy >= 0.1 (*)"])
    asked, again = (project.scores(project.path / name) for name in ("asked", "again"))
    assert asked["readings"] == again["readings"]
    assert asked["epochs"] == again["epochs"]
    refused = agentbench("score", "humob.yaml", "--submission=asked")
    assert refused.ret == 2
    assert "expected either a submission or an agent, got both" in refused.errlines[0]


def test_the_gates_of_the_ini_file_count_as_for_pytest(project, agentbench, monkeypatch):
    project.write(
        pytest__ini="[pytest]\nagentbench_gate =\n    accuracy > 1\n    coverage >= 0.9\n"
        "agentbench_agent = nobody.py\nagentbench_run_dir = from_ini\n",
        sums__yaml="benchmark: toysum\ngates: [accuracy > 0.1]\n",
        below___x__txt="",
    )
    assert project.pytest("--benchmark=toysum", "--agent=builtin:half", "--run-dir=asked").ret == 1
    monkeypatch.chdir(project.path / "below")
    asked = f"--submission={project.path / 'asked'}"
    failed = agentbench("score", "toysum", asked)
    assert failed.ret == 1
    failed.stdout.fnmatch_lines(["gate failed: accuracy > 1: *", "gate passed: coverage >= 0.9*"])
    assert (project.path / "from_ini" / "scores.json").exists()
    # The scenario beats the ini file, the command line beats both.
    scenario = str(project.path / "sums.yaml")
    assert agentbench("score", scenario, asked, "--run-dir=one").ret == 0
    assert agentbench("score", scenario, asked, "--gate=accuracy > 0.9", "--run-dir=two").ret == 1
    project.write(pytest__ini="[pytest]\nagentbench_limit = many\n")
    wrong = agentbench("score", "toysum", asked)
    assert wrong.ret == 2
    expected = "pytest.ini: agentbench_limit: expected a whole number from 1, got 'many'"
    assert wrong.errlines[0].endswith(expected)


def test_the_garbage_collector_rests(project, agentbench):
    project.write(
        watched__py="import gc\nfrom toybench import ToySum\n"
        "class Watched(ToySum):\n"
        "    def check(self, sample, answer):\n"
        "        print('collector', gc.isenabled())\n"
        "        return super().check(sample, answer)\n"
    )
    assert project.pytest("--benchmark=toysum", "--run-dir=asked", "-q").ret == 0
    result = agentbench("score", "watched:Watched", "--submission=asked")
    assert result.ret == 0
    assert {line for line in result.outlines if "collector" in line} == {"collector False"}


def test_mistakes_are_one_line_and_say_what_to_do(project, agentbench, tables):
    where = ["--submission=given", "--dataset=data"]
    for arguments, said in [
        (["humbo", *where], "did you mean humob?"),
        (["humob", "--dataset=data"], "--submission: expected a file of answers"),
        (["humob", "--submission=gone", "--dataset=data"], "--submission: expected a path that exists"),
        (["humob", *where, "--scheduler=tcp://a:1"], "--scheduler: expected --engine dask"),
        (["toysum", "--submission=data/*.parquet"], "--submission: expected a path that exists"),
        (["humob", *where, "--task=7"], "expected one of 1, 2 (HuMob 2023)"),
        (["humob", *where, "--gate=x"], "--gate: expected METRIC OP NUMBER"),
        (["humob", "--submission=given", "--engine=dask"], "got demo, which is a CSV file"),
        (["toysum", "--submission=given", "--engine=dask"], "toysum cannot be scored on a cluster"),
        (["toysum", "--submission=data"], "--submission: expected a file or the folder of a run"),
    ]:  # fmt: skip
        result = agentbench("score", *arguments)
        assert (result.ret, len(result.errlines)) == (2, 1), arguments
        assert said in result.errlines[0]
    assert project.runs() == []


def test_without_dask_it_says_how_to_install_it(project, agentbench, tables, monkeypatch):
    project.write(
        blocked___sitecustomize__py="import sys\nsys.modules['distributed'] = None  # not installed"
    )
    monkeypatch.setenv("PYTHONPATH", str(project.path / "blocked"))
    result = project.agentbench_process(
        "score", "humob", "--submission=given", "--dataset=data", "--engine=dask"
    )
    assert result.ret == 2
    assert 'pip install "pytest-agentbench[dask]"' in result.errlines[0]
