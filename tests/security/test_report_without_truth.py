"""With --report-without-truth no truth is in what others may read: report.html, the summary, JUnit's file."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.usefixtures("cache_folder")

# Every truth is a canary, and the benchmark shows it wherever a benchmark can show anything.
CANARIES = """
from pytest_agentbench import Benchmark, InvalidAnswer, Metric, Sample, SampleKey, SampleList, mean
from pytest_agentbench.benchmarks.figures import Figure

class Canaries(Benchmark):
    name = "canaries"
    description = "say the word"
    modes = ("test",)
    readings = ("exact",)
    metrics = (Metric("accuracy", "higher", 0.0, 1.0),)
    headline = "accuracy"
    baselines = {"none": lambda context: "none"}
    default_baseline = "none"

    def load(self, settings):
        def truth(n):
            word = f"CANARY{n}"
            return (word, {"word": word}, [word], (1, {"deep": [word]}))[n % 4]
        samples = [Sample(SampleKey("word", f"s{n}"), {"n": n}, truth(n)) for n in range(8)]
        return SampleList(samples, "words")

    def check(self, sample, answer):
        if not isinstance(answer, str):
            raise InvalidAnswer("a word", answer)
        return answer

    def score_sample(self, sample, answer):
        if answer == "odd":
            raise ValueError(f"cannot compare with {sample.truth}")
        return {"exact": {"accuracy": float(answer == sample.truth)}}

    def score_run(self, dataset, records):
        def estimate(reading, weights):
            return {"accuracy": mean([r.metrics.get(reading, {}).get("accuracy", 0.0) for r in records], weights)}
        return estimate

    def describe(self, dataset, records):
        truths = [str(dataset.sample(n).truth) for n in range(len(dataset.keys))]
        return {"truths": truths, "tables": [{"title": "truths", "head": ["truth"], "rows": [[t] for t in truths]}]}

    def figures(self, dataset, records, scores):
        chart = {"title": str(dataset.sample(0).truth), "mark": "point", "data": {"name": "CANARY2"}}
        return [Figure("CANARY0", "CANARY1", [chart], {"CANARY2": {"x": ["CANARY3"]}})]
"""
AGENT = """
def agent(context):
    if context["n"] == 5:
        raise RuntimeError("no idea")
    return {6: 7, FAULT: "odd"}.get(context["n"], "a word of its own")
"""


@pytest.fixture
def run(project, monkeypatch):
    monkeypatch.syspath_prepend(project.path)

    def run(*args, fault=-1):
        project.write(canaries__py=CANARIES, agent__py=AGENT.replace("FAULT", str(fault)))
        result = project.pytest(
            "--benchmark=canaries:Canaries", "--agent=agent.py", "--run-dir=out", "--junit-xml=junit.xml",
            "-v", "-s", *args,
        )  # fmt: skip
        page = (project.path / "out/report.html").read_text(encoding="utf-8")
        return result, page

    return run


def test_without_it_the_truth_is_everywhere_in_the_report(run):
    _, page = run()
    assert page.count("CANARY") >= 8 * 3
    assert "The truth was left out" not in page


def test_no_canary_is_in_what_others_may_read(run, project):
    result, page = run("--report-without-truth")
    assert "CANARY" not in page
    assert "The truth was left out of this report" in page
    assert "a word of its own" in page  # answers are there
    assert "no idea" in page
    assert "a word, got 7" in page
    assert "CANARY" not in result.stdout.str()
    assert "CANARY" not in (project.path / "junit.xml").read_text(encoding="utf-8")


def test_an_error_of_the_benchmarks_own_is_not_quoted(run, project):
    _, page = run("--report-without-truth", fault=2)
    assert "CANARY2" in project.records(project.path / "out")[2]["error"]
    assert "CANARY" not in page
    assert "scoring failed: see records.jsonl" in page


TRUTH = '["truth",'  # the label of a sample's text


def test_a_report_is_written_again_without_the_truth(project):
    project.pytest("--benchmark=toysum", "--run-dir=out")
    assert TRUTH in (project.path / "out/report.html").read_text(encoding="utf-8")
    assert project.agentbench("report", "out", "--without-truth", "-o", "public.html").ret == 0
    page = (project.path / "public.html").read_text(encoding="utf-8")
    assert TRUTH not in page
    assert "The truth was left out of this report" in page


def test_a_run_remembers_it(project):
    project.pytest("--benchmark=toysum", "--run-dir=out", "--report-without-truth")
    assert project.agentbench("report", "out").ret == 0
    assert TRUTH not in (project.path / "out/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["humob", "DailyMobility", "HurricaneMobility"])
def test_our_own_benchmarks_have_such_a_report(project, name):
    result = project.pytest(
        f"--benchmark={name}", "--limit=2", "--run-dir=out", "--report-without-truth"
    )
    page = (project.path / "out/report.html").read_text(encoding="utf-8")
    assert "The truth was left out of this report" in page, result.stdout.str()
    assert TRUTH not in page
