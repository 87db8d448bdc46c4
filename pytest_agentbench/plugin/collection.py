"""From a data set to pytest items: real parametrised functions, fed by fixtures."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_agentbench.agents import captured
from pytest_agentbench.agents.prefetch import Ahead
from pytest_agentbench.plugin import compat
from pytest_agentbench.plugin.item import RECORDS, ask, put_records_on, sample_function
from pytest_agentbench.runs import evaluate
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.runs.record import Record

AHEAD = pytest.StashKey[Ahead[Question]]()


class BenchmarkModule(compat.MemoryModule):
    """A module that exists in memory only: one function for each kind of sample."""

    run: Plan
    selected: frozenset[str]  # names pasted by the user ("uid[80012]", "uid"); empty: all

    @classmethod
    def of(
        cls, run: Plan, parent: pytest.Collector, path: Path, selected: Iterable[str] = ()
    ) -> BenchmarkModule:
        nodeid = run.settings.nodeid
        module: BenchmarkModule = cls.make(parent, path=path, name=Path(nodeid).name, nodeid=nodeid)
        module.run = run
        module.selected = frozenset(selected)
        return module

    def make_module(self) -> ModuleType:
        module = ModuleType(f"agentbench_{self.name}", self.run.benchmark.description)
        for target in self.run.targets:
            function = sample_function(self.run, target)
            # Or pytest would leave it out as imported, with collect_imported_tests = false.
            function.__module__ = module.__name__
            setattr(module, target, function)
        return module

    @cached_property
    def fixtures_are_ours(self) -> bool:
        """Whether no conftest has an ``agent`` or a ``sample`` of its own, and nobody looks at fixtures."""
        option = self.config.option
        watched = option.setupshow or option.setuponly or option.setupplan
        return not watched and all(compat.is_defined_once(self, n) for n in ("agent", "sample"))

    def funcnamefilter(self, name: str) -> bool:
        return name in self.run.targets

    def classnamefilter(self, name: str) -> bool:
        return False

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        found = super().collect()
        if not self.selected:
            return found
        return [i for i in found if {i.name, i.name.partition("[")[0]} & self.selected]

    def ahead(self, item: pytest.Item) -> Ahead[Question]:
        """The questions that this process asks ahead of their turn, from its first item on."""
        if AHEAD not in self.stash:
            captured.install(compat.log_handlers(self.config))
            upcoming: Sequence[pytest.Item] = self.session.items
            worker = getattr(self.config, "workerinput", None)
            if worker is not None:
                from pytest_agentbench.plugin.asking_ahead import share

                upcoming = share(upcoming, worker["workerid"], worker["workercount"])
            # An item of a dead worker's share is nobody's own: it is asked in its turn.
            upcoming = upcoming[upcoming.index(item) :] if item in upcoming else []
            mine = (item for item in upcoming if item.getparent(BenchmarkModule) is self)
            questions = (question for item in mine for question in self.run.items[item.name])
            self.stash[AHEAD] = self.run.ask_ahead(questions)
        return self.stash[AHEAD]


class InvocationDirectory(pytest.Directory):
    """A folder from rootdir down to where pytest was started, so that conftests there apply."""

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
        if self.below:
            return [InvocationDirectory.make(self, self.below[0], self.below[1:], self.modules)]
        # rootdir as their path: --lf skips files whose path has no failures, and every failure of
        # ours lies below rootdir.
        root = self.config.rootpath
        return [BenchmarkModule.of(run, self, root, names) for run, names in self.modules]


class Collection:
    """Puts the samples among the session's items and their records on the reports."""

    def __init__(
        self, named: Sequence[tuple[Plan, frozenset[str]]], scenarios: dict[Path, Plan]
    ) -> None:
        self._named = named  # asked for with --benchmark or by a node id
        self._scenarios = scenarios  # scenario files given as paths

    def _runs(self) -> Iterator[Plan]:
        yield from (run for run, _ in self._named)
        yield from self._scenarios.values()

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
        run = self._scenarios.get(file_path)
        return None if run is None else BenchmarkModule.of(run, parent, file_path)

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leaves out what --resume-failed-only does not ask."""

        if not any(run.unasked for run in self._runs()):
            return

        def is_left_out(item: pytest.Item) -> bool:
            module = item.getparent(BenchmarkModule)
            return module is not None and module.run.unasked.issuperset(module.run.items[item.name])

        left_out = [item for item in items if is_left_out(item)]
        if left_out:
            items[:] = [item for item in items if not is_left_out(item)]
            config.hook.pytest_deselected(items=left_out)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Where questions are asked ahead, every worker must know its share of the items."""
        if all(run.settings.concurrency == 1 for run in self._runs()):
            return None
        from pytest_agentbench.plugin.scheduler import SharedOut

        return SharedOut(config, log)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Stops asking ahead, and saves the answers of items that had no turn to report them."""
        controller = session.config.pluginmanager.getplugin("agentbench-controller")
        saved: dict[str, list[tuple[str, str]]] = {}
        for run, module in _modules(session):
            nodeid = run.settings.nodeid
            for record in _unreported(session, run, module):
                if controller is not None:  # at once: a second Ctrl-C may come any time
                    controller.save({nodeid: [record.to_parts()]})
                else:
                    saved.setdefault(nodeid, []).append(record.to_parts())
        if controller is None:
            session.config.workeroutput["agentbench_saved"] = json.dumps(saved)  # type: ignore[attr-defined]

    def pytest_unconfigure(self) -> None:
        for run in self._runs():
            run.close()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        module = item.parent
        if isinstance(module, BenchmarkModule) and module.run.submission is not None:
            with evaluate.held_off():
                return (yield)
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Gives an item what its fixtures would, without the work that fixtures are to pytest."""
        module = item.parent
        if isinstance(module, BenchmarkModule) and module.fixtures_are_ours:
            assert isinstance(item, pytest.Function)
            questions = module.run.items[item.name]
            indices = [question.sample for question in questions]
            asked = indices[0] if module.run.chunk == 1 else indices
            item.funcargs.update(agent=module.run.agent, sample=module.run.samples(asked))

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        __tracebackhide__ = True
        module = pyfuncitem.parent
        if not isinstance(module, BenchmarkModule):
            return None
        ask(pyfuncitem, module.run, module.ahead)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        module = item.parent
        if isinstance(module, BenchmarkModule):
            asked_ahead = AHEAD in module.stash
            put_records_on(report, item, module.run, asked_ahead)
            if asked_ahead and call.when == "teardown" and hasattr(item.config, "workerinput"):
                from pytest_agentbench.plugin.asking_ahead import is_called_off

                if is_called_off(item.config):  # its whole share queued, it would look only then
                    item.session.shouldstop = "the session has ended"
        return report


