"""Whose answers a run has, as its manifest says; whatever else stands there is not overlooked."""

from __future__ import annotations

import pytest

from pytest_agentbench.runs import mixed


@pytest.mark.parametrize("found", [7, "x", {"agent": 3}, [None], [{"changed": 5}]])
def test_a_manifest_of_anything_counts_as_mixed(found):
    manifest = {"agent": {"name": "b.py"}, mixed.KEY: found}
    assert mixed.mixture(manifest)
    assert mixed.answering(manifest).endswith("b.py")


@pytest.mark.parametrize("manifest", [{}, {"agent": 3}, {mixed.KEY: []}, {mixed.KEY: None}])
def test_a_run_of_one_agent_is_not_mixed(manifest):
    assert mixed.mixture(manifest) is None


def test_each_take_over_is_told():
    first = {"agent": {"name": "a.py"}}
    second = mixed.counted(
        {"agent": {"name": "b.py"}, mixed.KEY: [mixed.part(first, ["agent"])]}, 9
    )
    parts = [*mixed.parts(second), mixed.part(second, ["data"])]
    third = mixed.counted({"agent": {"name": "a.py"}, mixed.KEY: parts}, 2)
    assert mixed.answering(third) == "a.py, then b.py"
    assert mixed.mixture(third) == (
        "9 answers were given with other agent; 2 answers were given with other data"
    )
    assert mixed.counted(third, 5) == third  # nothing is taken over by a later session of the same


def test_models_tell_agents_apart():
    one, two = ({"agent": {"name": "a.py", "models": [model]}} for model in ("x", "y"))
    assert mixed.answering(one) == "a.py"  # the models are beside the name
    assert mixed.label(one) == "a.py x"
    both = {**two, "mixed": [mixed.part(one, ["llm"])]}
    assert mixed.answering(both) == mixed.label(both) == "a.py x, then a.py y"
    assert mixed.label({"agent": {"name": "a.py", "models": 7}}) == "a.py"
