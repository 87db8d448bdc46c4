"""A run that a script starts: asked in this process, logged and scored as pytest's runs are."""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.agents.errors import BudgetExceeded
from pytest_agentbench.agents.prefetch import Prefetch
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.progress import Progress
from pytest_agentbench.cli.terminal import Lines
from pytest_agentbench.reports import publish, summary
from pytest_agentbench.runs import names
from pytest_agentbench.runs.collector import Carried, Collector, Place
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.scoring.compare import load_baseline

# Logs an outcome; says why no more should be asked, if so.
Add = Callable[[Question, Outcome], str | None]


@dataclass(frozen=True)
class SimulatedRun:
    """What came of a run: its log and scores, and the agent's answers as it gave them."""

    collector: Collector
    outcomes: dict[Question, Outcome]


def simulate(
    plan: Plan, arguments: Sequence[str], threads: bool, minutes: float | None
) -> SimulatedRun:
    """Asks all questions of a plan, until the time is over; scores what came and shows it."""
    agent = {"name": plan.loaded_agent.name, "digest": plan.loaded_agent.digest}
    place = Place(names.find_house(Path.cwd()), Path.cwd(), arguments)
    started = time.strftime("%Y%m%d-%H%M%S")
    collector = Collector(plan, agent, place, started, load_baseline(plan, place))
    questions = [Question(index, 1) for index in plan.indices]
    collector.expected = set(questions)
    plan.keep = collector.keep
    out = Lines()
    for line in summary.header(plan, agent["name"]):
        out.write_line(line)
    progress = Progress(plan.settings.nodeid, "samples", len(questions))
    outcomes: dict[Question, Outcome] = {}

    def add(question: Question, outcome: Outcome) -> str | None:
        if isinstance(outcome.error, BudgetExceeded):
            return str(outcome.error)
        sample = plan.dataset.sample(question.sample)
        (record,), _ = evaluate(plan.benchmark, [sample], [outcome], question.epoch)
        collector.add_all([Carried.of(record)])
        if collector.unlogged:
            raise BenchmarkError(f"records cannot be written: {collector.unlogged}")
        outcomes[question] = outcome
        progress.add(1)
        return None

    stopped: str | None = "interrupted"
    try:
        seconds = None if minutes is None else minutes * 60
        stopped = (_ask_ahead if threads else _ask_in_turn)(plan, questions, seconds, add)
    finally:  # also after Ctrl-C: what was answered is scored
        plan.close()
        collector.log_kept()
        gates = publish.finish(collector, stopped)
        collector.log.close()
        _show(out, collector, stopped)
        for line in publish.failures_beside(collector, gates):
            out.write_line(line)
    return SimulatedRun(collector, outcomes)


def _ask_in_turn(
    plan: Plan, questions: Sequence[Question], seconds: float | None, add: Add
) -> str | None:
    """One by one in the caller's thread. A call that has begun is waited for."""
    over = None if seconds is None else time.monotonic() + seconds
    for question in questions:
        if over is not None and time.monotonic() >= over:
            return _time_is_over(seconds)
        sample = plan.dataset.sample(question.sample)
        stop = add(question, plan.ask(sample, question.epoch, plan.agent))
        if stop is not None:
            return stop
    return None


def _ask_ahead(
    plan: Plan, questions: Sequence[Question], seconds: float | None, add: Add
) -> str | None:
    """Several at once. Calls that are going on when the time is over are left alone."""
    over = None if seconds is None else time.monotonic() + seconds
    settings = plan.settings
    asked = {question: question.sample for question in questions}
    ahead = Prefetch(
        plan.agent, plan.dataset, asked, settings.agent_retries, settings.concurrency,
        plan.secrets, plan.keep,
    )  # fmt: skip
    try:
        for question in questions:
            left = None if over is None else max(0.0, over - time.monotonic())
            outcome = ahead.take(question, left)
            assert outcome is not None  # each is taken once
            stop = add(question, outcome)
            if stop is not None:
                return stop
    except concurrent.futures.TimeoutError:
        return _time_is_over(seconds)
    finally:
        ahead.stop()
        for question, outcome in ahead.finished().items():
            add(question, outcome)
    return None


def _time_is_over(seconds: float | None) -> str:
    assert seconds is not None
    return f"the time is over (time_limitation: {seconds / 60:g} minutes)"


def _show(out: Lines, collector: Collector, stopped: str | None) -> None:
    records = collector.logged()
    failed = [record for record in records if record.status != "ok"]
    if failed:
        out.write_line(summary.failures_text(failed, len(records)))
    missing = collector.missing()
    if stopped is not None:
        of = len(collector.expected)
        out.write_line(f"stopped: {stopped}; {len(missing)} of {of} tasks are missing")
    publish.show(out, collector)
