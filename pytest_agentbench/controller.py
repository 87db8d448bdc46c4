"""The controller's side: every record is logged as it comes; at the end runs are scored and gated."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from pytest_agentbench import manifest, resume, runlog, scores
from pytest_agentbench.items import failed_records
from pytest_agentbench.records import Record
from pytest_agentbench.reports import terminal
from pytest_agentbench.run import HOUSE, Question, Run, runs_folder

_INCOMPLETE = (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)


class LiveRun:
    """A run as the controller sees it: what is expected, what has come, where it is logged."""

    def __init__(self, run: Run, config: pytest.Config, started: str) -> None:
        settings = run.settings
        self.run = run
        self.agent = manifest.agent_in_force(run, config)
        self.baseline: scores.Baseline | None = None
        if settings.baseline is not None:
            folder = runlog.find_run(
                settings.baseline, runs_folder(config.rootpath), run.benchmark.name,
                config.invocation_params.dir,
            )  # fmt: skip
            self.baseline = scores.load_baseline(folder, settings, run.dataset)
        made = manifest.manifest(run, self.agent, config, started)
        self.records: dict[tuple[str, int], Record] = {}
        name = config.getoption("agentbench_resume")
        if name is None:
            folder = settings.run_dir or runlog.new_folder(
                runs_folder(config.rootpath), started, run.benchmark.name, self.agent["name"]
            )
            runlog.check_free(folder)
        else:
            folder = runlog.find_run(
                name, runs_folder(config.rootpath), run.benchmark.name,
                config.invocation_params.dir, proof=runlog.RECORDS,
            )  # fmt: skip
            earlier = resume.load(folder, made, bool(config.getoption("agentbench_resume_anyway")))
            resume.take_up(run, earlier, bool(config.getoption("agentbench_resume_failed_only")))
            made = earlier.manifest
            self.records = {(record.sample, record.epoch): record for record in earlier.records}
        self.log = runlog.RunLog(folder, made)
        self.expected: set[Question] = set()
        self.usage: dict[str, float] = {}
        self.scores: dict[str, Any] | None = None

    def add(self, line: str) -> Record:
        """Logs a record as it came, before anything is done with it."""
        self.log.append(line)
        record = Record.from_json(line)
        self.records[record.sample, record.epoch] = record
        for name, count in record.usage.items():
            self.usage[name] = self.usage.get(name, 0) + count
        return record

    def overspent(self) -> str | None:
        """What the run has spent beyond its budget, if anything; workers know only their own share."""
        settings = self.run.settings
        cost = self.usage.get("cost", 0.0)
        tokens = self.usage.get("input_tokens", 0) + self.usage.get("output_tokens", 0)
        if settings.max_cost is not None and cost >= settings.max_cost:
            return f"the budget is spent: cost {cost:.4g} of {settings.max_cost:g}"
        if settings.max_tokens is not None and tokens >= settings.max_tokens:
            return f"the budget is spent: {tokens:.0f} of {settings.max_tokens} tokens"
        return None

    def answered(self) -> list[Question]:
        """The collected questions that left a record."""
        return [
            question for question in sorted(self.expected) if self._name(question) in self.records
        ]

    def missing(self) -> list[str]:
        """The names of samples that were collected and left no record."""
        names = (self._name(question) for question in sorted(self.expected))
        return [name[0] for name in names if name not in self.records]

    def _name(self, question: Question) -> tuple[str, int]:
        return str(self.run.dataset.keys[question.sample]), question.epoch


class Controller:
    """Hooks of the process that owns the terminal; xdist's workers do not have it."""

    def __init__(self, config: pytest.Config, runs: Sequence[Run]) -> None:
        self._config = config
        started = time.strftime("%Y%m%d-%H%M%S")
        self.runs = [LiveRun(run, config, started) for run in runs]
        self._progress = terminal.Progress(config)
        self._session: pytest.Session | None = None
        self._stopped: str | None = None

    @property
    def _terminal(self) -> pytest.TerminalReporter | None:
        reporter: pytest.TerminalReporter | None = self._config.pluginmanager.getplugin(
            "terminalreporter"
        )
        return reporter

    def pytest_report_header(self) -> list[str]:
        return [terminal.header(live.run, live.agent["name"]) for live in self.runs]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._expect(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["agentbench_resume"] = resume.to_worker([live.run for live in self.runs])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        self._expect(ids)

    def _expect(self, nodeids: Iterable[str]) -> None:
        for nodeid in nodeids:
            for live in self.runs:
                live.expected.update(live.run.questions_of(nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        live = next((live for live in self.runs if live.run.questions_of(report.nodeid)), None)
        if live is None:
            return
        # Taken off, or the terminal reporter would keep every answer in memory.
        carried = report.__dict__.pop("agentbench_records", None)
        if carried is not None:
            lines = carried.splitlines()
        elif report.when not in ("setup", "call", "teardown"):  # xdist's report of a dead worker
            name = report.nodeid[len(live.run.settings.nodeid) + 2 :]
            failed = failed_records(live.run, name, str(report.longrepr))
            lines = [record.to_json() for record in failed]
        else:
            return
        records = [live.add(line) for line in lines]
        report.agentbench_status = _worst(records)  # type: ignore[attr-defined]
        for record in records:
            self._config.hook.pytest_agentbench_record(record=record, settings=live.run.settings)
        overspent = live.overspent()
        if overspent and live.missing():
            self._stop(overspent)
        self._progress.show(live.run, live.records.values(), len(live.expected), self._terminal)

    def _stop(self, reason: str) -> None:
        """Ends the session; under xdist the scheduler's session is another object."""
        self._stopped = reason
        distributed = self._config.pluginmanager.getplugin("dsession")
        if distributed is not None:
            distributed.shouldstop = reason
        elif self._session is not None:
            self._session.shouldstop = reason

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        status = getattr(report, "agentbench_status", None)
        if report.failed and status in ("invalid", "timeout"):
            return "failed", status[0].upper(), status.upper()
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._config.option.collectonly:
            return
        failed = 0
        for live in self.runs:
            if live.expected or live.records:
                failed += self._finish(live, session)
            live.log.close()
        if failed and session.exitstatus in (
            pytest.ExitCode.OK,
            pytest.ExitCode.NO_TESTS_COLLECTED,
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _finish(self, live: LiveRun, session: pytest.Session) -> int:
        """Scores one run, writes it and emits its gates; returns how many of them failed."""
        missing = live.missing()
        incomplete = _incomplete(session, self._stopped, len(missing))
        settings = live.run.settings
        questions = live.answered() if incomplete else sorted(live.expected)
        if not questions:
            return 0
        result = scores.score(
            settings, live.run.dataset, questions, list(live.records.values()), live.baseline
        )
        result["agent"] = live.agent
        result["partial"] = len(questions) < len(live.run.dataset.keys) * settings.epochs
        result["incomplete"] = incomplete
        result["gates"] = scores.judge(settings, result, incomplete)
        live.scores = result
        if live.log.started or (live.log.folder / runlog.RECORDS).exists():
            self._write(live, result)
        if incomplete:
            return 0
        reports = [
            (f"gate[{gate['gate']}]", terminal.gate_failure(gate)) for gate in result["gates"]
        ]
        submission = live.run.submission
        if submission is not None and submission.problems:
            reports.append(("gate[submission fits the data]", "\n".join(submission.problems)))
        if missing:
            shown = ", ".join(missing[:20]) + (", …" if len(missing) > 20 else "")
            reports.append(
                ("gate[every sample recorded]", f"{len(missing)} samples left no record: {shown}")
            )
        self._emit(session, settings.nodeid, reports)
        return sum(failure is not None for _, failure in reports)

    def _write(self, live: LiveRun, result: dict[str, Any]) -> None:
        folder = live.log.folder
        house = self._config.rootpath / HOUSE
        if house in folder.parents:
            runlog.ignore_in_git(house)
        runlog.write_json(folder / runlog.SCORES, result)
        keys = live.run.dataset.keys
        named = ((str(keys[index]), epoch) for index, epoch in sorted(live.expected))
        first = [live.records[name] for name in named if name[1] == 1 and name in live.records]
        live.run.benchmark.write_files(folder, live.run.dataset, first)
        self._config.hook.pytest_agentbench_scores(
            scores=result, folder=folder, settings=live.run.settings
        )

    def _emit(
        self, session: pytest.Session, nodeid: str, reports: Sequence[tuple[str, str | None]]
    ) -> None:
        """Gates as test reports of their own, so that summary, JUnit and exit code agree."""
        if self._terminal is not None and self._terminal.verbosity <= 0:
            self._terminal.ensure_newline()
            if self._terminal.currentfspath is None and not self._terminal.showfspath:
                # After bare dots (-q, xdist) the reporter does not know that a line is open.
                self._terminal.write_line("")
        session.testscollected += len(reports)
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
        for live in self.runs:
            if live.scores is not None:
                folder = live.log.folder if (live.log.folder / runlog.SCORES).exists() else None
                terminal.summary(terminalreporter, live.run, live.scores, folder)

    def pytest_unconfigure(self) -> None:
        for live in self.runs:
            live.log.close()


def _worst(records: Sequence[Record]) -> str:
    return next((r.status for r in records if r.status != "ok"), "ok")


def _failure(message: str) -> Any:
    """A failure as pytest makes it, so that short summaries carry the message, too."""
    try:
        pytest.fail(message, pytrace=False)
    except pytest.fail.Exception:
        return pytest.ExceptionInfo.from_current().getrepr(style="value")


def _incomplete(session: pytest.Session, stopped: str | None, missing: int) -> str | None:
    """Why the run was cut short, if it was: then no gate is decided."""
    reason = stopped or session.shouldfail or session.shouldstop
    if session.exitstatus in _INCOMPLETE:
        reason = reason or pytest.ExitCode(session.exitstatus).name.lower()
        return f"the session was cut short ({reason})"
    return f"the session was cut short ({reason})" if reason and missing else None
