"""Samples from question to record: ask, check, measure. Never raises for what an agent does."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.agents.errors import AgentTimeout, DayEnded, RemoteAgentError
from pytest_agentbench.agents.tracebacks import from_agent
from pytest_agentbench.agents.usage import Usage
from pytest_agentbench.base.errors import LONGEST_TOLD, InvalidAnswer, shortened, told
from pytest_agentbench.base.plain import is_finite, jsonable
from pytest_agentbench.benchmarks.protocol import Accepted, Benchmark, Measured, Sample
from pytest_agentbench.runs.record import AnswerText, Record, Status, as_metrics

_SHOWN_OF_A_REPLY = 200  # characters
# How the error of a record begins where the benchmark, and not the agent, is at fault: it may quote the truth.
FAULTS = _CHECK_FAILED, _SCORING_FAILED = "check failed", "scoring failed"


class MissingAnswer(LookupError):
    """A submission without an answer for a sample."""


Failure = BaseException | None


class Evaluation:
    """The records of some samples: made one by one as answers come, then measured all at once.

    What ends the work half-way (Ctrl-C, a skip) does not cost the answers that came before.
    """

    def __init__(self, benchmark: Benchmark, epoch: int = 1) -> None:
        self.records: list[Record] = []
        self.failure: Failure = None  # the first exception that the agent's code raised
        self._benchmark = benchmark
        self._epoch = epoch
        self._unmeasured: list[tuple[int, Sample, Any]] = []  # the place of its record, the answer

    def add(self, sample: Sample, outcome: Outcome) -> None:
        record, answer, error = _checked(self._benchmark, sample, outcome, self._epoch)
        if record.status == "ok":
            self._unmeasured.append((len(self.records), sample, answer))
        self.records.append(record)
        self.failure = self.failure or error

    def add_accepted(self, name: str, accepted: Accepted) -> None:
        """The record of an answer that the benchmark has checked and measured already."""
        answer = AnswerText(accepted.answer)
        record = Record(self._benchmark.name, name, "ok", self._epoch, answer)
        self.records.append(_with(record, accepted.metrics))

    def measure(self) -> None:
        """Puts the metrics into the records of checked answers."""
        records = self.records
        failure: Failure = None
        samples = [sample for _, sample, _ in self._unmeasured]
        answers = [answer for *_, answer in self._unmeasured]
        found = _measured(self._benchmark, samples, answers)
        for (number, *_), metrics in zip(self._unmeasured, found, strict=True):
            if isinstance(metrics, Exception):
                error_text = f"{_SCORING_FAILED}: {_said(metrics)}"
                records[number] = records[number].changed(status="error", error=error_text)
                failure = failure or metrics
            else:
                records[number] = _with(records[number], metrics)
        self._unmeasured.clear()
        self.failure = failure or self.failure


def evaluate(
    benchmark: Benchmark, samples: Sequence[Sample], outcomes: Iterable[Outcome], epoch: int = 1
) -> tuple[list[Record], Failure]:
    """The record of each sample, and the first exception that the agent's code raised."""
    evaluation = Evaluation(benchmark, epoch)
    for sample, outcome in zip(samples, outcomes, strict=True):
        evaluation.add(sample, outcome)
    evaluation.measure()
    return evaluation.records, evaluation.failure


def _with(record: Record, metrics: Measured) -> Record:
    return record.changed(metrics=dict(metrics), basis=metrics.basis)


def counted(usage: Usage) -> dict[str, Any]:
    """What a call has used, as a record keeps it: finite numbers."""
    if not usage.counts:  # the usual case
        return {}
    return {name: n for name, n in jsonable(usage.counts).items() if is_finite(n)}


def told_by(usage: Usage) -> dict[str, Any]:
    """What a record keeps of the conversation with the model: its messages, and how long each call took."""
    evidence: dict[str, Any] = {}
    if usage.messages:
        evidence["messages"] = jsonable(usage.messages)
    if usage.seconds_asked:
        evidence["llm_seconds"] = [round(seconds, 3) for seconds in usage.seconds_asked]
    return evidence


