"""A run made ready: settings, data, the samples to ask and what answers them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pytest_agentbench import runlog, truth
from pytest_agentbench.agents import asking, loading, output
from pytest_agentbench.agents.ahead import Ahead
from pytest_agentbench.agents.asking import Outcome
from pytest_agentbench.agents.calling import Agent
from pytest_agentbench.agents.command import CommandAgent
from pytest_agentbench.agents.http import HttpAgent
from pytest_agentbench.agents.isolation import IsolatedAgent
from pytest_agentbench.agents.llm import LLM, BudgetExceeded
from pytest_agentbench.agents.shapes import Tools
from pytest_agentbench.agents.surroundings import IsolationOptions
from pytest_agentbench.benchmarks.protocol import BenchmarkError, Dataset, Sample, Submission
from pytest_agentbench.datasets import partitions
from pytest_agentbench.evaluation import MissingAnswer, evaluate
from pytest_agentbench.records import Record
from pytest_agentbench.settings import Settings

# What pytest prints unchanged in a node id and a shell can quote.
_NAME = re.compile(r"[A-Za-z_]\w*\[[!-Z^-~]+\]", re.ASCII)
_MANY_ANSWERS, _LARGE_CHUNK = 5000, 1000


class Question(NamedTuple):
    """One sample in one epoch."""

    sample: int  # its index in the data
    epoch: int


class Submitted(NamedTuple):
    """A submission and its data that were read elsewhere."""

    dataset: Dataset
    submission: Submission
    agent: loading.LoadedAgent


class Run:
    """One benchmark with one agent; the same in the controller and in every worker."""

    def __init__(
        self, settings: Settings, processes: int = 1, scored: Submitted | None = None
    ) -> None:
        self.settings = settings
        self.benchmark = settings.benchmark
        self.llm = _model(settings, processes)
        if settings.submission is None:
            self.loaded_agent = self._load_agent()
        loaded = settings.benchmark.load(settings) if scored is None else scored.dataset
        self.dataset = _checked(loaded)
        self.indices = _drawn(len(self.dataset.keys), settings.limit, settings.seed)
        self.submission: Submission | None = None
        if scored is not None:
            self.submission, self.loaded_agent = scored.submission, scored.agent
        elif settings.submission is not None:
            self.submission, self.loaded_agent = _submitted(settings, self.dataset)
        self.answered: frozenset[Question] = frozenset()  # by the run that is resumed
        self.unasked: frozenset[Question] = frozenset()  # left alone by --resume-failed-only

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The kinds of sample (``uid``; ``recommendation`` and ``review_writing``), in data order."""
        return tuple(dict.fromkeys(self.dataset.keys[index].target for index in self.indices))

    @cached_property
    def chunk(self) -> int:
        """Samples in one item. To look answers up takes far less time than an item does."""
        if self.settings.chunk is not None:
            return self.settings.chunk
        many = self.submission is not None and len(self.indices) > _MANY_ANSWERS
        return _LARGE_CHUNK if many else 1

    @cached_property
    def items(self) -> dict[str, tuple[Question, ...]]:
        """The items to collect: name in the node id -> questions, several of them in a chunk."""
        keys = self.dataset.keys
        size, epochs = self.chunk, self.settings.epochs
        found = {}
        for target in self.targets:
            own = [index for index in self.indices if keys[index].target == target]
            for start in range(0, len(own), size):
                chunk = own[start : start + size]
                first, last = keys[chunk[0]].id, keys[chunk[-1]].id
                label = first if len(chunk) == 1 else f"{first}..{last}"
                for epoch in range(1, epochs + 1):
                    suffix = f"-e{epoch}" if epochs > 1 else ""
                    questions = tuple(Question(index, epoch) for index in chunk)
                    found[f"{target}[{label}{suffix}]"] = questions
        return found

    def samples(self, asked: Any) -> Sample | list[Sample]:
        """What the fixture ``sample`` gives: a sample by its index, or a list of them (--chunk)."""
        if isinstance(asked, list):
            return [self.dataset.sample(index) for index in asked]
        return self.dataset.sample(asked)

    def _load_agent(self) -> loading.LoadedAgent:
        settings = self.settings
        options = None
        if settings.agent_isolation == "process":
            memory = settings.agent_memory
            options = IsolationOptions(
                memory=None if memory is None else memory << 20,
                environment=settings.agent_envs,
                hidden=truth.places(settings),
            )
        elsewhere = settings.agent.startswith(("builtin:", "cmd:", "http://", "https://"))
        if options is None or elsewhere:
            return loading.load(
                settings.agent, settings.bases, settings.benchmark, settings.agent_timeout, options
            )
        isolated = IsolatedAgent(
            settings.agent, settings.bases, options, settings.agent_timeout, self.llm
        )
        isolated.start()  # a mistake in its file is found before any sample is asked
        return loading.LoadedAgent(settings.agent, isolated, isolated.digest)

    @property
    def confined(self) -> bool:
        """Whether the agent runs in a process of ours that is kept from the truth."""
        return self.settings.agent_isolation == "process" and isinstance(
            self.loaded_agent.target, (CommandAgent, IsolatedAgent)
        )

    @cached_property
    def agent(self) -> Callable[[Any], Any]:
        return self._callable(self.loaded_agent.target)

    def _callable(self, agent: Any) -> Callable[[Any], Any]:
        """Agents in other processes keep the time themselves; all others are wrapped."""
        if isinstance(agent, (Agent, CommandAgent, HttpAgent, IsolatedAgent)):
            return agent
        return Agent(agent, self.settings.agent_timeout, Tools(self.llm))

    def asker(self, agent: Any, epoch: int) -> Callable[[Sample], Outcome]:
        """What answers a sample: the submission, or the agent, which sees the context alone."""
        if self.submission is not None:
            answers = self.submission.answers
            return lambda sample: look_up(answers, sample, epoch)
        call = self._callable(agent)
        return lambda sample: asking.ask(call, sample.context, self.settings.agent_retries)

    def ask_ahead(self, questions: Iterable[Question]) -> Ahead[Question]:
        """Starts to ask these questions, ``concurrency`` at a time."""

        def ask_one(question: Question) -> Outcome:
            ask = self.asker(self.agent, question.epoch)
            with output.kept() as printed:
                outcome = ask(self.dataset.sample(question.sample))
            outcome.printed = printed
            return outcome

        plan = [question for question in questions if question not in self.answered]
        return Ahead(ask_one, plan, self.settings.concurrency)

    def records_of(self, outcomes: Mapping[Question, Outcome]) -> Iterator[Record]:
        """The records of questions that were asked ahead and had no item to report them."""
        for question, outcome in outcomes.items():
            if not isinstance(outcome.error, BudgetExceeded):
                sample = self.dataset.sample(question.sample)
                yield from evaluate(self.benchmark, [sample], outcome.as_answer, question.epoch)[0]

    def questions_of(self, nodeid: str) -> tuple[Question, ...]:
        """The questions that a node id of this run names; none for any other node id."""
        prefix = f"{self.settings.nodeid}::"
        return self.items.get(nodeid[len(prefix) :], ()) if nodeid.startswith(prefix) else ()

    def close(self) -> None:
        """Ends what this process started for the agent."""
        agent = vars(self).get("agent")
        if agent is None and isinstance(self.loaded_agent.target, IsolatedAgent):
            agent = self.loaded_agent.target  # started early, to find mistakes
        if agent is not None:
            agent.close()
        if self.llm is not None:
            self.llm.close()


