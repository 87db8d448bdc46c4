"""What goes to an isolated agent and comes back: every shape of agent, every kind of value."""

from __future__ import annotations

import os
from datetime import date

import pytest
from processes import asked_at_once

SHAPES = {
    "function": "def agent(context): return context + 1",
    "coroutine": """
        import asyncio
        async def agent(context):
            await asyncio.sleep(0)
            return context + 1
    """,
    "forward": """
        class Mine:
            def forward(self, context): return context + 1
    """,
    "async forward": """
        class Mine:
            async def forward(self, context): return context + 1
        mine = Mine()
    """,
}


@pytest.mark.parametrize("source", SHAPES.values(), ids=SHAPES)
def test_every_shape_answers(isolated, source):
    agent = isolated(source)
    assert [agent(1), agent(2)] == [2, 3]


def test_one_child_answers_all_calls_of_a_thread_and_it_is_not_this_process(isolated):
    agent = isolated("import os\ndef agent(context): return os.getpid()")
    pids = {agent(n) for n in range(5)}
    assert len(pids) == 1
    assert pids != {os.getpid()}


def test_threads_have_a_child_each(isolated):
    agent = isolated(
        """
        import os, time
        def agent(context):
            open(f"asked-{os.getpid()}", "w").close()
            while sum(name.startswith("asked-") for name in os.listdir()) < 3: time.sleep(0.01)
            return os.getpid()
        """
    )
    assert len(set(asked_at_once(agent, 3))) == 3


CONTEXTS = [None, {}, [1, 2.5, "é\ud800\u2028"], {"a": {"b": [None, True]}}, ["x" * 3_000_000]]


@pytest.mark.parametrize("context", CONTEXTS, ids=["none", "empty", "list", "nested", "3 MB"])
def test_json_arrives_as_it_was_sent(runs, context):
    assert runs("answer = context['it']", it=context) == context


def test_numpy_and_dates_arrive_as_plain_values(runs):
    np = pytest.importorskip("numpy")
    sent = {"a": np.arange(3), "b": np.int64(7), "c": date(2020, 1, 2), "d": (1, 2)}
    assert runs("answer = context['it']", it=sent) == {
        "a": [0, 1, 2],
        "b": 7,
        "c": "2020-01-02",
        "d": [1, 2],
    }


def test_a_context_that_cannot_travel_is_an_error_here(isolated):
    with pytest.raises(
        TypeError,
        match=r"expected JSON or, as the value of a dict's key, a tool .* got builtins.object",
    ):
        isolated("def agent(context): return 1")({"a": object()})


ODD_ANSWERS = {
    "import numpy; answer = numpy.arange(3)": [0, 1, 2],
    "answer = {(1, 2): {3}}": {"(1, 2)": {"<set>": [3]}},
    "answer = float('inf')": float("inf"),
    "answer = b'x'": {"<bytes>": "b'x'"},
    "answer = [10 ** 5000, '\\ud800']": [{"<int>": hex(10**5000)}, "\ud800"],
}


@pytest.mark.parametrize("do", ODD_ANSWERS)
def test_odd_answers_arrive_as_a_record_would_keep_them(runs, do):
    assert runs(do) == ODD_ANSWERS[do]


@pytest.mark.parametrize(
    "do", ["answer.append(answer)", "for _ in range(99999): answer = [answer]"]
)
def test_an_answer_without_a_bottom_does_no_harm(runs, do):
    assert "too deep" in str(runs(f"answer = []\n{do}"))
    assert runs("answer = 'fine'") == "fine"
