"""From a plan to pytest items: parametrised functions in a module that exists in memory only."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType

import pytest

from pytest_agentbench.base.errors import told
from pytest_agentbench.plugin import compat
from pytest_agentbench.plugin.agent_in_force import is_overruled
from pytest_agentbench.plugin.fixture_compat import adopt_conftest, visible_fixtures
from pytest_agentbench.plugin.fixtures import agent, give_agent, give_sample
from pytest_agentbench.plugin.item import ask, put_records_on, sample_function
from pytest_agentbench.reports import github
from pytest_agentbench.runs import evaluate
from pytest_agentbench.runs.plan import Plan


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
        name = Path(nodeid).name
        functions = _module(f"agentbench_{name}", plan)
        module: BenchmarkModule = cls.make(parent, functions, path=path, name=name, nodeid=nodeid)
        module.plan = plan
        module.selected = frozenset(selected)
        return module

    @cached_property
    def fixtures_are_ours(self) -> bool:
        """Whether ``agent`` and ``sample`` are not overridden, and no option shows fixtures."""
        option = self.config.option
        watched = option.setupshow or option.setuponly or option.setupplan
        ours = (("agent", give_agent), ("sample", give_sample))
        return not watched and all(visible_fixtures(self, name)[-1:] == [f] for name, f in ours)

    def funcnamefilter(self, name: str) -> bool:
        return name in self.plan.targets

    def classnamefilter(self, name: str) -> bool:
        return False

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        if is_overruled(self.plan.settings, visible_fixtures(self, "agent")):
            # A module's fixture comes before those of conftests and plugins.
            vars(self.obj)["_agent"] = agent
        found = super().collect()
        if not self.selected:
            return found
        return [i for i in found if {i.name, i.name.partition("[")[0]} & self.selected]


class InvocationDirectory(pytest.Directory):
    """A folder on the way from rootdir to where pytest was started, so that its conftest applies."""

    below: Sequence[Path]
    modules: Sequence[tuple[Plan, frozenset[str]]]

    @classmethod
    def make(
        cls,
        parent: pytest.Collector,
        path: Path,
        below: Sequence[Path],
        modules: Sequence[tuple[Plan, frozenset[str]]],
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
        return [BenchmarkModule.of(plan, self, root, names) for plan, names in self.modules]


class Collection:
    """Hooks that add samples to the session's items, run them, and put records on their reports."""

    def __init__(
        self, named: Sequence[tuple[Plan, frozenset[str]]], scenarios: dict[Path, Plan]
    ) -> None:
        self._named = named  # asked for with --benchmark or by a node id
        self._scenarios = scenarios  # scenario files given as paths
        self._plans = [*(plan for plan, _ in named), *scenarios.values()]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Session) and report.passed and self._named:
            folders = _folders(collector.config.rootpath, collector.config.invocation_params.dir)
            directory = InvocationDirectory.make(collector, folders[0], folders[1:], self._named)
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
            target = f"{metafunc.function.__name__}["
            own = [name for name in module.plan.items if name.startswith(target)]
            params = [module.plan.asked_in(name) for name in own]
            ids = [name[len(target) : -1] for name in own]
            metafunc.parametrize("sample", params, ids=ids, indirect=True)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """After -k and -m: keeps what --limit and --first take."""
        late = [plan for plan in self._plans if plan.draws_late]
        if not late:
            return
        names: dict[Plan, list[str]] = {plan: [] for plan in late}
        own = {item: plan for item in items if (plan := _plan_of(item)) in names}
        for item, plan in own.items():
            names[plan].append(item.name)
        asked = {plan: plan.names_kept(found) for plan, found in names.items()}
        left_out = {item for item, plan in own.items() if item.name not in asked[plan]}
        if left_out:
            config.hook.pytest_deselected(items=[item for item in items if item in left_out])
            items[:] = [item for item in items if item not in left_out]

    @pytest.hookimpl(tryfirst=True)
    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        """Before anybody prints it or sends it on: it may be an agent's."""
        text = told(warning_message.message) if isinstance(warning_message.message, Warning) else ""
        clean = text
        for plan in self._plans:
            clean = github.harmless(plan.secrets.cleaned(clean))
        if clean != text:
            warning_message.message = UserWarning(clean)

    def pytest_unconfigure(self) -> None:
        for plan in self._plans:
            plan.close()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        module = item.parent
        if isinstance(module, BenchmarkModule) and module.plan.submission is not None:
            with evaluate.held_off():
                return (yield)
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fills ``agent`` and ``sample`` in without running the fixtures, which takes pytest longer."""
        module = item.parent
        if isinstance(module, BenchmarkModule) and module.fixtures_are_ours:
            assert isinstance(item, pytest.Function)
            sample = module.plan.samples(module.plan.asked_in(item.name))
            item.funcargs.update(agent=module.plan.agent, sample=sample)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        __tracebackhide__ = True
        module = pyfuncitem.parent
        if not isinstance(module, BenchmarkModule):
            return None
        ask(pyfuncitem, module.plan)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        module = item.parent
        if isinstance(module, BenchmarkModule):
            put_records_on(report, item, module.plan)
        return report


def _plan_of(item: pytest.Item) -> Plan | None:
    module = item.parent
    return module.plan if isinstance(module, BenchmarkModule) else None


def _module(name: str, plan: Plan) -> ModuleType:
    """A Python module with one function for each kind of sample."""
    module = ModuleType(name, plan.benchmark.description)
    for target in plan.targets:
        function = sample_function(plan, target)
        # Or pytest would leave it out as imported, with collect_imported_tests = false.
        function.__module__ = name
        setattr(module, target, function)
    return module


def _folders(root: Path, start: Path) -> list[Path]:
    """rootdir and the folders from it down to where pytest was started."""
    if root not in start.parents:
        return [root]
    return [root, *reversed([p for p in start.parents if root in p.parents]), start]