def look_up(answers: Mapping[str, Any], sample: Sample, epoch: int = 1) -> Outcome:
    """What a submission answers."""
    try:
        if isinstance(answers, _RunAnswers):
            return Outcome(answers.of(str(sample.key), epoch))
        return Outcome(answers[str(sample.key)])
    except KeyError:
        return Outcome(error=MissingAnswer("the submission has no answer for this sample"))


def _model(settings: Settings, processes: int) -> LLM | None:
    """The model for agents that want one, if the scenario names any."""
    if not settings.llm:
        return None
    return LLM(
        settings.llm,
        max_cost=settings.max_cost,
        max_tokens=settings.max_tokens,
        processes=processes,
    )


def _drawn(total: int, limit: int | None, seed: int) -> tuple[int, ...]:
    """All samples, or ``limit`` of them drawn with the seed (the first ones may be of one kind)."""
    if limit is None or limit >= total:
        return tuple(range(total))
    return tuple(sorted(random.Random(seed).sample(range(total), limit)))


def _checked(dataset: Dataset) -> Dataset:
    """A data set whose samples have names that pytest can show and take back."""
    if not dataset.keys:
        raise BenchmarkError(f"{dataset.description}: expected samples, got none")
    names = set()
    for key in dataset.keys:
        name = str(key)
        if not _NAME.fullmatch(name) or name in names:
            why = "a name used once" if name in names else "a plain name such as uid[80012]"
            raise BenchmarkError(
                f"{dataset.description}: expected {why} for a sample, got {name!r}"
            )
        names.add(name)
    return dataset


class _RunAnswers(Mapping[str, Any]):
    """The answers of an earlier run, epoch by epoch; long ones stay packed until they are looked up."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = {(r.sample, r.epoch): r for r in records if r.has_answer}

    def of(self, sample: str, epoch: int) -> Any:
        return self._records[sample, epoch].answer

    def __getitem__(self, sample: str) -> Any:
        return self.of(sample, 1)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(sample for sample, _ in self._records))

    def __len__(self) -> int:
        return len({sample for sample, _ in self._records})


def _submitted(settings: Settings, dataset: Dataset) -> tuple[Submission, loading.LoadedAgent]:
    """The answers of an earlier run or of a submission file, and who gave them."""
    path = settings.submission
    assert path is not None
    folder = path.parent if path.name in (runlog.SCORES, runlog.RECORDS) else path
    if (folder / runlog.RECORDS).is_file():
        manifest = runlog.read_manifest(folder)
        theirs = (manifest.get("settings") or {}).get("benchmark")
        if theirs != settings.benchmark.name:
            raise BenchmarkError(
                f"--submission: expected a run of {settings.benchmark.name}, got one of {theirs}: {path}"
            )
        theirs = (manifest.get("settings") or {}).get("epochs", 1)
        if theirs != settings.epochs:
            raise BenchmarkError(
                f"--submission: expected a run of as many epochs ({settings.epochs}), got one of "
                f"{theirs}: give --epochs {theirs}"
            )
        agent = manifest.get("agent") or {}
        return (
            Submission(_RunAnswers(runlog.read_records(folder))),
            loading.LoadedAgent(str(agent.get("name")), None, str(agent.get("digest"))),
        )
    many = settings.benchmark.reads_partitions and partitions.is_partitioned(path)
    if path.is_dir() and not many:
        raise BenchmarkError(f"--submission: expected a file or the folder of a run, got {path}")
    submission = settings.benchmark.read_submission(path, dataset, settings)
    return submission, submitting_agent(path, partitions.table_digest(path))


def submitting_agent(path: Path, digest: str) -> loading.LoadedAgent:
    """What stands for the agent where answers come from a file."""
    return loading.LoadedAgent(f"submission:{path.name}", None, digest)
