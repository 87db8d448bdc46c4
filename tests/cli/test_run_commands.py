"""The commands of ``agentbench`` about runs that are finished."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def agentbench(project):
    return project.agentbench


@pytest.fixture
def two_runs(project):
    """Real runs: half of the sums right, then all of them."""
    for agent in ("half", "right"):
        assert project.pytest("--benchmark=toysum", f"--agent=builtin:{agent}", "-q").ret == 0
    return project.runs()


def test_runs_saved_compared_ranked_and_reported(project, agentbench, two_runs):
    first, second = two_runs
    listed = agentbench("runs")
    assert listed.ret == 0
    listed.stdout.fnmatch_lines(
        [
            "time * benchmark  agent * headline * samples  gates  run",
            f"20* toysum * builtin:half * accuracy 0.5000 [[]0.* .. 0.*[]] * 12 *1/1  {first.name}",
            f"20* toysum * builtin:right * accuracy 1.0000 * {second.name}",
        ]
    )
    saved = agentbench("save", "main", str(first))
    assert saved.ret == 0
    shutil.rmtree(first)  # what is saved stays
    compared = agentbench("compare", "main", "last")
    assert compared.ret == 0
    compared.stdout.fnmatch_lines(
        ["before: main, builtin:half, 12 samples", "accuracy * 0.5000 * 1.0000 * +0.5000 *better"]
    )
    ranked = agentbench("leaderboard", ".agentbench")
    ranked.stdout.fnmatch_lines(
        ["toysum (test), reading exact", "builtin:right * 1 *", "builtin:half * 2 *"]
    )
    agentbench("runs").stdout.fnmatch_lines(["saved", "*", "*builtin:half * main"])
    reported = agentbench("report", "last", "-o", "again.html")
    assert reported.ret == 0
    assert "builtin:right" in (project.path / "again.html").read_text(encoding="utf-8")


def test_a_comparison_in_every_format(project, agentbench, two_runs):
    first, second = (str(run) for run in two_runs)
    found = json.loads(agentbench("compare", first, second, "--json").stdout.str())
    assert found["readings"]["exact"][0]["value"] == 0.5
    assert (
        "| accuracy | 0.5000 |" in agentbench("compare", first, second, "--markdown").stdout.str()
    )
    assert agentbench("compare", first, second, "--html", "-o", "c.html").ret == 0
    assert (project.path / "c.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    both = agentbench("compare", first, second, "--html", "--json")
    assert both.ret == 2
    lenient = agentbench("compare", first, second, "--reading=lenient").stdout.str()
    assert lenient.index("reading lenient") < lenient.index("reading exact")


def test_an_inspect_log_lands_where_inspect_looks(project, agentbench, two_runs):
    result = agentbench("export", "--format", "inspect", "last")
    assert result.ret == 0
    (path,) = (project.path / "logs").glob("20*_toysum_*.json")
    assert result.stdout.str() == f"logs/{path.name}"
    assert json.loads(path.read_text())["samples"][0]["input"] == '{"a": 0, "b": 0}'
    moved = agentbench("export", "--format=inspect", "last", "--dataset=gone.csv", "-o", "x.json")
    assert moved.ret == 0
    assert "neither contexts nor truths" in moved.stderr.str()
    assert json.loads((project.path / "x.json").read_text())["samples"][0]["target"] == ""


def test_mistakes_about_runs_say_what_to_do(project, agentbench):
    for arguments, said in [
        (["compare", "last", "last"], "so no 'last' one"),
        (["compare", "old", "new"], "old: expected the folder of a run"),
        (["save", "main"], "so no 'last' one"),
        (["runs"], "expected finished runs below it, got none"),
        (["leaderboard", "nowhere"], "nowhere: expected a folder with runs below it"),
        (["report", "nothing"], "`agentbench save NAME` makes one"),
    ]:
        result = agentbench(*arguments)
        assert (result.ret, len(result.errlines)) == (2, 1), arguments
        assert said in result.errlines[0]


def shown_settings(path):
    page = path.read_text(encoding="utf-8")
    return dict(re.findall(r'<th scope="row">([a-z_]+)</th>\s*<td>(.*?)</td>', page, re.DOTALL))


def test_a_report_that_is_written_again_shows_the_settings_of_its_run(
    project, agentbench, monkeypatch
):
    """Every option that a run with an agent can have is set to something else than its default."""
    project.write(
        s__yaml="benchmark: toysum\nshift: 3\n"
        "llm: [{model: m, base_url: 'http://localhost:1/v1', api_key: '${SECRET}',"
        " price_input: 1, price_output: 1}]\n",
        agent__py="def agent(context):\n    return context['a'] + context['b']\n",
    )
    assert project.pytest("--benchmark=toysum", "--mode=inference", "--seed=5", "-q").ret == 0
    given = [
        "--agent=agent.py", "--mode=inference", "--limit=3", "--chunk=2", "--epochs=2",
        "--concurrency=2", "--seed=5", "--agent-timeout=20", "--agent-retries=1",
        "--agent-isolation=process", "--agent-memory=3000", "--agent-env=SECRET",
        "--max-cost=5", "--max-tokens=1000", "--reading=lenient", "--gate=accuracy >= 0.5",
        "--llm-cache=replay", "--max-identical-errors=7",
    ]  # fmt: skip
    monkeypatch.setenv("SECRET", "x")
    assert project.pytest("--benchmark=s.yaml", *given, "--run-dir=run", "-q").ret == 0
    report = project.path / "run" / "report.html"
    before = shown_settings(report)
    assert before["agent_isolation"] == "process"
    options = {flag[2:].partition("=")[0].replace("-", "_") for flag in given}
    assert {"agent_envs", "gates", "llm", "parameters", *options} - {"agent_env", "gate"} <= {
        *before
    }
    assert agentbench("report", "run").ret == 0
    assert shown_settings(report) == before


def test_a_benchmark_that_is_not_registered_is_named_by_the_user(project, agentbench):
    """The class in the manifest is not imported: the module may lie in a folder of submissions."""
    project.write(mine__py="from toybench import ToySum\nclass Mine(ToySum):\n    name = 'mine'\n")
    run = "--benchmark=mine:Mine", "--agent=builtin:half", "--run-dir=runs/one"
    assert project.pytest(*run, "-q").ret == 0
    shutil.copytree(project.path / "runs" / "one", project.path / "runs" / "two")
    agentbench("runs", "runs").stdout.fnmatch_lines(["*mine (unknown)*accuracy 0.5000*one"])
    ranked = agentbench("leaderboard", "runs")
    assert ranked.ret == 0
    ranked.stdout.fnmatch_lines(["without a rank", "*", "*one*got one of 'mine'; install the*"])
    for arguments in (["report", "runs/one"], ["compare", "runs/one", "runs/two"]):
        refused = agentbench(*arguments)
        assert refused.ret == 2
        assert "name its class with --benchmark package.module:Class" in refused.stderr.str()
        assert agentbench(*arguments, "--benchmark=mine:Mine").ret == 0
    ranked = agentbench("leaderboard", "runs", "--benchmark=mine:Mine")
    ranked.stdout.fnmatch_lines(["mine (test), reading exact"])
    agentbench("runs", "runs", "--benchmark=mine:Mine").stdout.no_fnmatch_line("*unknown*")


def test_the_plots_of_a_run_are_written_beside_it_or_elsewhere(project, agentbench, two_runs):
    written = agentbench("figures", "last")
    assert written.ret == 0
    (line,) = written.outlines
    path, _, chosen = line.partition(" (")
    assert path.endswith("figures/distribution-over-samples.svg")
    assert chosen == "metric accuracy)"
    assert Path(path).read_text(encoding="utf-8").startswith("<svg")
    again = agentbench(
        "figures", "last", "--format", "png", "-o", "here", "--pick", "metric=distance"
    )
    path = "here/distribution-over-samples-metric-distance.png"
    assert again.outlines == [f"{path} (metric distance)"]
    assert (project.path / path).stat().st_size > 1000


def test_figures_that_cannot_be_written_say_what_to_do(project, agentbench, two_runs):
    (project.path / "file").write_text("not a folder")
    for arguments, words in (
        (["nothing"], "`agentbench save NAME` makes one"),
        (["last", "--pick", "accuracy"], "--pick: expected LABEL=CHOICE, got 'accuracy'"),
        (["last", "-o", "file"], "--output: expected a folder that can be written, got file"),
    ):
        failed = agentbench("figures", *arguments)
        assert failed.ret == 2
        assert words in failed.stderr.str()


def test_a_run_without_plots_is_said_to_have_none(project, agentbench):
    project.write(agent__py="def agent(context):\n    raise ValueError('never')\n")
    project.pytest("--benchmark=toysum", "--agent=agent.py", "--run-dir=run")
    failed = agentbench("figures", "run")
    assert failed.ret == 2
    assert "expected a run with plots, got none to draw" in failed.stderr.str()
    assert not (project.path / "run/figures").exists()
