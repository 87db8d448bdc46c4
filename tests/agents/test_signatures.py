"""Agents that cannot be called are refused before anything is asked; whatever may work is not."""

from __future__ import annotations

import abc
import dataclasses
import functools
import operator
from typing import Any

import pytest

from pytest_agentbench.agents.shapes import function_of
from pytest_agentbench.agents.signatures import check_callable
from pytest_agentbench.base.errors import BenchmarkError


def nothing():
    return 1


def second(context, other):
    return 1


def by_name(*, context):
    return 1


def only_named(context, *, other):
    return 1


def model_first(llm, context):
    return 1


def without_room(context, **options):
    return 1


class Named:
    def __init__(self, name):
        self.name = name

    def forward(self, context):
        return 1


class NoContext:
    def forward(self):
        return 1


class Batch:
    def forward_batch(self):
        return [1]


class Called:
    def __call__(self):
        return 1


class Static:
    @staticmethod
    def forward():
        return 1


@dataclasses.dataclass
class Record:
    name: str

    def forward(self, context):
        return 1


CANNOT = [
    (nothing, r"called as nothing\(context\), got nothing\(\): too many positional arguments"),
    (second, r"got second\(context, other\): missing a required argument: 'other'"),
    (by_name, r"got by_name\(\*, context\)"),
    (only_named, r"got only_named\(context, \*, other\): missing a required"),
    (model_first, r"called as model_first\(context, llm\).* multiple values for argument 'llm'"),
    (Named, r"a class that can be called as Named\(\), got Named\(name\)"),
    (Record, r"called as Record\(\), got Record\(name\)"),
    (NoContext, r"called as NoContext.forward\(context\), got NoContext.forward\(\)"),
    (NoContext(), r"called as NoContext.forward\(context\), got NoContext.forward\(\)"),
    (Batch, r"Batch.forward_batch\(context\)"),
    (Called, r"Called.__call__\(context\)"),
    (Called(), r"Called.__call__\(context\)"),
    (Static, r"Static.forward\(context\)"),
]


@pytest.mark.parametrize(("target", "says"), CANNOT)
def test_what_cannot_be_called_is_refused_and_would_really_fail(target, says):
    with pytest.raises(BenchmarkError, match=says):
        check_callable(target, has_model=True)
    with pytest.raises(TypeError):
        function_of(target)({"a": 1})


def given(function):
    @functools.wraps(function)
    def around(context):
        return function(context, 2)

    return around


def passed_on(function):
    @functools.wraps(function)
    def around(*args, **options):
        return function(*args, other=2, **options)

    return around


class Late:
    """Its objects have another ``forward`` than the class."""

    def __init__(self):
        self.forward = lambda context: 1

    def forward(self):
        raise NotImplementedError


class Other:
    def __new__(cls):
        return Late()

    def forward(self):
        raise NotImplementedError


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        return super().__call__("a name")


class Filled(Named, metaclass=Meta):
    pass


class Base(abc.ABC):
    @abc.abstractmethod
    def forward(self, context): ...


class Derived(Base):
    def __init__(self, *args, **options):
        pass

    @classmethod
    def forward(cls, context, more=None, *rest, **options):
        return 1


@dataclasses.dataclass
class Defaults:
    name: str = "x"

    def __call__(self, context):
        return 1


class Declared:
    """pydantic's settings say what they need, and find it in the environment."""

    __signature__ = __import__("inspect").signature(second)

    def forward(self, context):
        return 1


def wants_more(context: NotThere, other=None):  # noqa: F821 -- only a type checker knows it
    return 1


CAN = [
    without_room,
    given(second),
    passed_on(second),
    functools.partial(second, other=1),
    functools.partial(operator.add, 1),
    lambda *args, **options: 1,
    wants_more,
    Late,
    Other,
    Filled,
    Derived,
    Defaults,
    Defaults(),
    Declared,
]


@pytest.mark.parametrize("target", CAN)
def test_what_can_be_called_is_not_refused(target):
    check_callable(target, has_model=False)
    context = 1 if isinstance(target, functools.partial) else {"a": 1}
    assert function_of(target)(context) in (1, 2)


class WantsModel:
    def __init__(self, llm):
        pass

    def forward(self, context):
        return 1


class Asks:
    def forward(self, context, llm):
        return 1


class Lives:
    def __init__(self, city, llm):
        pass

    def step(self, now):
        pass


@pytest.mark.parametrize("target", [lambda context, llm: 1, WantsModel, Asks, Asks(), Lives])
def test_an_agent_that_takes_the_model_needs_one(target):
    with pytest.raises(
        BenchmarkError, match=r"expected a model, .* takes llm, got none; .*--model"
    ):
        check_callable(target, has_model=False)
    check_callable(target, has_model=True)


class SimulationAgent:
    def __init__(self, llm):
        pass


class Published(SimulationAgent):
    def workflow(self):
        return {}


@pytest.mark.parametrize(
    "target",
    [lambda context, llm=None: 1, lambda context, **llm: 1, Published],
    ids=["default", "keywords", "published"],
)
def test_a_model_that_can_be_done_without_is_not_asked_for(target):
    check_callable(target, has_model=False)


def test_agent_params_fill_what_they_name():
    check_callable(second, has_model=False, params={"other": 1})
    check_callable(Named, has_model=False, params={"name": "x"})
    with pytest.raises(BenchmarkError, match="'other'"):
        check_callable(second, has_model=False, params={"another": 1})


@pytest.mark.parametrize("extra", [[], ["-n2"], ["--agent-isolation=process"]], ids=str)
def test_one_usage_error_and_nothing_asked(project, extra):
    project.write(
        agent__py="def agent(context, other):\n    open('asked', 'w').close()\n    return 1\n"
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", *extra)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().count("got agent(context, other)") == 1
    assert "got agent(" not in result.stdout.str()
    assert not (project.path / "asked").exists()
    assert not project.runs()
