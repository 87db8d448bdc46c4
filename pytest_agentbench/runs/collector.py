"""A run as the controller sees it: what is expected, what has come, where it is logged."""

from __future__ import annotations

import base64
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import answers, free_folder, manifest, mixed, names, resume, run_folder
from pytest_agentbench.runs.alike import FirstFailures
from pytest_agentbench.runs.logged import Logged
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.runs.record import Record, joined
from pytest_agentbench.runs.remeasure import remeasured
from pytest_agentbench.runs.scores_file import AgentFacts, GateResult, Scores
from pytest_agentbench.runs.stored import StoredRun

T = TypeVar("T")


class Place(NamedTuple):
    """Where runs are kept, and what was asked for there."""

    house: Path  # .agentbench
    start: Path  # where paths that a person types begin
    arguments: Sequence[str]
    writes: bool = True  # else the samples are only shown, also where nothing can be written


class Resuming(NamedTuple):
    """What --resume and the options beside it say."""

    name: str
    anyway: bool
    failed_only: bool


class Carried(NamedTuple):
    """A record on its way to the collector, as ASCII text: xdist carries builtins only."""

    fields: str
    answer: str
    asked: bool = True  # else the agent was not, and it is no attempt at the question
    basis: str = ""
    made: Record | None = None  # the same, where it was made in this process

    @classmethod
    def of(cls, record: Record, asked: bool = True) -> Carried:
        basis = record.basis
        return cls(*record.to_parts(), asked, base64.b64encode(basis).decode() if basis else "")


