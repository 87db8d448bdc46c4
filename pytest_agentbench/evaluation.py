"""One sample from question to record: ask, check, measure. Never raises for what an agent does."""

from __future__ import annotations

import asyncio.base_events
import time
from collections.abc import Callable
from typing import Any

from pytest_agentbench.agents import calling
from pytest_agentbench.agents.calling import AgentTimeout
from pytest_agentbench.benchmarks.protocol import Benchmark, InvalidAnswer, Sample
from pytest_agentbench.records import Record, Status, jsonable


def evaluate(
    benchmark: Benchmark, sample: Sample, ask: Callable[[Any], Any]
) -> tuple[Record, BaseException | None]:
    """The record of one sample, and the exception behind it where the agent's own code raised one."""
    __tracebackhide__ = True
    started = time.perf_counter()

    def record(status: Status, answer: Any, error: str | None, metrics: Any = None) -> Record:
        return Record(
            benchmark=benchmark.name,
            sample=str(sample.key),
            status=status,
            answer=jsonable(answer),
            error=error,
            seconds=round(seconds, 6),
            metrics=jsonable(metrics or {}),
        )

    try:
        answer = ask(sample.context)
    except AgentTimeout as timeout:
        seconds = time.perf_counter() - started
        return record("timeout", None, str(timeout)), None
    except (Exception, SystemExit) as error:
        seconds = time.perf_counter() - started
        return record("error", None, _said(error)), _from_agent(error)
    seconds = time.perf_counter() - started
    try:
        checked = benchmark.check(sample, answer)
    except InvalidAnswer as invalid:
        return record("invalid", answer, str(invalid)), None
    except Exception as error:  # a fault of the benchmark's: the answer is kept all the same
        return record("error", answer, f"check failed: {_said(error)}"), error
    try:
        metrics = benchmark.score_sample(sample, checked)
    except Exception as error:
        return record("error", checked, f"scoring failed: {_said(error)}"), error
    return record("ok", checked, None, metrics), None


def _said(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # an exception of the agent's own may fail to print itself
        return type(error).__name__


_BETWEEN = {__file__, calling.__file__, asyncio.base_events.__file__}


def _from_agent(error: BaseException) -> BaseException:
    """The error with its traceback cut to the agent's own frames: ours say nothing to its author."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in _BETWEEN:
        trace = trace.tb_next
    return error.with_traceback(trace) if trace is not None else error
