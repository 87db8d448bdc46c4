"""Answers that exist already: recognised, and matched with the tasks they answer.

An entry of a file names its task by ``task_id``, or by what tells it from all others (``user_id``
and ``item_id``). Only where no entry of a file names one, its order counts.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import BenchmarkError, InvalidAnswer, shown
from pytest_agentbench.base.plain import is_id
from pytest_agentbench.base.progress import say
from pytest_agentbench.benchmarks.behavior_modeling import answer_files, answers, data, layouts
from pytest_agentbench.benchmarks.behavior_modeling.answer_files import Entry
from pytest_agentbench.benchmarks.behavior_modeling.tasks import (
    RECOMMENDATION,
    REVIEW,
    TARGETS,
    Task,
    read_tasks,
)
from pytest_agentbench.benchmarks.protocol import Sample, Submission
from pytest_agentbench.benchmarks.sources.folders import find_folder

if TYPE_CHECKING:
    from pytest_agentbench.runs.record import Record

SHOWN = 20  # problems that a run lists; `agentbench validate` lists all

ASBENCH = "asbench's result rows"
SIMULATOR = "WebSocietySimulator's outputs with their tasks"
RECORDS = "records of a run"
BY_TASK = "answers by task_id"
BY_USER = "answers by user_id and item_id"
IN_ORDER = "outputs in the order of the tasks"

_ANSWER = {"item_list": RECOMMENDATION, "stars": REVIEW, "review": REVIEW}
_WRAPPED = ("result", "output", "answer")  # asbench's, WebSocietySimulator's, our records'
_DESCRIPTIONS = ("context", "task")  # of the task, beside an answer
_FACTS = ("task_id", "target", "user_id", "item_id", "candidate_list")
_HOW_TO_NAME = "expected task_id, or user_id and item_id"


@dataclass(frozen=True)
class _Row:
    """What an entry says: of which task, and what the answer is (None if it has none)."""

    shape: str | None  # None where it does not name its task
    facts: Mapping[str, Any]
    answer: Any
    error: Any = None  # what it says instead of an answer

    @property
    def targets(self) -> Collection[str]:
        """The kinds of task that such an answer may answer."""
        if isinstance(self.answer, list):
            return {RECOMMENDATION}
        named = self.answer if isinstance(self.answer, dict) else {}
        return {_ANSWER[name] for name in _ANSWER if named.get(name) is not None} or TARGETS


@dataclass
class Found:
    """What a file answers, and what is wrong with it, in the order of the file."""

    described: str = ""  # one line: which of the known shapes it has
    answers: dict[str, Any] = field(default_factory=dict)  # by str(task.key)
    places: dict[str, int] = field(default_factory=dict)  # the number of the entry, likewise
    silent: list[tuple[int, str]] = field(default_factory=list)  # entries without an answer
    problems: list[tuple[int, str]] = field(default_factory=list)  # those that fit no task


class _Mismatch(ValueError):
    """An entry that answers none of the tasks."""


def read_submission(path: Path, tasks: Sequence[Task]) -> Submission:
    """The answers in a file, and the problems of its entries. A task may be missing in the answers."""
    found, _ = match(path, tasks)
    problems = [problem for _, problem in found.problems]
    if not found.answers:
        first = f"; {problems[0]}" if problems else ""
        raise BenchmarkError(
            f"{path}: expected answers to the {len(tasks)} tasks, got none (is it of another "
            f"--dataset or --mode?){first}"
        )
    if len(problems) > SHOWN:
        more = f"{path}: … and {len(problems) - SHOWN} more; `agentbench validate` lists them all"
        problems[SHOWN:] = [more]
    return Submission(found.answers, tuple(problems), found.described)


def written(records: Sequence[Record]) -> str:
    """The answers of a run as JSON Lines by ``task_id``; of several epochs the first."""
    lines = []
    for record in records:
        if record.epoch == 1 and record.answer is not None:
            answer = record.answer if record.status == "ok" else {"answer": record.answer}
            task_id = record.sample.partition("[")[2].removesuffix("]")
            lines.append(json.dumps({"task_id": task_id, **answer}))
    return "".join(f"{line}\n" for line in lines)


def problems_of(path: Path, tasks: Sequence[Task]) -> tuple[str, list[str]]:
    """What a file was recognised as, and all that is wrong with it: first its entries, in their order."""
    found, entries = match(path, tasks)
    problems = [*found.problems, *found.silent]
    missing = []
    for task in tasks:
        key = str(task.key)
        if key in found.answers:
            truth = {"candidates": list(task.candidates)}
            try:
                answers.check(Sample(task.key, None, truth), found.answers[key])
            except InvalidAnswer as invalid:
                number = found.places[key]
                problems.append((number, f"{entries[number].where}: {key}: {invalid}"))
        elif key not in found.places:
            missing.append(f"{path}: {key}: expected an answer, got none")
    return found.described, [*(text for _, text in sorted(problems)), *missing]


def validate(path: Path, parameters: Mapping[str, Any], dataset: Path | None) -> list[str]:
    """All problems of a file as a submission; a line says as what it was read."""
    if not path.is_file():
        raise BenchmarkError(f"{path}: no such file; expected answers")
    tasks = _tasks(parameters, dataset)
    try:
        described, problems = problems_of(path, tasks)
    except BenchmarkError as error:  # the file as a whole is the problem
        return [str(error)]
    say(described)
    return problems


def _tasks(parameters: Mapping[str, Any], dataset: Path | None) -> list[Task]:
    """The tasks of a data set, without its store."""
    given = dataset if dataset is not None and str(dataset) not in ("demo", "hub") else None
    folder, _ = find_folder(
        given or str(dataset or "demo"),
        data.DEMO_FOLDER,
        data.HUB_REPOSITORY,
        data.LAYOUT,
        parameters["revision"],
    )
    return read_tasks(layouts.find(folder), parameters["mode"])


def match(path: Path, tasks: Sequence[Task]) -> tuple[Found, Sequence[Entry]]:
    """The entries of a file, matched with the tasks."""
    file = answer_files.read(path, _is_answer)
    rows = [_row(entry.value) if entry.fault is None else None for entry in file.entries]
    shapes = list(dict.fromkeys(row.shape for row in rows if row is not None and row.shape))
    in_order = not shapes
    if in_order:
        for entry in file.entries:
            answer_files.refuse_evaluation(path, entry.value)
        _require_order(path, len(rows), tasks)
    index, found = _Index(tasks), Found()
    for number, (entry, row) in enumerate(zip(file.entries, rows, strict=True)):
        try:
            if row is None:
                raise _Mismatch(entry.fault or f"expected an answer, got {shown(entry.value)}")
            if row.answer is None and row.shape is None:  # which task it is does not matter
                found.silent.append((number, f"{entry.where}: {_nothing(row)}"))
                continue
            task = tasks[number] if in_order else index.find(row)
            _add(found, number, task, row, file.entries)
        except _Mismatch as mismatch:
            found.problems.append((number, f"{entry.where}: {mismatch}"))
    found.described = (
        f"{path.name}: {' and '.join(shapes) or IN_ORDER} ({file.format}), {len(found.answers)} of "
        f"{len(tasks)} tasks answered"
    )
    return found, file.entries


def _add(found: Found, number: int, task: Task, row: _Row, entries: Sequence[Entry]) -> None:
    key = str(task.key)
    if task.target not in row.targets:
        raise _Mismatch(f"expected an answer to {key}, got one to a {', '.join(row.targets)}")
    if key in found.places:
        before = entries[found.places[key]].where.rpartition(", ")[2]
        raise _Mismatch(f"expected one answer to {key}, got another ({before} counts)")
    found.places[key] = number
    if row.answer is not None:
        found.answers[key] = _once(task, row.answer)
    else:
        found.silent.append((number, f"{entries[number].where}: {key}: {_nothing(row)}"))


def _nothing(row: _Row) -> str:
    said = "" if row.error is None else f" but {shown(row.error)}"
    return f"expected an answer, got none{said}"


def _once(task: Task, answer: Any) -> Any:
    """An answer without the repeats that its task had: some files name a candidate twice."""
    listed = task.fields.get("candidate_list")
    ranked = answer.get("item_list") if isinstance(answer, dict) else answer
    if not isinstance(listed, list) or not isinstance(ranked, list) or not all(map(is_id, ranked)):
        return answer
    twice = {item for item, count in Counter(map(str, listed)).items() if count > 1}
    kept = [
        item for n, item in enumerate(ranked) if str(item) not in twice or item not in ranked[:n]
    ]
    return answer if len(kept) == len(ranked) else {"item_list": kept}


def _is_answer(value: Any) -> bool:
    """Whether a value of a file looks like an entry; a list might be anything."""
    return isinstance(value, dict) and any(name in value for name in (*_ANSWER, *_WRAPPED))


def _row(value: Any) -> _Row | None:
    """An entry in any of the known shapes; None for anything else."""
    if value is None or isinstance(value, list):
        return _Row(None, {}, value)
    if not isinstance(value, dict):
        return None
    described = [value, *(value[k] for k in _DESCRIPTIONS if isinstance(value.get(k), dict))]
    facts: dict[str, Any] = {}
    for part in described:
        facts |= {name: part[name] for name in _FACTS if part.get(name) is not None}
    shape = BY_TASK if "task_id" in facts else BY_USER if facts else None
    if "context" in value and value.get("id") is not None:
        shape, facts["task_id"] = ASBENCH, value["id"]
    elif "sample" in value:
        shape, facts["sample"] = RECORDS, value["sample"]
    elif shape is not None and "task" in value:
        shape = SIMULATOR
    wrapped = [value[name] for name in _WRAPPED if name in value]
    answer = wrapped[0] if wrapped else {k: value[k] for k in _ANSWER if value.get(k) is not None}
    if answer is not None and answer != {}:  # asbench keeps {} for an agent that failed
        return _Row(shape, facts, answer)
    if shape is None and not wrapped and "error" not in value:
        return None
    return _Row(shape, facts, None, value.get("error"))


class _Index:
    """Finds the task that an entry names."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._count = len(tasks)
        self._by_key = {str(task.key): task for task in tasks}
        self._by_id = {task.key.id: task for task in tasks}
        self._by_user: dict[str, list[Task]] = defaultdict(list)
        for task in tasks:
            self._by_user[task.user_id].append(task)

    def find(self, row: _Row) -> Task:
        facts = row.facts
        for name, known in (("sample", self._by_key), ("task_id", self._by_id)):
            if name in facts:
                task = known.get(_named(facts[name], name))
                if task is None:
                    raise _Mismatch(
                        f"expected {name} to be one of the {self._count} tasks, got {shown(facts[name])}"
                    )
                for fact, theirs in _differences(task, facts):
                    raise _Mismatch(
                        f"expected {fact} {shown(theirs)}, as {task.key} has it, got {shown(facts[fact])}"
                    )
                return task
        if "user_id" not in facts:
            raise _Mismatch(f"{_HOW_TO_NAME}, got neither")
        return self._by_facts(facts, row.targets)

    def _by_facts(self, facts: Mapping[str, Any], targets: Collection[str]) -> Task:
        fitting = [
            task
            for task in self._by_user.get(_named(facts["user_id"], "user_id"), ())
            if task.target in targets and not any(_differences(task, facts))
        ]
        if len(fitting) == 1:
            return fitting[0]
        told = " and ".join(f"{name} {shown(value)}" for name, value in facts.items())
        if not fitting:
            raise _Mismatch(f"expected one of the {self._count} tasks, got {told}")
        several = ", ".join(str(task.key) for task in fitting[:5])
        raise _Mismatch(
            f"expected {told} to name one task, got {len(fitting)} ({several}); give task_id"
        )


def _named(value: Any, name: str) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # data frames make numbers of ids
    if not is_id(value):
        raise _Mismatch(f"expected {name} to be a text or a whole number, got {shown(value)}")
    return str(value)


def _differences(task: Task, facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What an entry says of its task that is not so, with what is."""
    own = {"target": task.target, "user_id": task.user_id, "item_id": task.item_id}
    for name, value in own.items():
        if name in facts and (value is None or _named(facts[name], name) != value):
            yield name, value
    if "candidate_list" in facts:
        given = facts["candidate_list"]  # in any order: they are shuffled for the agent
        fine = isinstance(given, list) and all(map(is_id, given))
        if not fine or {str(item) for item in given} != set(task.candidates):
            yield "candidate_list", list(task.candidates)


def _require_order(path: Path, count: int, tasks: Sequence[Task]) -> None:
    """Outputs that name no task are told apart by their order alone: it must be beyond doubt."""
    if count != len(tasks):
        raise BenchmarkError(
            f"{path}: expected {len(tasks)} outputs, one a task in their order, got {count}; else name "
            f"the tasks: {_HOW_TO_NAME} in every entry"
        )
