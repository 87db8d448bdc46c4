"""The controller's hooks: log every record as it comes; at the end score each run and decide its gates."""

from __future__ import annotations

import functools
import os
import queue
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import pytest

from pytest_agentbench.plugin import answers_at_once, compat, gate_reports, junit
from pytest_agentbench.plugin.agent_in_force import agent_in_force
from pytest_agentbench.plugin.command_line import only_shows
from pytest_agentbench.plugin.item import failed_records
from pytest_agentbench.plugin.progress_line import ProgressLine
from pytest_agentbench.plugin.signals import Signals
from pytest_agentbench.reports import publish, summary
from pytest_agentbench.runs import manifest, run_folder
from pytest_agentbench.runs.collector import Collector, Place, Resuming
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.scores_file import Scores
from pytest_agentbench.scoring.compare import load_baseline

_INCOMPLETE = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
# Exit codes that become TESTS_FAILED where a gate fails; any other says worse already.
_RAISED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
# Seconds that workers have to report what they know when a session is cut short; after a signal, which
# SIGKILL may follow in 10 s (docker stop), fewer. Their answers are on disk already.
_LAST_REPORTS, _LAST_REPORTS_AFTER_SIGNAL = 5.0, 1.0
# Seconds in which answers without a report are checked and measured then. --resume does the rest.
_LAST_ANSWERS = 3.0