def _checked(
    benchmark: Benchmark, sample: Sample, outcome: Outcome, epoch: int
) -> tuple[Record, Any, Failure]:
    """The record of one answer before it is measured, and the answer in its checked form."""
    messages = outcome.usage.messages
    evidence = told_by(outcome.usage)
    if outcome.usage.missing:
        evidence["missing"] = jsonable(list(dict.fromkeys(m.what for m in outcome.usage.missing)))

    def record(status: Status, answer: Any, error: str | None) -> Record:
        return Record(
            benchmark=benchmark.name,
            sample=str(sample.key),
            epoch=epoch,
            status=status,
            answer=jsonable(answer, whole=status == "ok"),
            error=error,
            seconds=round(outcome.seconds, 6),
            usage=counted(outcome.usage),
            evidence=evidence,
        )

    error = outcome.error
    if isinstance(error, AgentTimeout):
        return record("timeout", None, str(error)), None, None
    if isinstance(error, MissingAnswer):
        return record("error", None, str(error)), None, None
    if error is not None:
        text = _said_where(error, outcome.usage)
        return record("error", None, text), None, error.with_traceback(from_agent(error))
    try:
        checked = benchmark.check(sample, outcome.answer)
    except InvalidAnswer as invalid:
        text = f"{invalid}{_last_reply(messages)}"
        return record("invalid", outcome.answer, text), None, None
    except (Exception, SystemExit) as fault:
        if _is_the_objects(benchmark, sample, outcome.answer):
            refusal = InvalidAnswer("lists, texts and numbers", outcome.answer)
            text = f"{refusal}, which raised {_said(fault)}"
            return record("invalid", outcome.answer, text), None, None
        # A fault of the benchmark's: the answer is kept all the same.
        return record("error", outcome.answer, f"{_CHECK_FAILED}: {_said(fault)}"), None, fault
    try:
        return record("ok", checked, None), checked, None
    except ValueError as error:  # a part of it would be scored as the answer
        return record("error", checked, f"the answer cannot be kept: {error}"), None, None


def _last_reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """The end of the model's last reply, if there was one: an invalid answer came from it."""
    replies = [str(message["content"]) for message in messages if message["role"] == "assistant"]
    if not replies:
        return ""
    text = " ".join(replies[-1].split())
    end = text if len(text) <= _SHOWN_OF_A_REPLY else f"…{text[-_SHOWN_OF_A_REPLY:]}"
    return f"; the model's last reply ends with {end!r}"


def _is_the_objects(benchmark: Benchmark, sample: Sample, answer: Any) -> bool:
    """Whether an object of the agent's own, and not the benchmark, made a check fail.

    It did where the same answer in plain form is checked without a fault.
    """
    try:
        benchmark.check(sample, jsonable(answer))
    except InvalidAnswer:
        return True
    except Exception:
        return False
    return True


def _measured(
    benchmark: Benchmark, samples: Sequence[Sample], answers: Sequence[Any]
) -> Sequence[Measured | Exception]:
    """The metrics of checked answers, all at once; where that fails, one by one to find which."""
    try:
        found = benchmark.score_samples(samples, answers)
        return [Measured(as_metrics(one), getattr(one, "basis", b"")) for one in found]
    except Exception as error:
        if len(samples) == 1:
            return [error]
    return [_measured(benchmark, [s], [a])[0] for s, a in zip(samples, answers, strict=True)]


def _said(error: BaseException) -> str:
    if isinstance(error, RemoteAgentError):
        return shortened(str(error), LONGEST_TOLD)  # it names the type raised in the other process
    text = told(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _said_where(error: BaseException, usage: Usage) -> str:
    """What an agent raised, and at which tick, if it lives by ticks; the end of a day says that itself."""
    text = _said(error)
    told = error.type_name if isinstance(error, RemoteAgentError) else type(error).__name__
    return text if usage.tick is None or told == DayEnded.__name__ else f"{usage.tick}: {text}"


@contextlib.contextmanager
def held_off() -> Iterator[None]:
    """No search meanwhile; not for code of an agent, which may count on it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
