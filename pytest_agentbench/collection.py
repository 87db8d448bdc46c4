"""From a data set to pytest items: real parametrised functions, fed by fixtures."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_agentbench.agents import output
from pytest_agentbench.agents.ahead import Ahead
from pytest_agentbench.agents.asking import Outcome
from pytest_agentbench.benchmarks.protocol import Sample
from pytest_agentbench.evaluation import evaluate
from pytest_agentbench.records import Record
from pytest_agentbench.run import Question, Run

RECORDS = pytest.StashKey[list[Record]]()
AHEAD = pytest.StashKey[Ahead[Question]]()
_LONGEST_OUTPUT = 10_000  # characters of each kind kept with a record


class BenchmarkModule(pytest.Module):
    """A module that exists in memory only: one function for each kind of sample."""

    run: Run
    selected: frozenset[str]  # names pasted by the user ("uid[80012]", "uid"); empty: all

    @classmethod
    def make(
        cls, parent: pytest.Collector, path: Path, run: Run, selected: Iterable[str] = ()
    ) -> BenchmarkModule:
        nodeid = run.settings.nodeid
        module: BenchmarkModule = cls.from_parent(
            parent, path=path, name=Path(nodeid).name, nodeid=nodeid
        )
        module.run = run
        module.selected = frozenset(selected)
        return module

    def _getobj(self) -> ModuleType:
        module = ModuleType(f"agentbench_{self.name}", self.run.benchmark.description)
        for target in self.run.targets:
            setattr(module, target, _sample_function(self.run, target, module.__name__))
        return module

    def funcnamefilter(self, name: str) -> bool:
        return name in self.run.targets

    def classnamefilter(self, name: str) -> bool:
        return False

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        items = super().collect()
        if not self.selected:
            return items
        return [i for i in items if {i.name, i.name.partition("[")[0]} & self.selected]


def _sample_function(run: Run, target: str, module: str) -> Any:
    def ask(request: pytest.FixtureRequest, agent: Any, sample: Any) -> None:
        __tracebackhide__ = True
        samples = sample if isinstance(sample, list) else [sample]
        questions = run.items[request.node.name]
        asked = {
            s.key: question
            for s, question in zip(samples, questions, strict=True)
            if question not in run.answered
        }
        ahead = _asked_ahead(request.node, run, agent)
        direct = run.asker(agent)

        def outcome_of(sample: Sample) -> Outcome:
            outcome = direct(sample) if ahead is None else ahead.take(asked[sample.key])
            if outcome.printed is not None:
                outcome.printed.replay()
            return outcome

        open_samples = [s for s in samples if s.key in asked]
        records, error = evaluate(run.benchmark, open_samples, outcome_of, questions[0].epoch)
        request.node.stash[RECORDS] = records
        if error is not None:
            raise error
        failed = [record for record in records if record.status != "ok"]
        if failed:
            _fail(_failures(failed, len(records)))

    ask.__name__ = ask.__qualname__ = target
    ask.__module__ = module
    return pytest.mark.agentbench(run.benchmark.name)(ask)


def _asked_ahead(node: Any, run: Run, agent: Any) -> Ahead[Question] | None:
    """The questions that this process asks ahead of their turn, from the first item of the run on."""
    if run.settings.concurrency == 1 or run.submission is not None or agent is not run.agent:
        return None  # a conftest's own agent is known only in its turn
    module = node.getparent(BenchmarkModule)
    if AHEAD not in module.stash:
        logging_plugin = node.config.pluginmanager.get_plugin("logging-plugin")
        names = ("caplog_handler", "report_handler", "log_cli_handler", "log_file_handler")
        handlers = [getattr(logging_plugin, name, None) for name in names]
        output.install([handler for handler in handlers if handler is not None])
        items: Sequence[pytest.Item] = node.session.items
        worker = getattr(node.config, "workerinput", None)
        if worker is not None:
            from pytest_agentbench.sharing import share

            items = share(items, worker["workerid"], worker["workercount"])
        upcoming = items[items.index(node) :] if node in items else [node]
        mine = (item for item in upcoming if item.getparent(BenchmarkModule) is module)
        module.stash[AHEAD] = run.ask_ahead(q for item in mine for q in run.items[item.name])
    ahead: Ahead[Question] = module.stash[AHEAD]
    return ahead


def _failures(failed: Sequence[Record], asked: int) -> str:
    lines = [f"{record.sample}: {record.error}" for record in failed[:10]]
    if asked > 1:
        lines.insert(0, f"{len(failed)} of {asked} samples have no valid answer")
    return "\n".join(lines + (["..."] if len(failed) > 10 else []))


def _fail(message: str) -> None:
    # A frame that is not hidden: without any, pytest explains how to show the hidden ones.
    pytest.fail(message, pytrace=False)


class InvocationDirectory(pytest.Directory):
    """A folder from rootdir down to where pytest was started, so that conftests there apply."""

    below: Sequence[Path]
    modules: Sequence[tuple[Run, frozenset[str]]]

    @classmethod
    def make(
        cls,
        parent: pytest.Collector,
        path: Path,
        below: Sequence[Path],
        modules: Sequence[tuple[Run, frozenset[str]]],
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
        return [BenchmarkModule.make(self, root, run, names) for run, names in self.modules]


class Collection:
    """Puts the samples among the session's items and their records on the reports."""

    def __init__(
        self, named: Sequence[tuple[Run, frozenset[str]]], scenarios: dict[Path, Run]
    ) -> None:
        self._named = named  # asked for with --benchmark or by a node id
        self._scenarios = scenarios  # scenario files given as paths

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
        return None if run is None else BenchmarkModule.make(parent, file_path, run)

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leaves out what --resume-failed-only does not ask."""
        left_out = []
        for item in items:
            module = item.getparent(BenchmarkModule)
            if module is not None and module.run.unasked.issuperset(module.run.items[item.name]):
                left_out.append(item)
        if left_out:
            items[:] = [item for item in items if item not in set(left_out)]
            config.hook.pytest_deselected(items=left_out)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Where questions are asked ahead, every worker must know its share of the items."""
        runs = [run for run, _ in self._named] + list(self._scenarios.values())
        if all(run.settings.concurrency == 1 for run in runs):
            return None
        from pytest_agentbench.sharing import SharedOut

        return SharedOut(config, log)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        for item in session.items:
            module = item.getparent(BenchmarkModule)
            if module is not None and AHEAD in module.stash:
                module.stash[AHEAD].stop()

    def pytest_unconfigure(self) -> None:
        for run in [run for run, _ in self._named] + list(self._scenarios.values()):
            run.close()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        module = item.getparent(BenchmarkModule)
        if module is None:
            return report
        if report.when == "call" or (report.when == "setup" and not report.passed):
            records = item.stash.get(RECORDS, None)
            if records is None or report.when == "setup":
                records = _unanswered(module.run, item.name, report)
            elif len(records) == 1:
                records = [_with_evidence(records[0], report)]
                if AHEAD in module.stash:
                    report.duration = records[0].seconds  # not the wait for its turn
            # One string of ASCII: xdist carries nothing but builtins, and a record may hold anything.
            report.agentbench_records = "\n".join(r.to_json() for r in records)  # type: ignore[attr-defined]
        _make_encodable(report)
        return report


