"""One item: it asks its samples, fails with a short message, and its report carries the records."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any, NamedTuple

import pytest

from pytest_agentbench.agents import debugging
from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.agents.errors import (
    BudgetExceeded,
    EndedByAgent,
    RemoteAgentError,
    is_test_outcome,
)
from pytest_agentbench.benchmarks.protocol import Sample
from pytest_agentbench.plugin import answers_at_once, compat
from pytest_agentbench.plugin.agent_in_force import not_credited
from pytest_agentbench.plugin.asked import Asked, Unmade
from pytest_agentbench.reports import github
from pytest_agentbench.reports.summary import failures_text
from pytest_agentbench.runs.alike import FirstFailures
from pytest_agentbench.runs.collector import Carried
from pytest_agentbench.runs.evaluate import Evaluation
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.runs.record import Record

# The records of an item, those of each attempt in a list, until a report carries them.
RECORDS = pytest.StashKey[list[list[Record]]]()
# The questions that the attempt under way has put to the agent.
_BEGUN = pytest.StashKey[set[Question]]()
# By node id of the run.
_FIRST = pytest.StashKey[dict[str, FirstFailures]]()
# There while a user's own test function runs.
RUNNING = pytest.StashKey[bool]()


class Made(NamedTuple):
    """A record, and whether the agent was asked: if not, it is no attempt at the question."""

    record: Record
    asked: bool = True


# Records with what tells them apart: the process that made them, and a number. pytest-forked makes them in a child.
Undelivered = dict[tuple[int, int], Made]
_NUMBERS = itertools.count()
# Characters of stdout, of stderr and of the log that a record keeps.
_LONGEST_OUTPUT = 10_000


def sample_function(plan: Plan, target: str) -> Any:
    """The test function of one kind of sample. pytest reads its name and fixtures; ``ask`` runs instead."""

    def function(agent: Any, sample: Any) -> None:  # noqa: ARG001 -- pytest reads the names
        pytest.skip("not asked")

    function.__name__ = function.__qualname__ = target
    return pytest.mark.agentbench(plan.benchmark.name)(function)


def ask(item: pytest.Function, asked: Asked) -> None:
    """Asks the samples of an item; fails as a test does if one has no valid answer."""
    __tracebackhide__ = True
    given: dict[str, Any] = item.funcargs
    agent, sample = given["agent"], given["sample"]
    plan, questions = asked.plan, asked.questions
    if plan.unasked.issuperset(questions):
        pytest.skip("not asked: --resume-failed-only asks nothing new")
    fail_if_not_credited(item, plan)
    evaluation = Evaluation(plan.benchmark, questions[0].epoch)
    item.stash.setdefault(RECORDS, []).append(evaluation.records)  # filled as answers come
    if isinstance(sample, Unmade):
        put = [question for question in questions if plan.is_asked(question)]
        item.stash.setdefault(_BEGUN, set()).update(put)
        plan.look_up(put, evaluation)
    else:
        samples = sample if isinstance(sample, list) else [sample]
        if not all(isinstance(one, Sample) for one in samples):  # a project's own `sample` fixture
            samples = [plan.dataset.sample(question.sample) for question in questions]
        try:
            for question, one in zip(questions, samples, strict=True):
                if not plan.is_asked(question):
                    continue
                if why := _first_failures(item, plan).told:  # in a chunk, whose report comes later
                    item.session.shouldstop = why
                    break
                evaluation.add(one, outcome_of(item, plan, question, one, agent))
                came = evaluation.records[-1]
                _first_failures(item, plan).add(came.status, came.sample, came.error)
        finally:
            evaluation.measure()
    fail_for(evaluation)


def _first_failures(item: pytest.Item, plan: Plan) -> FirstFailures:
    """Those that this process has seen. A worker does not stop by itself: others may have answered."""
    option = item.config.option
    alone = not (hasattr(item.config, "workerinput") or option.usepdb or option.trace)
    most = plan.settings.max_identical_errors if alone and not plan.answered else 0
    found = item.config.stash.setdefault(_FIRST, {})
    return found.setdefault(plan.settings.nodeid, FirstFailures(most))


def fail_if_not_credited(item: pytest.Function, plan: Plan) -> None:
    """Fails an item before it asks an agent that is not the one credited with the answers."""
    __tracebackhide__ = True
    another = not_credited(item, plan)
    if another is not None:
        _fail(another)


def fail_for(evaluation: Evaluation) -> None:
    """Fails the test if a record has no valid answer: with the agent's own exception, if it raised one."""
    __tracebackhide__ = True
    error, records = evaluation.failure, evaluation.records
    if error is not None and error.__traceback__ is not None and not is_test_outcome(error):
        raise error
    failed = [record for record in records if record.status != "ok"]
    if failed:
        trace = error.traceback if isinstance(error, RemoteAgentError) else ""
        _fail(f"{failures_text(failed, len(records))}\n{trace}".rstrip())


