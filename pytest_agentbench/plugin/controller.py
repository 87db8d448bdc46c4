"""The controller's side: every record is logged as it comes; at the end runs are scored and gated."""

from __future__ import annotations

import functools
import json
import os
import queue
import sys
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import pytest

from pytest_agentbench.plugin import compat, gate_reports, junit, progress_line
from pytest_agentbench.plugin.agent_in_force import agent_in_force
from pytest_agentbench.plugin.item import failed_records
from pytest_agentbench.reports import publish, summary
from pytest_agentbench.runs import manifest, run_folder
from pytest_agentbench.runs.collector import Collector, Place, Resuming
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.scores_file import Scores
from pytest_agentbench.scoring.compare import load_baseline

_INCOMPLETE = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
_LAST_REPORTS = 5.0  # seconds for workers to report what they know, in a session cut short


class Controller:
    """Hooks of the process that owns the terminal; xdist's workers do not have it."""

    def __init__(self, config: pytest.Config, plans: Sequence[Plan]) -> None:
        self._config = config
        started = time.strftime("%Y%m%d-%H%M%S")
        start = config.invocation_params
        place = Place(
            config.rootpath / run_folder.HOUSE, start.dir, [str(arg) for arg in start.args]
        )
        self.collectors = [
            Collector(
                plan,
                agent_in_force(plan, config),
                place,
                started,
                load_baseline(plan, place),
                _resuming(config),
            )
            for plan in plans
        ]
        self._progress = progress_line.Progress(config)
        self._session: pytest.Session | None = None
        self._stopped: str | None = None
        self._looped = self._completed = self._told = False
        self.workers: set[Any] = set()  # xdist's, those that have not ended

    @property
    def _terminal(self) -> pytest.TerminalReporter | None:
        reporter: pytest.TerminalReporter | None = self._config.pluginmanager.getplugin(
            "terminalreporter"
        )
        return reporter

    def pytest_report_header(self) -> list[str]:
        lines = [
            summary.header(collector.run, collector.agent["name"]) for collector in self.collectors
        ]
        confined = {
            manifest.confinement_in_force(collector.run, collector.agent)
            for collector in self.collectors
        }
        return lines + [f"confinement: {means}" for means in confined if means is not None]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        self.workers.add(node)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        self._expect(ids)

    def _expect(self, nodeids: Iterable[str]) -> None:
        for nodeid in nodeids:
            for collector in self.collectors:
                collector.expected.update(collector.run.questions_of(nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # Taken off, or the terminal reporter would keep every answer in memory.
        carried = report.__dict__.pop("agentbench_records", None)
        if carried is None and report.when in ("setup", "call", "teardown"):
            return
        collector = next(
            (
                collector
                for collector in self.collectors
                if collector.run.questions_of(report.nodeid)
            ),
            None,
        )
        if collector is None:
            return
        if carried is None:  # xdist's report of a dead worker
            name = report.nodeid[len(collector.run.settings.nodeid) + 2 :]
            failed = failed_records(collector.run, name, str(report.longrepr))
            # It may have died after its answer was sent and before it could say that it was done.
            carried = [r.to_parts() for r in failed if (r.sample, r.epoch) not in collector.came]
        records = [collector.add(fields, answer) for fields, answer in carried]
        if collector.unlogged:
            self.stop(f"records cannot be written: {collector.unlogged}")
        bad = next((record.status for record in records if record.status != "ok"), None)
        if bad is not None:
            report.agentbench_status = bad  # type: ignore[attr-defined]
        for record in records:
            self._config.hook.pytest_agentbench_record(
                record=record, settings=collector.run.settings
            )
        overspent = collector.overspent()
        if overspent and collector.missing():
            self.stop(overspent)
        self._progress.show(
            collector.run, collector.records.values(), len(collector.expected), self._terminal
        )

    def stop(self, reason: str) -> None:
        """Ends the session; under xdist the scheduler's session is another object."""
        self._stopped = reason
        distributed = compat.distributed_session(self._config)
        if distributed is not None:
            compat.stop(distributed, reason)
        elif self._session is not None:
            self._session.shouldstop = reason

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """A loop that does not come to its end (-x, Ctrl-C, pytest.exit) leaves the run incomplete."""
        option = self._config.option
        self._looped = not (option.collectonly or option.setupplan or option.setuponly)
        result = yield
        self._completed = True
        return result

    def save(self, saved: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Logs records that had no report to ride on."""
        for collector in self.collectors:
            for fields, answer in saved.get(collector.run.settings.nodeid, ()):
                collector.add(fields, answer)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.workers.discard(node)
        saved = getattr(node, "workeroutput", {}).get("agentbench_saved")
        if saved is not None:
            self.save(json.loads(saved))

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        if report.failed:
            status = getattr(report, "agentbench_status", None)
            if status in ("invalid", "timeout"):
                return "failed", status[0].upper(), status.upper()
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not self._looped:
            return
        try:
            self._hear_workers_out()
            self._finish(session)
        except KeyboardInterrupt:  # once more: then without scores
            session.exitstatus = pytest.ExitCode.INTERRUPTED

    def _hear_workers_out(self) -> None:
        """Takes what workers have reported or still report: xdist leaves it when it is interrupted."""
        distributed = compat.distributed_session(self._config)
        if distributed is None:
            return
        for node in self.workers:
            node.shutdown()
        deadline = time.monotonic() + _LAST_REPORTS
        while self.workers:
            try:
                event, given = compat.next_event(distributed, deadline - time.monotonic())
            except queue.Empty:
                return
            except KeyboardInterrupt:  # once more: then only what is there already
                deadline = 0.0
                continue
            if event == "testreport":
                compat.deliver_report(distributed, given)
            elif event in ("workerfinished", "errordown"):
                self.pytest_testnodedown(given["node"])

    def _finish(self, session: pytest.Session) -> None:
        failed = 0
        for collector in self.collectors:
            if collector.expected:
                incomplete = self._incomplete(session, collector)
                tell = functools.partial(tell_scores, collector, self._config)
                to_mlflow = bool(self._config.getoption("agentbench_mlflow"))
                gates = publish.finish(collector, incomplete, tell, to_mlflow)
                failed += incomplete is not None
                gate_reports.report(session, collector.run.settings.nodeid, gates)
                failed += sum(failure is not None for _, failure in gates)
            collector.log.close()
        problem = self._write_session()
        if problem is not None:
            gate_reports.report(session, "agentbench", [("files", problem)])
            failed += 1
        if failed and session.exitstatus in (
            pytest.ExitCode.OK,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _write_session(self) -> str | None:
        base = self._config.invocation_params.dir
        given = (self._config.getoption(f"agentbench_{kind}") for kind in ("json", "csv"))
        paths = [None if path is None else base / path for path in given]
        return publish.write_session(self.collectors, *paths)

    def _incomplete(self, session: pytest.Session, collector: Collector) -> str | None:
        """Why the run was cut short, if it was: then no gate is decided."""
        reason = collector.unlogged or self._stopped or session.shouldfail or session.shouldstop
        interrupted = session.exitstatus in _INCOMPLETE
        if (
            collector.unlogged
            or interrupted
            or ((reason or not self._completed) and collector.missing())
        ):
            reason = reason or pytest.ExitCode(session.exitstatus).name.lower()
            return f"the session was cut short ({reason})"
        return None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._told = True
        for collector in self.collectors:
            brief = self._config.get_verbosity() < 0
            on_github = bool(os.environ.get("GITHUB_ACTIONS"))
            publish.show(terminalreporter, collector, brief, on_github)

    def pytest_unconfigure(self) -> None:
        for collector in self.collectors:
            if (
                self._looped
                and collector.log.started
                and (collector.scores is None or not self._told)
            ):
                sys.stderr.write(
                    f"agentbench: {collector.run.settings.nodeid} was cut short; "
                    f"{len(collector.records)} records are in {collector.log.folder}: go on with "
                    f"--resume={collector.log.folder}\n"
                )
            collector.log.close()


def _resuming(config: pytest.Config) -> Resuming | None:
    name = config.getoption("agentbench_resume")
    if name is None:
        return None
    return Resuming(
        name,
        anyway=bool(config.getoption("agentbench_resume_anyway")),
        failed_only=bool(config.getoption("agentbench_resume_failed_only")),
    )


def tell_scores(collector: Collector, config: pytest.Config, result: Scores) -> None:
    """Tells the scores to what else takes part in the session."""
    folder, settings = collector.log.folder, collector.run.settings
    junit.add_properties(config, result, settings.nodeid)
    config.hook.pytest_agentbench_scores(scores=result.as_json(), folder=folder, settings=settings)
