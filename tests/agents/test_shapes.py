"""Every shape of agent becomes one function of the context."""

from __future__ import annotations

import asyncio
import functools
import inspect
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from agent_shapes import Model, asked

from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.shapes import function_of, has_agent_method
from pytest_agentbench.agents.websociety.society_agents import SimulationAgent
from pytest_agentbench.base.errors import BenchmarkError


def plain(context):
    return context + 1


async def coroutine(context):
    await asyncio.sleep(0)
    return context + 1


class Forward:
    def forward(self, context):
        return context + 1


class AsyncForward:
    async def forward(self, context):
        return context + 1


class Called:
    def __call__(self, context):
        return context + 1


class AsyncCalled:
    async def __call__(self, context):
        return context + 1


class Batch:
    def forward_batch(self, contexts):
        assert isinstance(contexts, list)
        return [context + 1 for context in contexts]


class AsyncBatch:
    async def forward_batch(self, contexts):
        return [context + 1 for context in contexts]


CLASSES = [Forward, AsyncForward, Called, AsyncCalled, Batch, AsyncBatch]
SHAPES = [
    plain, coroutine, functools.partial(plain), functools.partial(coroutine), *CLASSES,
    *(owner() for owner in CLASSES), Forward().forward,
]  # fmt: skip


def named(target):
    """A name without an address: xdist's workers must agree on it."""
    return re.sub(r" (at|of) .*|<|>|.*<locals>\.", "", repr(target)).replace(f"{__name__}.", "")


@pytest.mark.parametrize("target", SHAPES, ids=named)
def test_every_shape_answers(target):
    function = function_of(target)
    assert [asked(function, 1), asked(function, 2)] == [2, 3]


@pytest.mark.parametrize("target", SHAPES, ids=named)
def test_a_function_is_a_coroutine_function_where_the_agents_own_is(target):
    is_coroutine = "coroutine" in repr(target) or "Async" in repr(target)
    assert inspect.iscoroutinefunction(function_of(target)) == is_coroutine


def test_a_class_is_made_once_and_at_the_first_call():
    made = []

    class Slow:
        def __init__(self):
            threading.Event().wait(0.05)
            made.append(self)

        def forward(self, context):
            return id(self)

    function = function_of(Slow)
    assert not made
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(function, range(8)))) == 1
    assert len(made) == 1


@pytest.mark.parametrize("answers", [[], [1, 2], 7], ids=repr)
def test_a_batch_of_one_has_one_answer(answers):
    function = function_of(SimpleNamespace(forward_batch=lambda contexts: answers))
    with pytest.raises(BenchmarkError, match="expected a list of one answer"):
        function(1)


def test_forward_comes_before_forward_batch_and_the_call():
    class All(Batch, Called):
        def forward(self, context):
            return "forward"

    assert function_of(All)(1) == "forward"


@pytest.mark.parametrize("target", [7, "text", type("Nothing", (), {}), None], ids=repr)
def test_what_is_no_agent_is_refused(target):
    with pytest.raises(BenchmarkError, match=r"--agent: expected a function f\(context\)"):
        function_of(target)


def test_the_loader_can_tell_agents_by_their_methods():
    assert all(has_agent_method(owner) for owner in (Forward, Batch, SimulationAgent))
    assert not has_agent_method(Called)


def takes(context, llm):
    return llm(messages=context)


async def takes_too(context, *, llm=None):
    return await llm.atext_request(context)


class Taken:
    def __init__(self, llm):
        self.llm = llm

    def forward(self, context):
        return self.llm(messages=context)


class TakenEachTime:
    async def forward(self, context, llm):
        return await llm.atext_request(context)


class Greedy:
    def __init__(self, **options):
        assert not options  # it asked for nothing by name

    def forward(self, context):
        return "reply"


@pytest.mark.parametrize("target", [takes, takes_too, Taken, TakenEachTime, Greedy])
def test_the_model_is_handed_to_whatever_takes_it(target):
    assert asked(function_of(target, Model()), "question") == "reply"


@pytest.mark.parametrize("target", [takes, takes_too, Taken, TakenEachTime])
def test_an_agent_that_asks_a_model_where_there_is_none_is_told(target):
    with pytest.raises(NotProvided, match=r"expected --model NAME .*the key llm in the scenario"):
        asked(function_of(target), "question")


def test_parameters_go_to_a_constructor_that_takes_them():
    class Agent:
        def __init__(self, agent_params, llm):
            self.given = [agent_params, llm]

        def forward(self, context):
            return self.given

    model = Model()
    assert function_of(Agent, model, {"patience": 3})({}) == [{"patience": 3}, model]


class Styled:
    def __init__(self, llm, style="short", *, most=1):
        self.given = [style, most]

    def __call__(self, context):
        return self.given


class OfAnObject:
    async def forward(self, context, style="short", most=1):
        return [style, most]


def styled(context, llm, style="short", most=1):
    return [style, most]


def of_any(context, **options):
    return list(options.values())


@pytest.mark.parametrize("target", [Styled, OfAnObject(), styled, of_any])
def test_parameters_go_by_name_to_a_constructor_or_a_function(target):
    call = function_of(target, Model(), {"style": "long", "most": 3})
    assert asked(call, "question") == ["long", 3]


@pytest.mark.parametrize(
    ("target", "known"),
    [
        (lambda context: 1, r"the function of the agent, .*<lambda> \(it has none\)"),
        (styled, r"the function of the agent, styled \(style, most\)"),
        (Styled, r"the constructor of the agent, Styled \(style, most\)"),
        (type("A", (), {"forward": lambda s, c: c}), r"the constructor of the agent, A \(it has none\)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["patience", "llm"])
def test_parameters_that_nobody_takes_are_refused(target, known, name):
    with pytest.raises(
        BenchmarkError, match=rf"agent_params: expected parameters of {known}, got '{name}'"
    ):
        function_of(target, None, {name: 3})


def test_the_context_is_no_parameter():
    with pytest.raises(BenchmarkError, match="got 'context'"):
        function_of(styled, None, {"context": 3})
