"""What a run's models did, added up from its records, and shown by everything that shows a run."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_server import serving

from pytest_agentbench.runs.model_use import ModelUse, model_use
from pytest_agentbench.runs.record import Record


def record(usage=None, seconds=None, status="ok"):
    evidence = {} if seconds is None else {"llm_seconds": seconds}
    return Record("toysum", "sum[s0]", status, usage=usage or {}, evidence=evidence)


def test_calls_and_tokens_are_of_all_replies_and_cost_is_divided():
    asked = {
        "llm_calls": 2,
        "input_tokens": 70,
        "output_tokens": 30,
        "cost": 0.25,
        "llm_retries": 1,
    }
    replayed = {
        "llm_cache_hits": 3, "replayed_input_tokens": 700, "replayed_output_tokens": 300, "replayed_cost": 0.5,
    }  # fmt: skip
    failed = {"llm_calls": 1, "llm_errors": 1, "llm_calls_estimated": 1}
    use = model_use(
        ["m"], [record(asked, [0.5, 1.5]), record(replayed), record(failed, status="error"), record()]
    )  # fmt: skip
    assert use == ModelUse(
        ("m",), calls=6, cache_hits=3, retries=1, errors=1, input_tokens=770, output_tokens=330,
        estimated=1, cost=0.25, replayed_cost=0.5, p50=1.0, p95=1.45,
    )  # fmt: skip
    assert (use.tokens, use.whole_cost) == (1100, 0.75)


def test_where_no_model_was_asked_there_are_no_figures():
    assert model_use(["m"], [record(), record({"retries": 2})]) is None


def test_a_run_that_the_cache_answered_has_cost_nothing_and_not_an_unknown_sum():
    use = model_use(["m"], [record({"llm_cache_hits": 1, "replayed_cost": 0.5})])
    assert (use.cost, use.replayed_cost, use.whole_cost) == (0.0, 0.5, 0.5)
    use = model_use(["m"], [record({"llm_calls": 1, "cost": 0.5}, [0.25])])
    assert (use.cost, use.replayed_cost, use.whole_cost) == (0.5, 0.0, 0.5)


def test_without_prices_no_cost_is_made_up():
    use = model_use(["m"], [record({"llm_calls": 1, "input_tokens": 5})])
    assert (use.cost, use.replayed_cost, use.whole_cost) == (None, None, None)
    assert dict(use.numbers()).keys() == {
        "calls", "cache_hits", "retries", "errors", "input_tokens", "output_tokens", "estimated",
    }  # fmt: skip


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=50))
def test_percentiles_are_those_of_numpy(seconds):
    half = len(seconds) // 2
    use = model_use(
        [], [record({"llm_calls": 1}, part) for part in (seconds[:half], seconds[half:])]
    )
    assert (use.p50, use.p95) == pytest.approx(tuple(np.quantile(seconds, [0.5, 0.95])), abs=1e-6)


def test_what_cannot_be_counts_or_seconds_is_no_figure():
    forged = [
        record({"llm_calls": 1, "input_tokens": -7, "output_tokens": 1e300}, ["x", -1, True, 2])
    ]
    use = model_use([], forged)
    assert (use.input_tokens, use.output_tokens, use.p95) == (0, 2**53, 2.0)
    assert model_use([], [record({"llm_calls": 1}, "soon")]).p50 is None


AGENT = """
def agent(context, llm):
    llm(messages=[{"role": "user", "content": "add"}])
    return context["a"] + context["b"]
"""


@pytest.fixture
def asking(project):
    """A project whose agent asks a model on this machine once a sample, and the model's server."""
    with serving() as server:
        project.write(
            agent__py=AGENT,
            pytest__ini="[pytest]\nagentbench_progress = 1e-9\n",
            toy__yaml="benchmark: toysum\nagent: agent.py\nlimit: 4\nllm:\n- model: small-model\n"
            f"  base_url: {server.url}\n  price_input: 1000\n  price_output: 2000\n",
        )
        yield project, server


def test_a_run_shows_them_in_the_terminal_and_its_files(asking, monkeypatch):
    project, server = asking
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    result = project.pytest("--benchmark=toy.yaml", "--junitxml=j.xml", "-n2")
    assert (result.ret, len(server.seen)) == (0, 4)
    use = project.scores()["model_use"]
    assert (use["models"], use["calls"], use["cost"]) == (["small-model"], 4, pytest.approx(0.052))
    assert 0 < use["p50"] <= use["p95"]
    line = "model: small-model, 4 calls, 28 tokens in, 12 out"
    shown = result.stdout.str()
    assert f"\n{line}\ncost 0.052, latency p50 " in shown
    assert "40 tokens, cost 0.052" in shown  # so far, in the last progress line
    run = project.runs()[-1]
    summary = (project.path / "summary.md").read_text(encoding="utf-8")
    assert f"- {line}\n- cost 0.052, latency p50 " in summary
    assert '<p class="value">small-model</p>' in (run / "report.html").read_text(encoding="utf-8")
    properties = ET.parse(project.path / "j.xml").getroot().find("testsuite").find("properties")
    found = {p.get("name"): p.get("value") for p in properties}
    assert found["toy.yaml.model_use.models"] == "small-model"
    assert (found["toy.yaml.model_use.calls"], found["toy.yaml.model_use.cost"]) == ("4", "0.052")


def test_a_run_that_the_cache_answered_says_so_and_is_worth_the_same(asking):
    project, server = asking
    for _ in range(2):
        result = project.pytest_process("--benchmark=toy.yaml")
        assert (result.ret, len(server.seen)) == (0, 4)
    result.stdout.fnmatch_lines(
        [
            "*4 replies from the cache*",
            "model: small-model, 4 calls (4 from the cache), 28 tokens in, 12 out",
            "cost 0 (0.052 saved by the cache)",
            "recorded replies came from the cache: --llm-cache off asks the model anew",
        ]
    )
    board = project.agentbench("leaderboard").outlines
    rows = [line.split() for line in board if line.startswith("agent.py")]
    assert [row[-4:-1] for row in rows] == [["0.052", "0.00052", "10"]] * 2
