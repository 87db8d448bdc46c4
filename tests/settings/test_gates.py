"""The gate grammar."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.settings import gates

sys.path.append(str(Path(__file__).parents[1] / "toy"))
from toybench import ToySum


@pytest.mark.parametrize(
    "text",
    [
        "", "final_score", "final_score >=", ">= 60", "60 <= final_score", "final_score => 60",
        "final_score >= sixty", "final_score.mid > 1", "final_score != 1", "final_score > nan",
        "final_score >= baseline * 2", "a b > 1", "delta(x) > baseline", "delta() > 1",
        "final_score >= 60 and x > 1", "final_score >= 1_000", "worst_group() > 1",
        "worst_group(x) > baseline", "worst_group(delta(x)) > 1",
    ],
)  # fmt: skip
def test_what_is_no_gate_is_refused_and_quoted(text):
    with pytest.raises(gates.GateError) as error:
        gates.parse(text)
    assert repr(text) in str(error.value)


@given(st.text(max_size=40))
def test_any_text_is_a_gate_or_a_gate_error(text):
    with contextlib.suppress(gates.GateError):
        gates.parse(text)


@given(
    st.from_regex(r"[a-z_]{1,8}", fullmatch=True),
    st.sampled_from([">=", "<=", ">", "<", "=="]),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_every_number_survives(metric, operator, number):
    gate = gates.parse(f"{metric} {operator} {number!r}")
    assert (gate.metric, gate.operator, gate.number) == (metric, operator, number)


def texts(*layers):
    return [g.text for g in gates.combine([[gates.parse(t) for t in layer] for layer in layers])]


def test_coverage_is_gated_unless_another_gate_on_it_is_given():
    assert texts() == ["coverage >= 1"]
    assert texts(["a > 1"]) == ["coverage >= 1", "a > 1"]
    assert texts(["coverage >= 0.5"]) == ["coverage >= 0.5"]
    assert texts(["worst_group(coverage) >= 0.9"]) == [
        "coverage >= 1",
        "worst_group(coverage) >= 0.9",
    ]
    assert texts(["delta(coverage) >= 0"]) == ["coverage >= 1", "delta(coverage) >= 0"]


@pytest.mark.parametrize(
    "gate",
    [
        "coverage <= 1",
        "coverage < 1",
        "coverage.high >= 0.9",
        "coverage >= baseline",
        "x:coverage <= 1",
        "x:coverage >= 0.5",
        "coverage >= 0",
        "coverage == 0",
        "coverage > -1",
    ],
)
def test_a_gate_that_does_not_bound_coverage_from_below_leaves_the_default_one(gate):
    assert texts([gate]) == ["coverage >= 1", gate]


@pytest.mark.parametrize("gate", ["coverage > 0", "coverage == 1", "coverage.low >= 0.9"])
def test_a_gate_that_bounds_coverage_from_below_replaces_it(gate):
    assert texts([gate]) == [gate]


def test_a_gate_on_the_worst_group_is_about_something_else_than_one_on_all():
    assert texts(["a > 1", "worst_group(a) > 0"], ["worst_group(a) > 0.5"]) == [
        "coverage >= 1",
        "a > 1",
        "worst_group(a) > 0.5",
    ]
    assert gates.parse("worst_group( a ).low >= 1").part == "low"


def test_a_stronger_layer_replaces_gates_about_the_same():
    assert texts(["a > 1", "a < 5", "b > 1"], ["a >= 2", "a >= 3"]) == [
        "coverage >= 1", "a < 5", "b > 1", "a >= 2", "a >= 3",
    ]  # fmt: skip
    assert texts(["a > 1"], ["a.low > 1", "x:a > 1"]) == [
        "coverage >= 1",
        "a > 1",
        "a.low > 1",
        "x:a > 1",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "acuracy >= 1",
            "expected a metric of toysum (accuracy, distance, style, coverage), got 'acuracy' in "
            "'acuracy >= 1'; did you mean accuracy?",
        ),
        ("delta(beauty) >= 0", "got 'beauty' in 'delta(beauty) >= 0'"),
        ("worst_group(beauty) >= 0", "expected a metric of toysum"),
        (
            "lenint:accuracy >= 1",
            "expected a reading of toysum (exact, lenient), got 'lenint' in 'lenint:accuracy >= 1'; "
            "did you mean lenient?",
        ),
        ("lenient:worst_group(accuracy) >= 0", "in the primary reading, which is exact"),
    ],
)
def test_what_no_run_can_ever_pass_is_told_with_what_there_is(text, says):
    assert says in gates.mistake(gates.parse(text), ToySum(), "exact")


@pytest.mark.parametrize(
    "text",
    ["accuracy >= 1", "lenient:distance < 3", "coverage >= 0.9", "exact:worst_group(accuracy) > 0"],
)
def test_what_exists_is_no_mistake(text):
    assert gates.mistake(gates.parse(text), ToySum(), "exact") is None


def test_a_benchmark_that_does_not_list_all_its_metrics_may_still_have_them():
    class Others(ToySum):
        lists_all_metrics = False

    assert gates.mistake(gates.parse("beauty > 0"), Others(), "exact") is None
    assert gates.mistake(gates.parse("strict:beauty > 0"), Others(), "exact") is not None
