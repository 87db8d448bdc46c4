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

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin import compat, hosts, junit, progress_line
from pytest_agentbench.plugin.agent_in_force import agent_in_force
from pytest_agentbench.plugin.item import failed_records
from pytest_agentbench.reports import mlflow, publish, summary, tables
from pytest_agentbench.reports.github import github_errors
from pytest_agentbench.runs import manifest, run_folder
from pytest_agentbench.runs.collector import Collector, Place, Resuming
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.scores_file import Scores
from pytest_agentbench.scoring.compare import load_baseline

_INCOMPLETE = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
_LAST_REPORTS = 5.0  # seconds for workers to report what they know, in a session cut short


class Controller:
    """Hooks of the process that owns the terminal; xdist's workers do not have it."""

    def __init__(self, config: pytest.Config, runs: Sequence[Plan]) -> None:
        self._config = config
        started = time.strftime("%Y%m%d-%H%M%S")
        start = config.invocation_params
        place = Place(
            config.rootpath / run_folder.HOUSE, start.dir, [str(arg) for arg in start.args]
        )
        self.runs = [
            Collector(
                run,
                agent_in_force(run, config),
                place,
                started,
                load_baseline(run, place),
                _resuming(config),
            )
            for run in runs
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
        lines = [summary.header(live.run, live.agent["name"]) for live in self.runs]
        confined = {manifest.confinement_in_force(live.run, live.agent) for live in self.runs}
        return lines + [f"confinement: {means}" for means in confined if means is not None]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        self.workers.add(node)
        node.workerinput["agentbench_resume"] = hosts.to_worker([live.run for live in self.runs])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        self._expect(ids)

    def _expect(self, nodeids: Iterable[str]) -> None:
        for nodeid in nodeids:
            for live in self.runs:
                live.expected.update(live.run.questions_of(nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # Taken off, or the terminal reporter would keep every answer in memory.
        carried = report.__dict__.pop("agentbench_records", None)
        if carried is None and report.when in ("setup", "call", "teardown"):
            return
        live = next((live for live in self.runs if live.run.questions_of(report.nodeid)), None)
        if live is None:
            return
        if carried is None:  # xdist's report of a dead worker
            name = report.nodeid[len(live.run.settings.nodeid) + 2 :]
            failed = failed_records(live.run, name, str(report.longrepr))
            # It may have died after its answer was sent and before it could say that it was done.
            carried = [r.to_parts() for r in failed if (r.sample, r.epoch) not in live.came]
        records = [live.add(fields, answer) for fields, answer in carried]
        if live.unlogged:
            self.stop(f"records cannot be written: {live.unlogged}")
        bad = next((record.status for record in records if record.status != "ok"), None)
        if bad is not None:
            report.agentbench_status = bad  # type: ignore[attr-defined]
        for record in records:
            self._config.hook.pytest_agentbench_record(record=record, settings=live.run.settings)
        overspent = live.overspent()
        if overspent and live.missing():
            self.stop(overspent)
        self._progress.show(live.run, live.records.values(), len(live.expected), self._terminal)

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
        for live in self.runs:
            for fields, answer in saved.get(live.run.settings.nodeid, ()):
                live.add(fields, answer)

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
        for live in self.runs:
            if live.expected:
                incomplete = self._incomplete(session, live)
                tell = functools.partial(tell_scores, live, self._config)
                gates = publish.finish(live, incomplete, tell)
                failed += incomplete is not None
                self._emit(session, live.run.settings.nodeid, gates)
                failed += sum(failure is not None for _, failure in gates)
            live.log.close()
        problem = publish_session(self.runs, self._config)
        if problem is not None:
            self._emit(session, "agentbench", [("files", problem)])
            failed += 1
        if failed and session.exitstatus in (
            pytest.ExitCode.OK,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _incomplete(self, session: pytest.Session, live: Collector) -> str | None:
        """Why the run was cut short, if it was: then no gate is decided."""
        reason = live.unlogged or self._stopped or session.shouldfail or session.shouldstop
        interrupted = session.exitstatus in _INCOMPLETE
        if live.unlogged or interrupted or ((reason or not self._completed) and live.missing()):
            reason = reason or pytest.ExitCode(session.exitstatus).name.lower()
            return f"the session was cut short ({reason})"
        return None

    def _emit(
        self, session: pytest.Session, nodeid: str, reports: Sequence[tuple[str, str | None]]
    ) -> None:
        """Gates as test reports of their own, so that summary, JUnit and exit code agree."""
        if not reports:
            return
        if self._terminal is not None and self._terminal.verbosity <= 0:
            self._terminal.ensure_newline()
            if not compat.shows_paths(self._terminal):
                self._terminal.write_line("")
        compat.count_more_tests(session, len(reports))
        hook = session.config.hook
        for name, failure in reports:
            location = (nodeid, 0, name)
            full = f"{nodeid}::{name}"
            hook.pytest_runtest_logstart(nodeid=full, location=location)
            for when in ("setup", "call", "teardown"):
                failing = failure is not None and when == "call"
                now = time.time()
                report = pytest.TestReport(
                    full, location, {}, "failed" if failing else "passed",
                    _failure(str(failure)) if failing else None, when,
                    start=now, stop=now,
                )  # fmt: skip
                hook.pytest_runtest_logreport(report=report)
            hook.pytest_runtest_logfinish(nodeid=full, location=location)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._told = True
        for live in self.runs:
            if live.scores is not None:
                folder = live.log.folder if (live.log.folder / run_folder.SCORES).exists() else None
                brief = self._config.get_verbosity() < 0
                summary.summary(terminalreporter, live.run, live.scores, folder, brief)
                if os.environ.get("GITHUB_ACTIONS"):
                    for line in github_errors(live.scores, live.run.settings.nodeid):
                        terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        for live in self.runs:
            if self._looped and live.log.started and (live.scores is None or not self._told):
                sys.stderr.write(
                    f"agentbench: {live.run.settings.nodeid} was cut short; "
                    f"{len(live.records)} records are in {live.log.folder}: go on with "
                    f"--resume={live.log.folder}\n"
                )
            live.log.close()


def _resuming(config: pytest.Config) -> Resuming | None:
    name = config.getoption("agentbench_resume")
    if name is None:
        return None
    return Resuming(
        name,
        anyway=bool(config.getoption("agentbench_resume_anyway")),
        failed_only=bool(config.getoption("agentbench_resume_failed_only")),
    )


def _failure(message: str) -> Any:
    """A failure as pytest makes it, so that short summaries carry the message, too."""
    try:
        pytest.fail(message, pytrace=False)
    except pytest.fail.Exception:
        return pytest.ExceptionInfo.from_current().getrepr(style="value")


def tell_scores(live: Collector, config: pytest.Config, result: Scores) -> None:
    """Tells the scores to what else takes part in the session."""
    folder, settings = live.log.folder, live.run.settings
    junit.add_properties(config, result, settings.nodeid)
    if config.getoption("agentbench_mlflow"):
        mlflow.log_run(result, folder)
    config.hook.pytest_agentbench_scores(scores=result.as_json(), folder=folder, settings=settings)


def publish_session(runs: Sequence[Collector], config: pytest.Config) -> str | None:
    """The files that hold all runs of the session; what went wrong, if anything did."""
    scored = [(live.scores, live) for live in runs if live.scores is not None]
    base = config.invocation_params.dir
    json_path, csv_path = (config.getoption(f"agentbench_{kind}") for kind in ("json", "csv"))
    try:
        if json_path is not None:
            tables.write_json(base / json_path, [result for result, _ in scored])
        if csv_path is not None:
            tables.write_csv(base / csv_path, [(r, live.logged()) for r, live in scored])
    except (OSError, BenchmarkError) as error:
        return str(error)
    return None