def outcome_of(
    item: pytest.Item, plan: Plan, question: Question, sample: Sample, agent: Any
) -> Outcome:
    """What came of a question. An agent may not end the session: pytest.exit() is its sample's error."""
    __tracebackhide__ = True
    answers_at_once.wait_for(plan)
    item.stash.setdefault(_BEGUN, set()).add(question)
    outcome = plan.outcome(question, sample, agent)
    if outcome.printed is not None:
        outcome.printed.replay()
    if isinstance(outcome.error, BudgetExceeded):
        item.session.shouldstop = str(outcome.error)
        pytest.skip(f"not asked: {outcome.error}")
    if isinstance(outcome.error, pytest.exit.Exception):
        if debugging.is_used() and compat.is_quit_of_debugger(outcome.error):
            raise outcome.error
        ended = EndedByAgent(f"the agent called pytest.exit({outcome.error.msg!r})")
        outcome.error = ended.with_traceback(outcome.error.__traceback__)
    return outcome


def _fail(message: str) -> None:
    # This frame is not hidden. If all were, pytest would explain how to show hidden ones.
    pytest.fail(message, pytrace=False)


def put_records_on(
    report: pytest.TestReport, item: pytest.Item, asked: Asked, undelivered: Undelivered
) -> None:
    """Puts the records of an item on its report, which xdist sends to the controller.

    Plugins that run a test again may report an attempt late or never: ``undelivered`` are the records that
    no report has carried to anybody.
    """
    silent = report.passed and not report.sections
    if silent and report.when != "call" and not undelivered and RECORDS not in item.stash:
        return  # the usual setup and teardown
    plan = asked.plan
    if not silent:
        _make_fit(report, item.config, lambda text: _text_escaped(plan.secrets.cleaned(text)))
    if (
        RUNNING not in item.stash
    ):  # else the report is of a part of the test, as those of `subtests` are
        _put_on(report, item, asked, undelivered)
    if not silent and os.environ.get("GITHUB_ACTIONS"):  # the record keeps what was really said
        _make_fit(report, item.config, github.harmless)


def _put_on(
    report: pytest.TestReport, item: pytest.Item, asked: Asked, undelivered: Undelivered
) -> None:
    plan = asked.plan
    attempts: list[list[Record]] = []
    if RECORDS in item.stash:
        attempts = item.stash[RECORDS]
        del item.stash[RECORDS]  # pytest keeps all items, and with them every answer
    asks = report.when == "call" or (report.when == "setup" and not report.passed)
    unanswered: list[Made] = []
    if asks:
        last = attempts.pop() if attempts else []
        begun = item.stash.get(_BEGUN, None) or set()
        if begun:
            del item.stash[_BEGUN]
        if len(last) == 1:
            last = [_with_evidence(last[0], report)]
            if plan.asks_ahead:
                report.duration = last[0].seconds  # of the call, not of the wait for it
        if not item.session.shouldstop:  # else the budget is spent, and the sample was not asked
            unanswered = _unanswered(asked, report, last, begun)
        attempts.append(last)
    for made in [*map(Made, itertools.chain(*attempts)), *unanswered]:
        undelivered[os.getpid(), next(_NUMBERS)] = made
    if asks or undelivered:
        report.agentbench_run = asked.run  # type: ignore[attr-defined]
        report.agentbench_undelivered = [  # type: ignore[attr-defined]
            (n, tuple(Carried.of(*made))) for n, made in undelivered.items()
        ]


def _unanswered(
    asked: Asked, report: pytest.TestReport, answered: Sequence[Record], begun: Set[Question]
) -> list[Made]:
    """Records of samples that a fixture, a skip or a plugin kept from being asked, or from being answered."""
    plan = asked.plan
    if len(answered) == sum(map(plan.is_asked, asked.questions)):  # the usual case
        return []
    if isinstance(report.longrepr, tuple):
        reason = str(report.longrepr[2])
    else:
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = str(getattr(crash, "message", "") or report.longreprtext or report.outcome)
    named = {record.sample for record in answered}
    put = {str(plan.dataset.keys[question.sample]) for question in begun}
    failed = failed_records(plan, asked.questions, reason)
    return [Made(one, one.sample in put) for one in failed if one.sample not in named]


def _with_evidence(record: Record, report: pytest.TestReport) -> Record:
    """The record with what the agent printed and logged, as pytest captured it."""
    if not report.sections:
        return record
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
    return record.changed(evidence={**record.evidence, **captured}) if captured else record


def failed_records(plan: Plan, questions: Iterable[Question], reason: str) -> list[Record]:
    """Error records of all samples of an item that were to be asked."""
    return [
        Record(
            plan.benchmark.name, str(plan.dataset.keys[question.sample]), "error",
            epoch=question.epoch, error=reason,
        )
        for question in questions
        if plan.is_asked(question)
    ]  # fmt: skip


def _make_fit(report: pytest.TestReport, config: pytest.Config, fit: Callable[[str], str]) -> None:
    """Changes what an agent raised or printed, wherever pytest shows it.

    Secrets are taken out. A lone surrogate, which would end an xdist session, is escaped.
    """
    report.sections = _changed(report.sections, fit)
    text = report.longreprtext
    if text != fit(text):
        data = config.hook.pytest_report_to_serializable(config=config, report=report)
        data = {key: _changed(value, fit) for key, value in data.items()}
        back = config.hook.pytest_report_from_serializable(config=config, data=data)
        report.longrepr = back.longrepr


def _changed(part: Any, change: Callable[[str], str]) -> Any:
    """Builtins with all their texts changed."""
    if isinstance(part, str):
        return change(part)
    if isinstance(part, dict):
        return {key: _changed(value, change) for key, value in part.items()}
    if isinstance(part, (list, tuple)):
        return type(part)(_changed(one, change) for one in part)
    return part


def _text_escaped(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