def _unreported(session: pytest.Session, run: Plan, module: BenchmarkModule) -> Iterator[Record]:
    """The records of items that ended without a report, and of answers that came before their turn."""
    for item in session.items:
        if item.parent is module:
            yield from item.stash.get(RECORDS, ())
    if AHEAD in module.stash:
        module.stash[AHEAD].stop()
        yield from run.records_of(module.stash[AHEAD].finished())


def _modules(session: pytest.Session) -> list[tuple[Plan, BenchmarkModule]]:
    modules = (item.getparent(BenchmarkModule) for item in session.items)
    return [(module.run, module) for module in dict.fromkeys(modules) if module is not None]


def parametrize(metafunc: pytest.Metafunc, run: Plan) -> None:
    """Feeds ``sample`` with the run's samples: those of one kind in our functions, all in a user's."""
    keys = run.dataset.keys
    if metafunc.definition.getparent(BenchmarkModule) is None:
        several = len(run.targets) > 1
        ids = [str(keys[index]) if several else keys[index].id for index in run.indices]
        metafunc.parametrize("sample", run.indices, ids=ids, indirect=True)
    else:
        target = f"{metafunc.function.__name__}["
        own = {name: found for name, found in run.items.items() if name.startswith(target)}
        ids = [name[len(target) : -1] for name in own]
        indices = [[question.sample for question in questions] for questions in own.values()]
        params = [found[0] for found in indices] if run.chunk == 1 else indices
        metafunc.parametrize("sample", params, ids=ids, indirect=True)


def _folders(root: Path, start: Path) -> list[Path]:
    """rootdir and the folders from it down to where pytest was started."""
    if root not in start.parents:
        return [root]
    return [root, *reversed([p for p in start.parents if root in p.parents]), start]
