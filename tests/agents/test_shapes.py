"""Every shape of agent becomes one function of the context; the examples are agents of each shape."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import inspect
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from pytest_agentbench.agents import frameworks
from pytest_agentbench.agents.frameworks import (
    IndividualAgentBase,
    RecommendationAgent,
    SimulationAgent,
    Toolbox,
)
from pytest_agentbench.agents.llm.calls import LLMError
from pytest_agentbench.agents.llm.entries import parse_llm
from pytest_agentbench.agents.shapes import Tools, function_of, has_agent_method
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.humob.benchmark import Humob

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DOCS = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


def asked(function, context):
    answer = function(context)
    return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer


async def _awaited(answer):
    return await answer


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


class Model:
    """In the place of the LLM."""

    def __init__(self):
        self.asked = []

    async def atext_request(self, messages, **options):
        self.asked.append(messages)
        await asyncio.sleep(0)
        return "reply"

    def __call__(self, messages, **options):
        self.asked.append(messages)
        return "reply"


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
    assert asked(function_of(target, Tools(llm=Model())), "question") == "reply"


@pytest.mark.parametrize("target", [takes, takes_too, Taken, TakenEachTime])
def test_an_agent_that_asks_a_model_where_there_is_none_is_told(target):
    with pytest.raises(LLMError, match="expected the key llm in the scenario"):
        asked(function_of(target), "question")


class Store:
    """A user-item-review store that knows whose question it is for."""

    def __init__(self, user):
        self.user = user

    def get_user(self, user_id):
        return {"user_id": user_id, "store": self.user}


def question(user, **fields):
    return {"target": "recommendation", "user_id": user, "uir": Store(user), **fields}


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
    function = function_of(Individual, Tools(llm=model))
    assert inspect.iscoroutinefunction(function)
    assert asked(function, question("ada")) == ["ada"] * 4
    assert '"user_id": "ada"' in model.asked[0][0]["content"]


def test_calls_at_once_never_share_an_asbench_agent_and_idle_ones_are_used_again():
    Individual.made = 0
    function = function_of(Individual, Tools(llm=Model()))

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

    assert asked(function_of(Mine, Tools(llm=Model())), question("ada")) == ("reply", "ada")


class Recommender(RecommendationAgent):
    def __init__(self, llm):
        super().__init__(llm=llm)

    def workflow(self):
        threading.Event().wait(0.01)
        json.dumps(self.task)  # plain types alone
        store = self.interaction_tool.get_user(user_id=self.task["user_id"])["store"]
        return [self.task["user_id"], store, self.llm(messages=[{"role": "user"}])]


def test_a_websociety_agent_has_its_task_its_tool_and_its_model():
    function = function_of(Recommender, Tools(llm=Model()))
    assert not inspect.iscoroutinefunction(function)
    assert function(question("ada")) == ["ada", "ada", "reply"]


def test_a_websociety_task_has_the_keys_that_its_tasks_have():
    class Reader(RecommendationAgent):
        def workflow(self):
            return self.task

    function = function_of(Reader)
    task = function(question("ada", candidate_list=["i"]))
    assert task.pop("description").startswith("Rank")
    assert task == {
        "target": "recommendation", "user_id": "ada", "candidate_list": ["i"], "loc": [-1, -1],
    }  # fmt: skip
    assert function(question("ada", loc=[1, 2]))["loc"] == [1, 2]


def test_calls_at_once_never_share_a_websociety_agent():
    function = function_of(Recommender, Tools(llm=Model()))
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(function, [question(f"u{n}") for n in range(30)]))
    assert answers == [[f"u{n}", f"u{n}", "reply"] for n in range(30)]


def test_a_websociety_agent_that_does_not_ask_needs_no_model():
    class Quiet(SimulationAgent):
        def workflow(self):
            return {"stars": 4.0, "review": self.task["item_id"]}

    answer = function_of(Quiet)(question("ada", target="review_writing", item_id="i1"))
    assert answer == {"stars": 4.0, "review": "i1"}


def test_a_websociety_agent_is_told_of_the_other_track():
    with pytest.raises(BenchmarkError, match=r"answers recommendation, got .* -k recommendation"):
        function_of(Recommender)(question("ada", target="review_writing"))


def test_a_workflow_without_the_base_class_is_taken():
    class Free:
        def workflow(self):
            return self.task["user_id"], self.interaction_tool.user, bool(self.llm)

    assert function_of(Free)(question("ada")) == ("ada", "ada", False)


@pytest.mark.parametrize("owner", [Individual, Recommender])
def test_an_object_cannot_stand_for_the_class_of_a_framework(owner):
    made = owner(llm=None) if owner is Recommender else owner(toolbox=Toolbox())
    with pytest.raises(BenchmarkError, match=f"expected the class {owner.__name__}, got an object"):
        function_of(made)


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    with frameworks.available():
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """The first samples of a benchmark's demo data."""
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path))

    def samples(benchmark, targets=None):
        settings = SimpleNamespace(
            dataset="demo", mode=benchmark.modes[0], seed=0, bases=(),
            parameters={parameter.name: parameter.default for parameter in benchmark.parameters}
            | {"text_models": "none"},
        )  # fmt: skip
        dataset = benchmark.load(settings)
        found = []
        for index, key in enumerate(dataset.keys):
            if targets is None or key.target in targets:
                found.append(dataset.sample(index))
        step = max(1, len(found) // 6)
        return found[::step]

    return samples


class Talker(Model):
    async def atext_request(self, messages, **options):
        await super().atext_request(messages)
        return "4\nIt was good, and then 2, 0 and 99 more."


@pytest.mark.parametrize(
    ("name", "agent", "measured", "targets"),
    [
        ("function_agent", "answer", Humob, None),
        ("coroutine_agent", "answer", Humob, None),
        ("forward_agent", "WeekdayAgent", Humob, None),
        ("batch_agent", "BatchAgent", Humob, None),
        ("asbench_agent", "ReviewerAgent", BehaviorModeling, None),
        ("websociety_agent", "PopularAgent", BehaviorModeling, ["recommendation"]),
        ("llm_agent", "Agent", BehaviorModeling, None),
    ],
)
def test_every_example_answers_what_its_benchmark_accepts(demo, name, agent, measured, targets):
    function = function_of(getattr(load(EXAMPLES / f"{name}.py"), agent), Tools(llm=Talker()))
    benchmark = measured()
    samples = demo(benchmark, targets)
    assert len(samples) >= 5
    for sample in samples:
        assert benchmark.check(sample, asked(function, sample.context))


@pytest.mark.parametrize("number", range(DOCS.count("```python\n")))
def test_every_agent_in_the_documentation_answers(demo, tmp_path, number):
    code = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)[number]
    path = tmp_path / "documented.py"
    path.write_text(code, encoding="utf-8")
    module = load(path)
    agent = getattr(module, "Agent", None) or module.answer
    benchmark = Humob() if "targets" in code else BehaviorModeling()
    targets = ["recommendation"] if "RecommendationAgent" in code else None
    function = function_of(agent, Tools(llm=Talker()))
    for sample in demo(benchmark, targets):
        assert benchmark.check(sample, asked(function, sample.context))


@pytest.mark.parametrize("source", ["documentation", "example"])
def test_the_scenarios_name_models_as_they_must_be_named(source):
    text = (EXAMPLES / "llm_scenario.yaml").read_text(encoding="utf-8")
    if source == "documentation":
        (text,) = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)
    entries = parse_llm(yaml.safe_load(text)["llm"])
    assert entries[0].as_json()["api_key"] == "${OPENAI_API_KEY}"
    assert all(entry.price_input is not None for entry in entries)  # max_cost needs it
