"""The controller's hooks: log every record as it comes; at the end score each run and decide its gates."""

from __future__ import annotations

import functools
import os
import queue
import sys
import time
from collections.abc import Generator
from typing import Any

import pytest

from pytest_agentbench.plugin import (
    answers_at_once,
    compat,
    failures,
    gate_reports,
    junit,
    messages,
    testmon,
)
from pytest_agentbench.plugin.agent_in_force import agent_in_force
from pytest_agentbench.plugin.asked import asked
from pytest_agentbench.plugin.command_line import only_shows
from pytest_agentbench.plugin.item import failed_records
from pytest_agentbench.plugin.progress_line import ProgressLine
from pytest_agentbench.plugin.rootdir import house
from pytest_agentbench.plugin.signals import Signals
from pytest_agentbench.reports import publish, summary
from pytest_agentbench.runs import manifest
from pytest_agentbench.runs.collector import Carried, Collector, Place, Resuming
from pytest_agentbench.runs.plan import Plan, Question
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

_STATUSES = "agentbench-statuses"


class Controller:
    """Hooks of the process that owns the terminal. xdist's workers do not register them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._started = time.strftime("%Y%m%d-%H%M%S")
        self.collectors: dict[str, Collector] = {}  # by node id of the run
        # By node id of the item.
        self._asked: dict[str, tuple[Collector, tuple[Question, ...]]] = {}
        option = config.option
        self._debugs = bool(option.usepdb or option.trace)
        self._asks = not (option.collectonly or option.setupplan or option.setuponly)
        self._gates: dict[str, list[publish.Gate]] = {}  # of each run, those to be reported
        self._counted = 0  # gates that the session counts among its tests
        self._progress = ProgressLine(config)
        self._signals = Signals()
        self._session: pytest.Session | None = None
        self._stopped: str | None = None
        self._completed = self._finished = self._summed_up = False
        # xdist's, those that have not ended
        self.workers = config.stash.setdefault(messages.WORKERS, set())
        messages.handle(config, "answer", self._keep_answer)

    def add(self, plan: Plan) -> None:
        """Begins to collect the records of a run."""
        start = self._config.invocation_params
        place = Place(
            house(self._config),
            start.dir,
            [str(arg) for arg in start.args],
            writes=not only_shows(self._config),
        )
        collector = Collector(
            plan,
            agent_in_force(plan, self._config).as_json(),
            place,
            self._started,
            load_baseline(plan, place),
            _resuming(self._config),
        )
        answers_at_once.keep_here(collector)
        self.collectors[plan.settings.nodeid] = collector

    def _keep_answer(
        self, run: str, sample: str, epoch: int, line: str, worker: str, in_flight: int
    ) -> None:
        self.collectors[run].keep_line(sample, epoch, line)
        self._progress.heard(worker, run, in_flight)

    @property
    def _looped(self) -> bool:
        """Whether samples have been asked, or would have been if nobody had interrupted that."""
        return self._asks and messages.LOOPING in self._config.stash

    @property
    def exit_status(self) -> int:
        """The session's, as far as it is known."""
        if self._session is None:
            return int(pytest.ExitCode.USAGE_ERROR)
        return int(self._session.exitstatus)

    def pytest_report_header(self) -> list[str]:
        runs = self.collectors.values()
        lines = [line for one in runs for line in summary.header(one.plan, one.agent["name"])]
        confined = {manifest.confinement_in_force(one.plan, one.agent) for one in runs}
        lines += [note for one in runs for note in one.plan.settings.notes]
        lines += [f"confinement: {means}" for means in confined if means is not None]
        notes = dict.fromkeys(one.plan.loaded_agent.note for one in runs)
        return lines + [f"note: {note}" for note in notes if note is not None]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            own = asked(item)
            if own is not None:
                self.expect(item.nodeid, own.run, own.questions)

    def expect(self, nodeid: str, run: str, questions: tuple[Question, ...]) -> None:
        """Notes that an item will be run, and what it asks."""
        collector = self.collectors[run]
        self._asked[nodeid] = collector, questions
        collector.expected.update(questions)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        testmon.forget(report, self._asked)
        # Taken off the report: the terminal reporter keeps all reports until the end.
        carried = report.__dict__.pop("agentbench_records", None)
        if carried is not None:
            collector = self.collectors[report.__dict__.pop("agentbench_run")]
        elif report.when in ("setup", "call", "teardown") or report.nodeid not in self._asked:
            return
        else:  # xdist's report of a dead worker
            collector, questions = self._asked[report.nodeid]
            failed = failed_records(collector.plan, questions, str(report.longrepr))
            # The worker may have died after its answers had come, with or without its report.
            collector.log_kept([(r.sample, r.epoch) for r in failed])
            new = [r for r in failed if (r.sample, r.epoch) not in collector.came]
            carried = list(map(Carried.of, new))
        records = collector.add_all([Carried(*one) for one in carried])
        if collector.unlogged:
            self.stop(f"records cannot be written: {collector.unlogged}")
        failures.mark(report, collector.plan.settings.nodeid, records)
        bad = next((record.status for record in records if record.status != "ok"), None)
        if bad is not None:
            report.agentbench_status = bad  # type: ignore[attr-defined]
            if not self._config.pluginmanager.has_plugin(_STATUSES):  # else each report pays for it
                self._config.pluginmanager.register(Statuses(), _STATUSES)
        told = self._config.hook.pytest_agentbench_record
        for record in records if told.get_hookimpls() else ():
            told(record=record, settings=collector.plan.settings)
        reason = collector.overspent() or (None if self._debugs else collector.failing_alike())
        if reason and collector.missing():
            self.stop(reason)
        self._progress.show(collector, records[-1] if records else None)

    def cut_short(self, said: str, returncode: int | None) -> int | None:
        """Somebody calls pytest.exit(). The session does not pass then; returns what it returns."""
        self._stopped = f"pytest.exit: {said}"
        passes = self._asks and returncode == pytest.ExitCode.OK
        return int(pytest.ExitCode.TESTS_FAILED) if passes else returncode

    def stop(self, reason: str) -> None:
        """Ends the session: pytest's, or the one of xdist that hands out the items."""
        self._stopped = reason
        distributed = compat.distributed_session(self._config)
        if distributed is not None:
            compat.stop(distributed, reason)
        elif self._session is not None:
            self._session.shouldstop = reason

    def begin_loop(self, session: pytest.Session) -> None:
        """Counts the gates that are known among the tests: others print the sum before the loop begins.

        xdist's controller does not know of any test yet.
        """
        if self._asks and compat.distributed_session(self._config) is None:
            runs = [run for run in self.collectors.values() if run.expected]
            self._counted = sum(len(run.plan.settings.decided_gates) for run in runs)
            compat.count_more_tests(session, self._counted)

    def finish_loop(self, session: pytest.Session) -> None:
        """Scores the runs at the end of pytest's loop: whoever looks at the session later sees what came of gates.

        -x, Ctrl-C and pytest.exit cut the loop short, and it is not called.
        """
        self._completed = True
        if self._asks and self._finish(session) and not session.testsfailed:
            compat.fail_session(session)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.workers.discard(node)
        self._progress.ended(node.gateway.id)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.begin(session)

    def begin(self, session: pytest.Session) -> None:
        self._session = session
        self._signals.install(session)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Scores the runs where the loop was cut short, before others look at the session."""
        # pytest.exit() may end a session with 0 before its loop.
        ended = self._looped or (self._asks and session.exitstatus == pytest.ExitCode.OK)
        if ended and not self._finished:
            try:
                if self._finish(session) and session.exitstatus in _RAISED:
                    session.exitstatus = pytest.ExitCode.TESTS_FAILED
            except KeyboardInterrupt:  # a second Ctrl-C: no scores then
                session.exitstatus = pytest.ExitCode.INTERRUPTED
        self._report_gates(session)  # those that Ctrl-C has kept from it
        return (yield)

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

    def _finish(self, session: pytest.Session) -> bool:
        """Scores all runs and reports their gates; whether anything failed."""
        self._finished = self._signals.finishing = True
        gates = self._gates
        for run, collector in self.collectors.items():
            collector.plan.stop_asking()
            gates[run] = publish.undecided(collector.plan.settings, "interrupted in scoring")
        self._hear_workers_out()
        failed = False
        for run, collector in self.collectors.items():
            collector.log_kept(seconds=None if self._completed else _LAST_ANSWERS)
            collector.check_log()
            unasked = self._completed and not collector.expected
            incomplete = None if unasked else self._incomplete(session, collector)
            tell = functools.partial(self._tell, collector)
            to_mlflow = bool(self._config.getoption("agentbench_mlflow"))
            gates[run] = publish.finish(collector, incomplete, tell, to_mlflow)
            failed |= incomplete is not None
            collector.log.close()
        problem = self._write_session()
        if problem is not None:
            gates["agentbench"] = [("files", problem)]
        # Those of a run that was cut short are fewer.
        more = sum(map(len, gates.values())) - self._counted
        compat.count_more_tests(session, max(more, 0))
        failed |= any(failure is not None for found in gates.values() for _, failure in found)
        self._report_gates(session)
        return failed

    def _report_gates(self, session: pytest.Session) -> None:
        """Reports the gates that were not reported yet."""
        for run, found in self._gates.items():
            while found:
                gate_reports.report(session, run, found[:1])
                del found[0]

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
        return publish.write_session(list(self.collectors.values()), *paths)

    def _incomplete(self, session: pytest.Session, collector: Collector) -> str | None:
        """Why the run was cut short, or None. Of a run that was, no gate is decided."""
        reason = collector.unlogged or self._stopped or session.shouldfail or session.shouldstop
        broken = collector.unlogged or session.exitstatus in _INCOMPLETE
        lacks = collector.missing() or not collector.expected
        if broken or ((reason or not self._completed) and lacks):
            reason = reason or pytest.ExitCode(session.exitstatus).name.lower()
            return f"the session was cut short ({reason})"
        return None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        self._summed_up = True
        brief = self._config.get_verbosity() < 0
        # A plugin that annotates failed tests annotates gates as well.
        others = self._config.pluginmanager.has_plugin("pytest_github_actions_annotate_failures")
        on_github = bool(os.environ.get("GITHUB_ACTIONS")) and not others
        for collector in self.collectors.values():
            publish.show(terminalreporter, collector, brief, on_github)
        if any(one.plan.settings.of_model is not None for one in self.collectors.values()):
            from pytest_agentbench.reports import (
                models_compared,  # few sessions have several models
            )

            models_compared.show(terminalreporter, self.collectors.values(), brief)

    def pytest_unconfigure(self) -> None:
        self._signals.restore()
        for run, collector in self.collectors.items():
            scores = collector.scores
            if self._looped and collector.log.lost is not None:
                sys.stderr.write(f"agentbench: {collector.log.lost}\n")
            elif (
                self._looped
                and collector.log.started
                and (scores is None or (scores.incomplete and not self._summed_up))
            ):
                sys.stderr.write(
                    f"agentbench: {run} was cut short; "
                    f"{len(collector.records)} records are in {collector.log.folder}: go on with "
                    f"{collector.plan.to_resume(collector.log.folder)}\n"
                )
            collector.log.close()


class Statuses:
    """The hook that gives samples without a valid answer a letter and a word of their own."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        if report.failed:
            status = getattr(report, "agentbench_status", None)
            if status in ("invalid", "timeout"):
                return "failed", status[0].upper(), status.upper()
        return None


def _resuming(config: pytest.Config) -> Resuming | None:
    name = config.getoption("agentbench_resume")
    if name is None:
        return None
    return Resuming(
        name,
        anyway=bool(config.getoption("agentbench_resume_anyway")),
        failed_only=bool(config.getoption("agentbench_resume_failed_only")),
    )
