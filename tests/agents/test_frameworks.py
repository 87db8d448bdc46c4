"""Agents of asbench are called as asbench calls them."""

from __future__ import annotations

import asyncio
import inspect
import json

import pytest
from agent_shapes import Model, asked, question

from pytest_agentbench.agents.asbench.individual import IndividualAgentBase
from pytest_agentbench.agents.asbench.toolbox import Toolbox
from pytest_agentbench.agents.frameworks import agent_params_of
from pytest_agentbench.agents.shapes import function_of
from pytest_agentbench.base.errors import BenchmarkError


class Individual(IndividualAgentBase):
    made = 0

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        type(self).made += 1
        self.own_toolbox = self.toolbox  # helpers made here keep it

    async def forward(self, task_context):
        self.user = task_context["user_id"]  # per-call state on self
        prompt = json.dumps(task_context)  # the store is not in it
        await self.llm.atext_request([{"role": "user", "content": prompt}])
        await asyncio.sleep(0.01)
        stores = (self.toolbox.get_tool_object("uir"), self.toolbox.uir, self.own_toolbox.uir)
        return [self.user, *(store.get_user("x")["store"] for store in stores)]


def test_an_asbench_agent_has_its_toolbox_and_its_model():
    model = Model()
    function = function_of(Individual, model)
    assert inspect.iscoroutinefunction(function)
    assert asked(function, question("ada")) == ["ada"] * 4
    assert '"user_id": "ada"' in model.asked[0][0]["content"]


def test_calls_at_once_never_share_an_asbench_agent_and_idle_ones_are_used_again():
    Individual.made = 0
    function = function_of(Individual, Model())

    async def rounds():
        for _ in range(3):
            answers = await asyncio.gather(*(function(question(f"u{n}")) for n in range(10)))
            assert answers == [[f"u{n}"] * 4 for n in range(10)]

    asyncio.run(rounds())
    assert Individual.made == 10


def test_an_asbench_agent_that_failed_is_not_used_again():
    class Failing(IndividualAgentBase):
        calls = 0

        async def forward(self, task_context):
            self.calls += 1
            if task_context["user_id"] == "bad":
                raise ValueError("no")
            return self.calls

    function = function_of(Failing)
    assert [asked(function, question("a")) for _ in range(2)] == [1, 2]
    with pytest.raises(ValueError, match="no"):
        asked(function, question("bad"))
    assert asked(function, question("a")) == 1


def test_an_asbench_agent_may_be_sync_and_have_a_constructor_of_its_own():
    class Short(IndividualAgentBase):
        def __init__(self):
            super().__init__()

        def forward(self, task_context):
            return self.toolbox.uir.user

    assert asked(function_of(Short), question("ada")) == "ada"


def test_hooks_around_forward_are_called():
    calls = []

    class Hooked(IndividualAgentBase):
        async def before_forward(self):
            calls.append("before")

        async def forward(self, task_context):
            calls.append("forward")

        async def after_forward(self):
            calls.append("after")

    asked(function_of(Hooked), question("ada"))
    assert calls == ["before", "forward", "after"]


def test_the_real_base_class_is_served_as_the_stand_in_is():
    class IndividualAgentBase:  # agentsociety's constructor: every argument is needed
        def __init__(self, id, name, toolbox, memory, agent_params=None, blocks=None):  # noqa: A002
            self._toolbox = toolbox

        toolbox = property(lambda self: self._toolbox)
        llm = property(lambda self: self._toolbox.llm)

        async def before_forward(self):
            pass

        async def after_forward(self):
            pass

    class Mine(IndividualAgentBase):
        async def forward(self, task_context):
            return await self.llm.atext_request([]), self.toolbox.uir.user

    assert asked(function_of(Mine, Model()), question("ada")) == ("reply", "ada")


def test_an_object_cannot_stand_for_the_class_of_a_framework():
    with pytest.raises(BenchmarkError, match="expected the class Individual, got an object"):
        function_of(Individual(toolbox=Toolbox()))


def test_a_parameter_that_its_class_has_not_is_refused():
    class Params:
        model_fields = {"style": None}

        @classmethod
        def model_validate(cls, given):  # pydantic ignores what it does not know
            return dict(given)

    class Styled(Individual):
        ParamsType = Params

    assert agent_params_of(Styled, {"style": "x"}) == {"style": "x"}
    with pytest.raises(BenchmarkError, match=r"of Params, which Styled has \(style\); got 'stile'"):
        agent_params_of(Styled, {"stile": "x"})
    Params.model_config = {"extra": "allow"}
    assert agent_params_of(Styled, {"stile": "x"}) == {"stile": "x"}