def _make_encodable(report: pytest.TestReport) -> None:
    """Escapes lone surrogates in what an agent raised or printed: one of them ends an xdist session."""
    if report.passed and not report.sections:
        return
    text = report.longreprtext
    if text != _escaped(text):
        report.longrepr = _escaped(text)
    report.sections = [(name, _escaped(content)) for name, content in report.sections]


def _escaped(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def parametrize(metafunc: pytest.Metafunc, run: Run) -> None:
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
        params = [found[0] for found in indices] if run.settings.chunk == 1 else indices
        metafunc.parametrize("sample", params, ids=ids, indirect=True)


def _unanswered(run: Run, name: str, report: pytest.TestReport) -> list[Record]:
    """The records of what something other than the agent ended: a fixture, a skip, a plugin."""
    if isinstance(report.longrepr, tuple):
        reason = str(report.longrepr[2])
    else:
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = str(getattr(crash, "message", "") or report.longreprtext or report.outcome)
    return failed_records(run, name, reason)


def _with_evidence(record: Record, report: pytest.TestReport) -> Record:
    """The record with what the agent printed and logged, as pytest captured it."""
    captured = {
        kind: text
        if len(text) <= _LONGEST_OUTPUT
        else f"{text[:_LONGEST_OUTPUT]}… ({len(text)} characters)"
        for kind, text in (
            ("stdout", report.capstdout),
            ("stderr", report.capstderr),
            ("log", report.caplog),
        )
        if text
    }
    return replace(record, evidence={**record.evidence, **captured}) if captured else record


def failed_records(run: Run, name: str, reason: str) -> list[Record]:
    """Records of all samples of an item that left none."""
    return [
        Record(
            run.benchmark.name, str(run.dataset.keys[question.sample]), "error",
            epoch=question.epoch, error=reason,
        )
        for question in run.items[name]
        if question not in run.answered
    ]  # fmt: skip


def _folders(root: Path, start: Path) -> list[Path]:
    """rootdir and the folders from it down to where pytest was started."""
    if root not in start.parents:
        return [root]
    return [root, *reversed([p for p in start.parents if root in p.parents]), start]
