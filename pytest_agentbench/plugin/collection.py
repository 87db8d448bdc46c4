"""From a plan to pytest items: parametrised functions in a module that exists in memory only."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Generator, Iterable, Sequence, Set
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from pytest_agentbench.base.errors import told
from pytest_agentbench.plugin import compat, fixture_compat, locations, messages
from pytest_agentbench.plugin.agent_in_force import agent_in_force, feeds_through, is_overruled
from pytest_agentbench.plugin.asked import Asked, as_text, asked
from pytest_agentbench.plugin.fixture_compat import adopt_conftest, visible_fixtures
from pytest_agentbench.plugin.fixtures import (
    RUNNING,
    agent_of,
    give_sample,
    gives_our_agent,
    sample_of_run,
)
from pytest_agentbench.plugin.item import Undelivered, ask, put_records_on, sample_function
from pytest_agentbench.reports import github
from pytest_agentbench.runs import evaluate
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings import model_options


class Named(NamedTuple):
    """A run that is collected in our own way: asked for with --benchmark, by a node id, or with several models."""

    plan: Plan
    names: frozenset[str]  # pasted after "::"; empty for all
    folder: Path  # whose conftests apply


class BenchmarkModule(compat.MemoryModule):
    """The module of one plan, with one function for each kind of sample."""

    plan: Plan
    # Names that the user has pasted ("uid[80012]", "uid"); empty for all.
    selected: frozenset[str]

    @classmethod
    def of(
        cls, plan: Plan, parent: pytest.Collector, path: Path, selected: Iterable[str] = ()
    ) -> BenchmarkModule:
        nodeid = plan.settings.nodeid
        folder = Path(model_options.parted(nodeid)[0]).parent.as_posix()
        name = nodeid.removeprefix(f"{folder}/")  # the name of a model may have slashes
        functions = _module(f"agentbench_{name}", plan, parent.config)
        module: BenchmarkModule = cls.make(parent, functions, path=path, name=name, nodeid=nodeid)
        module.plan = plan
        module.selected = frozenset(selected)
        return module

    def funcnamefilter(self, name: str) -> bool:
        return name in self.plan.targets

    def classnamefilter(self, name: str) -> bool:
        return False

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        seen = visible_fixtures(self, "agent")
        if is_overruled(self.plan.settings, seen) or gives_our_agent(seen[-1]):
            # A module's fixture comes before those of conftests and plugins.
            vars(self.obj)["_agent"] = agent_of(self.plan)
        samples = visible_fixtures(self, "sample")
        # Not in front of one that wraps ours. Any other is a project's own, for its own tests.
        if samples[-1:] == [give_sample] or not feeds_through(self, "sample", give_sample):
            vars(self.obj)["_sample"] = sample_of_run
        found = super().collect()
        if not self.selected:
            return found
        wanted = {own for name in self.selected if (own := self.plan.items.get(name)) is not None}
        return [item for item in found if self._is_selected(item, wanted)]

    def _is_selected(self, item: pytest.Item | pytest.Collector, wanted: Set[object]) -> bool:
        """Whether its name was pasted, or that of its sample, which other plugins may have made several items of."""
        if {item.name, item.name.partition("[")[0]} & self.selected:
            return True
        own = asked(item) if isinstance(item, pytest.Item) else None
        return own is not None and own.questions in wanted


class InvocationDirectory(pytest.Directory):
    """A folder on the way from rootdir to where pytest was started, so that its conftest applies."""

    below: Sequence[Path]
    modules: Sequence[Named]

    @classmethod
    def make(
        cls,
        parent: pytest.Collector,
        path: Path,
        below: Sequence[Path],
        modules: Sequence[Named],
    ) -> InvocationDirectory:
        directory: InvocationDirectory = cls.from_parent(parent, path=path)
        directory.below, directory.modules = below, modules
        return directory

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        adopt_conftest(self)
        if self.below:
            return [InvocationDirectory.make(self, self.below[0], self.below[1:], self.modules)]
        # Their path is rootdir: --lf skips every file whose path has no failure in it.
        root = self.config.rootpath
        return [BenchmarkModule.of(one.plan, self, root, one.names) for one in self.modules]


class Collection:
    """Hooks that add samples to the session's items, run them, and put records on their reports."""

    def __init__(self, named: Sequence[Named], scenarios: dict[Path, Plan]) -> None:
        self._named = named
        self._scenarios = scenarios  # scenario files given as paths
        # Of the item that runs.
        self._undelivered: Undelivered = {}
        self._delivered: set[tuple[int, int]] = set()
        self._places: dict[
            object, tuple[str, int | None]
        ] = {}  # of functions, once they were looked up
        self._is_worker = False
        self.plans = [*(one.plan for one in named), *scenarios.values()]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Session) and report.passed and self._named:
            for start in dict.fromkeys(one.folder for one in self._named):
                folders = _folders(collector.config.rootpath, start)
                own = [one for one in self._named if one.folder == start]
                directory = InvocationDirectory.make(collector, folders[0], folders[1:], own)
                report.result = [*report.result, directory]
        return report

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> BenchmarkModule | None:
        plan = self._scenarios.get(file_path)
        return None if plan is None else BenchmarkModule.of(plan, parent, file_path)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Feeds ``sample`` of each of our functions with the samples of its kind."""
        module = metafunc.definition.parent
        if isinstance(module, BenchmarkModule):
            plan, target = module.plan, f"{metafunc.function.__name__}["
            own = {name: own for name, own in plan.items.items() if name.startswith(target)}
            params = [Asked(plan, questions, plan.chunk > 1) for questions in own.values()]
            ids = [name[len(target) : -1] for name in own]
            metafunc.parametrize("sample", params, ids=ids, indirect=True)
            # Our function does not take it. Fixtures that do get one of their own, and another costs 20 us an item.
            if "request" in metafunc.fixturenames:
                metafunc.fixturenames.remove("request")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """After -k and -m: keeps what --limit and --first take."""
        late = [plan for plan in self.plans if plan.draws_late]
        if not late:
            return
        own = {item: one for item in items if (one := asked(item)) is not None and one.plan in late}
        kept = {
            plan: plan.kept({o.questions for o in own.values() if o.plan is plan}) for plan in late
        }
        left_out = {item for item, one in own.items() if one.questions not in kept[one.plan]}
        if left_out:
            config.hook.pytest_deselected(items=[item for item in items if item in left_out])
            items[:] = [item for item in items if item not in left_out]

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        """Before anybody prints it or sends it on: it may be an agent's."""
        text = told(warning_message.message) if isinstance(warning_message.message, Warning) else ""
        clean = text
        for plan in self.plans:
            clean = github.harmless(plan.secrets.cleaned(clean))
        if clean != text:
            warning_message.message = UserWarning(clean)

    def pytest_unconfigure(self) -> None:
        for plan in self.plans:
            plan.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """On a worker: tells the controller what the items ask, before xdist tells it their node ids."""
        self._is_worker = hasattr(session.config, "workerinput")
        if self._is_worker:
            text = as_text(session.items, self.plans)
            messages.send(session.config, "collected", confirmed=False, text=text)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Keeps the garbage collector from looking through all items, and all modules, again and again."""
        if gc.get_freeze_count():  # somebody else does already
            return (yield)
        gc.freeze()
        try:
            return (yield)
        finally:
            gc.unfreeze()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._undelivered.clear()
        self._delivered.clear()
        if isinstance(item.parent, BenchmarkModule):
            RUNNING.asked = fixture_compat.parameters(item).get("sample")
            locations.share(item, self._places)
        own = asked(item)
        try:
            if own is not None and own.plan.submission is not None:
                with evaluate.held_off():
                    return (yield)
            return (yield)
        finally:
            RUNNING.asked = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        __tracebackhide__ = True
        own = asked(pyfuncitem)
        if own is None or not isinstance(pyfuncitem.parent, BenchmarkModule):
            return None
        ask(pyfuncitem, own)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        own = asked(item)
        if own is not None:
            put_records_on(report, item, own, self._undelivered)
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(
        self, report: pytest.TestReport
    ) -> Generator[None, object, object]:
        """Sees to it that each record is delivered once: a worker sends it, or the controller logs it."""
        carried = report.__dict__.pop("agentbench_undelivered", None)
        if carried is None:
            return (yield)
        new = []
        for number, sent in carried:
            key, parts = tuple(number), sent
            if key not in self._delivered:
                self._delivered.add(key)
                made = self._undelivered.pop(key, None)
                # Of a record that a child made, and in a worker, which sends the report on, the text alone.
                if made is not None and not self._is_worker:
                    parts = (*parts[:-1], made.record)
                new.append(parts)
        report.agentbench_records = new  # type: ignore[attr-defined]
        result = yield
        report.__dict__.pop("agentbench_records", None)
        return result


def _module(name: str, plan: Plan, config: pytest.Config) -> ModuleType:
    """A Python module with one function for each kind of sample."""
    module = ModuleType(name, plan.benchmark.description)
    fixture = agent_in_force(plan, config).place
    location = locations.of_samples(plan.settings, config.rootpath, fixture)
    for target in plan.targets:
        function = sample_function(plan, target)
        locations.place(function, location)
        # Or pytest would leave it out as imported, with collect_imported_tests = false.
        function.__module__ = name
        setattr(module, target, function)
    return module


def _folders(root: Path, start: Path) -> list[Path]:
    """rootdir and the folders from it down to where pytest was started."""
    if root not in start.parents:
        return [root]
    return [root, *reversed([p for p in start.parents if root in p.parents]), start]
