"""What models were asked and what that cost, in words."""

from __future__ import annotations

import pytest

from pytest_agentbench.reports import model_lines
from pytest_agentbench.runs.model_use import ModelUse

ASKED = ModelUse(
    ("gpt-4o-mini",), calls=300, input_tokens=210_000, output_tokens=30_412, cost=0.42, p50=0.812, p95=2.44,
)  # fmt: skip
REPLAYED = ModelUse(
    ("gpt-4o-mini",), calls=300, cache_hits=300, input_tokens=210_000, output_tokens=30_412, replayed_cost=0.42,
)  # fmt: skip


@pytest.mark.parametrize(
    ("use", "lines"),
    [
        (None, []),
        (ASKED, ["model: gpt-4o-mini, 300 calls, 210k tokens in, 30.4k out",
                 "cost 0.42, latency p50 0.81 s, p95 2.4 s"]),
        (REPLAYED, ["model: gpt-4o-mini, 300 calls (300 from the cache), 210k tokens in, 30.4k out",
                    "cost 0 (0.42 saved by the cache)",
                    "recorded replies came from the cache: --llm-cache off asks the model anew"]),
        (ModelUse(("a", "b"), calls=1, retries=1, errors=1, estimated=1, input_tokens=9),
         ["models: a, b, 1 call (1 retry, 1 error), about 9 tokens in, 0 out"]),
        (ModelUse(calls=2), ["models: 2 calls, 0 tokens in, 0 out"]),
    ],
    ids=["none", "asked", "replayed", "without prices", "of several agents"],
)  # fmt: skip
def test_a_line_for_each_thing_that_is_known(use, lines):
    assert model_lines.lines(use) == lines
    assert all(len(line) <= 80 for line in lines)


def test_cards_say_why_a_figure_is_not_there():
    cards = model_lines.cards(REPLAYED)
    assert (cards["cost"], cards["saved"]) == ("0", "0.42 more saved by the cache")
    assert (cards["latency"], cards["slowest"]) == ("-", "all replies came from the cache")
    cards = model_lines.cards(ModelUse(("m",), calls=1, input_tokens=9))
    assert (cards["cost"], cards["saved"], cards["slowest"]) == (
        "-",
        "no price is known",
        "none was recorded",
    )
    assert model_lines.cards(ASKED)["latency"] == "0.81 s"