class Controller:
    """Hooks of the process that owns the terminal. xdist's workers do not register them."""

    def __init__(self, config: pytest.Config, plans: Sequence[Plan]) -> None:
        self._config = config
        started = time.strftime("%Y%m%d-%H%M%S")
        start = config.invocation_params
        place = Place(
            config.rootpath / run_folder.HOUSE,
            start.dir,
            [str(arg) for arg in start.args],
            writes=not only_shows(config),
        )
        self.collectors = [
            Collector(
                plan,
                agent_in_force(plan, config).as_json(),
                place,
                started,
                load_baseline(plan, place),
                _resuming(config),
            )
            for plan in plans
        ]
        for collector in self.collectors:
            answers_at_once.keep_here(collector)
        self._progress = ProgressLine(config)
        self._signals = Signals()
        self._session: pytest.Session | None = None
        self._stopped: str | None = None
        self._looped = self._completed = self._summed_up = False
        self.workers: set[Any] = set()  # xdist's, those that have not ended

    @property
    def exit_status(self) -> int:
        """The session's, as far as it is known."""
        return 0 if self._session is None else int(self._session.exitstatus)

    def pytest_report_header(self) -> list[str]:
        lines = [
            line for one in self.collectors for line in summary.header(one.plan, one.agent["name"])
        ]
        confined = {manifest.confinement_in_force(one.plan, one.agent) for one in self.collectors}
        lines += [note for one in self.collectors for note in one.plan.settings.notes]
        lines += [f"confinement: {means}" for means in confined if means is not None]
        notes = dict.fromkeys(one.plan.loaded_agent.note for one in self.collectors)
        return lines + [f"note: {note}" for note in notes if note is not None]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        self.workers.add(node)
        own = {one.plan.settings.nodeid: one for one in self.collectors}
        answers_at_once.hear(node, own)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        self._expect(ids)

    def _expect(self, nodeids: Iterable[str]) -> None:
        for nodeid in nodeids:
            for collector in self.collectors:
                collector.expected.update(collector.plan.questions_of(nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # Taken off the report: the terminal reporter keeps all reports until the end.
        carried = report.__dict__.pop("agentbench_records", None)
        if carried is None and report.when in ("setup", "call", "teardown"):
            return
        owners = (one for one in self.collectors if one.plan.questions_of(report.nodeid))
        collector = next(owners, None)
        if collector is None:
            return
        if carried is None:  # xdist's report of a dead worker
            name = report.nodeid[len(collector.plan.settings.nodeid) + 2 :]
            failed = failed_records(collector.plan, name, str(report.longrepr))
            # The worker may have died after its answers had come, with or without its report.
            collector.log_kept([(r.sample, r.epoch) for r in failed])
            carried = [r.to_parts() for r in failed if (r.sample, r.epoch) not in collector.came]
        records = [collector.add(fields, answer) for fields, answer in carried]
        if collector.unlogged:
            self.stop(f"records cannot be written: {collector.unlogged}")
        bad = next((record.status for record in records if record.status != "ok"), None)
        if bad is not None:
            report.agentbench_status = bad  # type: ignore[attr-defined]
        for record in records:
            self._config.hook.pytest_agentbench_record(
                record=record, settings=collector.plan.settings
            )
        overspent = collector.overspent()
        if overspent and collector.missing():
            self.stop(overspent)
        self._progress.show(collector.plan, collector.records.values(), len(collector.expected))

    def stop(self, reason: str) -> None:
        """Ends the session: pytest's, or the one of xdist that hands out the items."""
        self._stopped = reason
        distributed = compat.distributed_session(self._config)
        if distributed is not None:
            compat.stop(distributed, reason)
        elif self._session is not None:
            self._session.shouldstop = reason

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Notes whether the loop comes to its end: -x, Ctrl-C and pytest.exit cut it short."""
        option = self._config.option
        self._looped = not (option.collectonly or option.setupplan or option.setuponly)
        result = yield
        self._completed = True
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.workers.discard(node)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session
        self._signals.install(session)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        if report.failed:
            status = getattr(report, "agentbench_status", None)
            if status in ("invalid", "timeout"):
                return "failed", status[0].upper(), status.upper()
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._signals.finishing = True
        if not self._looped:
            return
        try:
            self._hear_workers_out()
            for collector in self.collectors:
                collector.log_kept(seconds=None if self._completed else _LAST_ANSWERS)
                collector.check_log()
            self._finish(session)
        except KeyboardInterrupt:  # a second Ctrl-C: no scores then
            session.exitstatus = pytest.ExitCode.INTERRUPTED

    def _hear_workers_out(self) -> None:
        """Logs what workers have reported or still report. xdist drops it when it is interrupted."""
        distributed = compat.distributed_session(self._config)
        if distributed is None:
            return
        for node in self.workers:
            compat.end_worker(node)
        seconds = _LAST_REPORTS_AFTER_SIGNAL if self._signals.received else _LAST_REPORTS
        deadline = time.monotonic() + seconds
        while self.workers:
            try:
                event, given = compat.next_event(distributed, deadline - time.monotonic())
            except queue.Empty:
                # They must not ask on while the run is scored. What they send until then is still heard.
                compat.end_all_workers(distributed, seconds=0.3)
                return
            except KeyboardInterrupt:  # a second Ctrl-C: only what is there already
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
                tell = functools.partial(self._tell, collector)
                to_mlflow = bool(self._config.getoption("agentbench_mlflow"))
                gates = publish.finish(collector, incomplete, tell, to_mlflow)
                failed += incomplete is not None
                gate_reports.report(session, collector.plan.settings.nodeid, gates)
                failed += sum(failure is not None for _, failure in gates)
            collector.log.close()
        problem = self._write_session()
        if problem is not None:
            gate_reports.report(session, "agentbench", [("files", problem)])
            failed += 1
        if failed and session.exitstatus in _RAISED:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _tell(self, collector: Collector, scores: Scores) -> None:
        """Gives the scores of a run to JUnit and to other plugins."""
        settings = collector.plan.settings
        junit.add_properties(self._config, scores, settings.nodeid)
        self._config.hook.pytest_agentbench_scores(
            scores=scores.as_json(), folder=collector.log.folder, settings=settings
        )

    def _write_session(self) -> str | None:
        """Writes ``--json`` and ``--csv``, which hold all runs; why it failed, or None."""
        base = self._config.invocation_params.dir
        given = (self._config.getoption(f"agentbench_{kind}") for kind in ("json", "csv"))
        paths = [None if path is None else base / path for path in given]
        return publish.write_session(self.collectors, *paths)

    def _incomplete(self, session: pytest.Session, collector: Collector) -> str | None:
        """Why the run was cut short, or None. Of a run that was, no gate is decided."""
        reason = collector.unlogged or self._stopped or session.shouldfail or session.shouldstop
        broken = collector.unlogged or session.exitstatus in _INCOMPLETE
        if broken or ((reason or not self._completed) and collector.missing()):
            reason = reason or pytest.ExitCode(session.exitstatus).name.lower()
            return f"the session was cut short ({reason})"
        return None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._summed_up = True
        brief = self._config.get_verbosity() < 0
        on_github = bool(os.environ.get("GITHUB_ACTIONS"))
        for collector in self.collectors:
            publish.show(terminalreporter, collector, brief, on_github)

    def pytest_unconfigure(self) -> None:
        self._signals.restore()
        for collector in self.collectors:
            untold = collector.scores is None or not self._summed_up
            if self._looped and collector.log.lost is not None:
                sys.stderr.write(f"agentbench: {collector.log.lost}\n")
            elif self._looped and collector.log.started and untold:
                sys.stderr.write(
                    f"agentbench: {collector.plan.settings.nodeid} was cut short; "
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