class Collector:
    """One run of this session."""

    def __init__(
        self,
        plan: Plan,
        agent: dict[str, str],
        place: Place,
        started: str,
        baseline: StoredRun | None = None,
        resuming: Resuming | None = None,
    ) -> None:
        settings = plan.settings
        house, start, arguments, writes = place
        self.plan = plan
        self.agent = agent
        self.baseline = baseline
        made = manifest.manifest(plan, agent, arguments, started)
        self.records: dict[tuple[str, int], Record] = {}
        self.answered_by = agent["name"]  # several agents, where --resume-anyway put them together
        self.mixture: str | None = None  # what it put together
        self.beside: list[GateResult] = []  # what fails the run, whatever its scores are
        self.notes: list[str] = list(baseline.notes if baseline is not None else ())
        self.expected: set[Question] = set()
        # In this session: attempts. 0 where a record came and the agent was not asked.
        self.came: Counter[tuple[str, int]] = Counter()
        self._kept: set[tuple[str, int]] = set()  # answers on disk that are not records yet
        self.usage: dict[str, float] = {}
        self.unlogged: str | None = None  # why records could not be logged
        self.scores: Scores | None = None
        self.written = False  # whether the folder holds them
        self._first = FirstFailures(0)
        resumed = None if resuming is None or not writes else _resumed(plan, resuming, house, start)
        if not writes:
            self.log = run_folder.RunLog(house, made)
        elif resuming is not None and resumed is not None:
            self.log = run_folder.RunLog(resumed, made, "resumed")
            try:
                self._resume(resuming)
            except BaseException:
                self.log.close()
                raise
        elif settings.run_dir is not None:
            free_folder.check_free(settings.run_dir)
            self.log = run_folder.RunLog(settings.run_dir, made)
        else:
            models = settings.models_of(agent["name"])
            named = run_folder.folder_name(started, plan.benchmark.name, agent["name"], models)
            folder = house / names.RUNS / named
            free_folder.check_free(folder.parent)
            self.log = run_folder.RunLog(folder, made, "new")
        most = settings.max_identical_errors if plan.submission is None else 0
        self._first = FirstFailures(most, self.records.values())

    def _resume(self, resuming: Resuming) -> None:
        folder = self.log.folder
        manifest = resume.manifest_of(folder, self.plan, self.log.manifest, resuming.anyway)
        again = remeasured(self.plan.benchmark, self.plan.dataset, run_folder.read_records(folder))
        records = again.records
        if note := again.note(folder.name):
            self.notes.append(note)
        self.log.manifest = manifest
        self.records = {(record.sample, record.epoch): record for record in records}
        self._take_up_kept(folder)
        resume.take_up(self.plan, list(self.records.values()), resuming.failed_only)
        manifest = mixed.counted(manifest, len(self.plan.answered))
        self.mixture, self.answered_by = mixed.mixture(manifest), mixed.answering(manifest)
        self.log.describe(manifest)

    def _take_up_kept(self, folder: Path) -> None:
        """Logs the answers that the earlier session kept and did not log before it was killed."""
        if not (folder / run_folder.ANSWERS).exists():
            return
        valid = {name for name, record in self.records.items() if record.status == "ok"}
        kept = run_folder.read_records(folder, run_folder.ANSWERS)
        self._kept = {(one.sample, one.epoch) for one in kept} - valid
        self.log_kept()
        self.usage.clear()  # that was the earlier session's

    def keep(self, question: Question, outcome: Outcome) -> None:
        """Puts an answer on disk that will be a record later. Any thread may call it."""
        record = answers.unchecked(self.plan, question, outcome)
        if record is not None:
            self.keep_line(record.sample, record.epoch, record.to_json())

    def keep_line(self, sample: str, epoch: int, line: str) -> None:
        """The same for an answer that a worker has sent."""
        self._kept.add((sample, epoch))
        self._logging(lambda: self.log.keep_answer(line))

    def log_kept(
        self, of: Collection[tuple[str, int]] | None = None, seconds: float | None = None
    ) -> None:
        """Makes records of answers that were kept: of all, or of these; as many as the time allows.

        The others stay on disk, and --resume makes records of them.
        """
        wanted = self._kept if of is None else self._kept.intersection(of)
        if wanted and not self.unlogged:
            over = None if seconds is None else time.monotonic() + seconds
            try:
                kept = run_folder.read_records(self.log.folder, run_folder.ANSWERS)
            except BenchmarkError as error:  # somebody has changed or deleted it
                self.unlogged = str(error)
                return
            found = [one for one in kept if (one.sample, one.epoch) in wanted]
            for record in answers.checked(self.plan, found):
                self.add(*Carried.of(record))
                if self.unlogged or (over is not None and time.monotonic() > over):
                    return
            self._kept -= wanted  # also those to other data
        if not self._kept and not self.unlogged:
            self.log.drop_answers()

    def add(
        self,
        fields: str,
        answer: str,
        asked: bool = True,
        basis: str = "",
        made: Record | None = None,
    ) -> Record | None:
        """Logs a record as it came, before anything is done with it.

        One of an agent that was not asked is no attempt: it is left out where the question has a record of
        this session, and any attempt replaces it.
        """
        if not asked and _question(Record.from_parts(fields, answer)) in self.came:
            return None
        return self._logged([Carried(fields, answer, asked, basis, made)])[0]

    def add_all(self, carried: Sequence[Carried]) -> list[Record]:
        """The same for records that came together: attempts are logged in one write."""
        if all(one.asked for one in carried):
            return self._logged(carried)
        return [record for one in carried if (record := self.add(*one)) is not None]

    def _logged(self, carried: Sequence[Carried]) -> list[Record]:
        if not carried:
            return []
        lines = [joined(one.fields, one.answer) for one in carried]
        places = self._logging(lambda: self.log.append(*lines)) or [None] * len(lines)
        return [
            self._taken(_read_back(one, place), one)
            for one, place in zip(carried, places, strict=True)
        ]

    def _taken(self, record: Record, carried: Carried) -> Record:
        if carried.basis:
            record = record.changed(basis=base64.b64decode(carried.basis))
        question = _question(record)
        self.records[question] = record
        self.came[question] += carried.asked
        if carried.asked:
            self._first.add(record.status, record.sample, record.error)
        self._kept.discard(question)
        for name, count in record.usage.items():
            self.usage[name] = self.usage.get(name, 0) + count
        return record

    @property
    def credited(self) -> AgentFacts:
        """Who answered, and the models that were asked. The name of several agents has theirs in it."""
        asked = any(name.startswith("llm_") for one in self.records.values() for name in one.usage)
        models = self.log.manifest["agent"].get("models", ()) if asked else ()
        models = () if self.mixture is not None else models
        return AgentFacts(self.answered_by, self.agent["digest"], tuple(map(str, models)))

    def attempts_note(self) -> str | None:
        """How many samples were asked more than once: by a plugin that runs tests again, or by several tests."""
        again = [count for count in self.came.values() if count > 1]
        if not again:
            return None
        return (
            f"{len(again)} samples were asked more than once, {sum(again)} attempts in all: "
            "every attempt is in the log, the last one counts"
        )

    def models_note(self) -> str | None:
        """That models were configured and never asked, or asked by calls that cannot be told apart."""
        models = self.plan.settings.models_of(self.agent["name"])
        used = [record.usage for record in self.records.values()]
        unknown = sum(one.get("llm_calls_unattributed", 0) for one in used)
        if models and used and not any(name.startswith("llm_") for one in used for name in one):
            return (
                f"{', '.join(models)} was never asked: an agent gets the model as a parameter llm; one with a "
                "client of its own is served with --llm-proxy"
            )
        if unknown:
            return (
                f"{unknown:.0f} calls of the model could not be told apart, because several samples were asked at "
                "once: --agent-isolation process credits each to its sample, and records it there"
            )
        return None

    def check_log(self) -> None:
        """Notices that the log was deleted after the last record had come."""
        self.unlogged = self.log.lost or self.unlogged

    def _logging(self, write: Callable[[], T]) -> T | None:
        try:
            return write()
        except BenchmarkError as error:  # the folder is another session's, or was deleted
            self.unlogged = str(error)
        except OSError as error:  # the disk is full, or gone
            kept = "nothing was logged: when that is mended, start again"
            if self.log.started:
                kept = (
                    "what was logged before is kept: when that is mended, go on with "
                    f"{self.plan.to_resume(self.log.folder)}"
                )
            self.unlogged = f"{self.log.folder}: {error.strerror}; {kept}"
        return None

    def overspent(self) -> str | None:
        """What the run has spent beyond its budget, if anything; workers know only their own share."""
        settings = self.plan.settings
        cost = self.usage.get("cost", 0.0)
        tokens = self.usage.get("input_tokens", 0) + self.usage.get("output_tokens", 0)
        if settings.max_cost is not None and cost >= settings.max_cost:
            return f"the budget is spent: cost {cost:.4g} of {settings.max_cost:g}"
        if settings.max_tokens is not None and tokens >= settings.max_tokens:
            return f"the budget is spent: {tokens:.0f} of {settings.max_tokens} tokens"
        return None

    @property
    def waiting(self) -> int:
        """How many answers have come that are not records yet."""
        return len(self._kept)

    def failing_alike(self) -> str | None:
        """What is wrong, if the first samples have all failed in the same way, and there are more of them."""
        if not self._first.reached:
            return None
        several = len({question.sample for question in self.expected})
        return self._first.told if several > self.plan.settings.max_identical_errors else None

    def answered(self) -> list[Question]:
        """The collected questions that left a record."""
        return [
            question for question in sorted(self.expected) if self.name(question) in self.records
        ]

    def logged(self) -> list[Record]:
        """The records of the collected questions, in the order of the data."""
        return [self.records[self.name(question)] for question in self.answered()]

    def missing(self) -> list[str]:
        """The names of samples that were collected and left no record."""
        lost = [q for q in self.expected if self.name(q) not in self.records]
        return [self.name(question)[0] for question in sorted(lost)]

    def name(self, question: Question) -> tuple[str, int]:
        return str(self.plan.dataset.keys[question.sample]), question.epoch


def _resumed(plan: Plan, resuming: Resuming, house: Path, start: Path) -> Path | None:
    """The folder of the run to go on with; None where it is one of several models, and was not begun."""
    settings, proof = plan.settings, run_folder.RECORDS
    if settings.of_model is None or resuming.name != names.LAST:
        return names.find_run(resuming.name, house, start, plan.benchmark.name, proof)
    several = settings.models or (settings.of_model,)
    found = names.last_of_models(house, plan.benchmark.name, several)
    if settings.of_model not in found and resuming.failed_only:
        raise BenchmarkError(
            f"--resume-failed-only: expected a run of {settings.of_model} beside those of other models, got none"
        )
    return found.get(settings.of_model)


def _read_back(carried: Carried, place: Logged | None) -> Record:
    """The record as its line in the log would be read."""
    fields, answer, _, _, made = carried
    if made is None or not made.is_plain:
        return Record.from_parts(fields, answer, place)
    made.stay(len(fields) + len(answer), place)
    return made


def _question(record: Record) -> tuple[str, int]:
    return record.sample, record.epoch
