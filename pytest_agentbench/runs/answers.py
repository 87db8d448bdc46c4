"""Answers between their arrival and their record: kept on disk at once, and made into records later.

A record waits: for the turn of its item where questions are asked ahead, for the other samples of its
chunk, for the controller to read a worker's report. Until then ``answers.jsonl`` has the answer, in the form of
a record. Of status "ok" nothing more is said there than that the agent answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.agents.errors import BudgetExceeded
from pytest_agentbench.agents.usage import Usage
from pytest_agentbench.base.plain import is_finite, jsonable
from pytest_agentbench.runs.evaluate import counted, evaluate, told_by
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.runs.record import Record


def unchecked(plan: Plan, question: Question, outcome: Outcome) -> Record | None:
    """What came of a question, to be kept; None where there is nothing to keep."""
    if isinstance(outcome.error, BudgetExceeded):
        return None  # it was not asked
    if outcome.error is not None:
        sample = plan.dataset.sample(question.sample)
        return evaluate(plan.benchmark, [sample], [outcome], question.epoch)[0][0]
    try:
        answer = jsonable(outcome.answer, whole=True)
    except ValueError:  # too large to be kept: that will be its record
        return None
    return Record(
        benchmark=plan.benchmark.name,
        sample=str(plan.dataset.keys[question.sample]),
        status="ok",
        epoch=question.epoch,
        answer=answer,
        seconds=round(outcome.seconds, 6),
        usage=counted(outcome.usage),
        evidence=told_by(outcome.usage),
    )


def checked(plan: Plan, kept: Iterable[Record]) -> Iterator[Record]:
    """The records of answers that were kept; those to other data are passed over."""
    index = plan.dataset.index_of
    for one in kept:
        if one.sample not in index:
            continue
        if one.status != "ok":
            yield one
            continue
        usage = Usage(
            counts=dict(one.usage),
            messages=one.messages,
            seconds_asked=_numbers(one.evidence.get("llm_seconds")),
        )
        outcome = Outcome(answer=one.answer, seconds=one.seconds, usage=usage)
        sample = plan.dataset.sample(index[one.sample])
        yield from evaluate(plan.benchmark, [sample], [outcome], one.epoch)[0]


def _numbers(value: Any) -> list[float]:
    """What a file says, as far as it can be meant."""
    found = value if isinstance(value, list) else []
    return [number for number in found if is_finite(number)]
