"""The BehaviorModeling data set: tasks, and the store of users, items and reviews behind them."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base import own_files
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling import layouts, sample_groups
from pytest_agentbench.benchmarks.behavior_modeling import store as stores
from pytest_agentbench.benchmarks.behavior_modeling.hidden_reviews import (
    NOTHING_HIDDEN,
    HiddenReviews,
)
from pytest_agentbench.benchmarks.behavior_modeling.layouts import Layout
from pytest_agentbench.benchmarks.behavior_modeling.store import Store, UserItemReviews
from pytest_agentbench.benchmarks.behavior_modeling.tasks import (
    RECOMMENDATION,
    REVIEW,
    Task,
    read_tasks,
)
from pytest_agentbench.benchmarks.behavior_modeling.text_models import sentiment, sets
from pytest_agentbench.benchmarks.behavior_modeling.text_models.sets import ModelSet
from pytest_agentbench.benchmarks.protocol import Dataset, Sample
from pytest_agentbench.benchmarks.sources.folders import find_folder

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.behavior_modeling.text_models.reader import Reader
    from pytest_agentbench.settings.settings import Settings

LAYOUT = "tasks, and user.json, item.json, review.json"
DEMO_FOLDER = own_files.on_disk(__package__, "demo")
HUB_REPOSITORY = "tsinghua-fib-lab/behavior-modeling-benchmark"

# Every context has these keys, as in asbench: those of the other target hold None.
_OF_EITHER_TARGET = ("candidate_category", "candidate_list", "item_id")


class BehaviorDataset(Dataset):
    """Tasks over one store, and what will be needed to score their answers."""

    def __init__(
        self,
        tasks: list[Task],
        store: Store,
        store_digest: str,
        *,
        name: str,
        seed: int = 0,
        keep_order: bool = False,
        store_parity: bool = False,
        models: ModelSet | None = None,
        without_models: str = "no text models were given",
        device: str | None = None,
        notes: Sequence[str] = (),
        other_tasks: Sequence[Task] = (),
    ) -> None:
        self.tasks = tasks
        self.store = store
        self.keys = [task.key for task in tasks]
        self.truth_known = all(task.truth is not None for task in tasks)
        self.models = models
        self.without_models = without_models
        self.notes = tuple(notes)
        self._seed = seed
        self._keep_order = keep_order
        self._device = device
        self._reader: Reader | None = None
        self._store_parity = store_parity
        asked = HiddenReviews(_asked_about([*tasks, *other_tasks]))
        self._hidden = NOTHING_HIDDEN if store_parity else asked
        self.digest = self._digest(store_digest)
        counts = dict.fromkeys((RECOMMENDATION, REVIEW), 0)
        for task in tasks:
            counts[task.target] += 1
        self.description = (
            f"{name}: {counts[RECOMMENDATION]} recommendations, {counts[REVIEW]} reviews"
            f"{', candidates in the order of the file' if keep_order else ''}"
        )

    def sample(self, index: int) -> Sample:
        """The context is the task as the file has it, without the truth, plus ``uir``.

        Keys of the other target are there and hold None, as asbench has it.

        The truth holds a copy of the candidates: an agent may change its context.
        """
        task = self.tasks[index]
        context: dict[str, Any] = dict.fromkeys(_OF_EITHER_TARGET)
        context |= copy.deepcopy(dict(task.fields))
        truth: Any = task.truth
        if task.target == RECOMMENDATION:
            context["candidate_list"] = self.candidates(task)
            truth = {"candidates": list(task.candidates), "item": task.truth}
        context["uir"] = UserItemReviews(self.store, self._hidden)
        return Sample(task.key, context, copy.deepcopy(truth))

    def candidates(self, task: Task) -> list[str]:
        """A task's candidates as the agent sees them; their order in published files is a leak."""
        listed = list(task.candidates)
        if not self._keep_order:
            random.Random(f"{self._seed} {task.key}").shuffle(listed)
        return listed

    def conditions(self) -> dict[str, str]:
        models = "none"
        if self.models is not None:
            versions = ", ".join(digest[:12] for digest in self.models.digests().values())
            models = f"{self.models.name} ({versions})"
        order = "as in the file" if self._keep_order else f"seed {self._seed}"
        store = {"store": "nothing hidden, as published"} if self._store_parity else {}
        return {"text models": models, "candidate order": order, **store}

    def cluster(self, index: int) -> str:
        return self.tasks[index].user_id

    def groups(self, index: int) -> dict[str, str]:
        return sample_groups.groups(self.tasks[index], self.store)

    def task_of(self, sample: str) -> Task:
        """The task that a record's sample names."""
        return self.tasks[self.index_of[sample]]

    def reader(self) -> Reader | None:
        """The text models; only the process that scores the run loads them."""
        if self._reader is None and self.models is not None:
            from pytest_agentbench.benchmarks.behavior_modeling.text_models.reader import Reader

            self._reader = Reader(self.models, self._device)
        return self._reader

    def _digest(self, store_digest: str) -> str:
        digest = hashlib.sha256(f"{store_digest} {self._keep_order}".encode())
        for task in self.tasks:
            parts = [str(task.key), dict(task.fields), task.truth]
            digest.update(json.dumps(parts, sort_keys=True).encode())
        return digest.hexdigest()


def load(settings: Settings) -> BehaviorDataset:
    """The data set that the settings name, after a look at the text models that will score it."""
    layout, name = find(settings)
    tasks = read_tasks(layout, settings.mode)
    models, wanted = None, settings.parameters.get("text_models")
    scored = any(task.target == REVIEW and task.truth is not None for task in tasks)
    if scored:
        models = sets.find(wanted, settings.bases)
        problem = sentiment.missing() if models is not None else None
        if problem:
            raise BenchmarkError(f"--text-models {wanted}: {problem}")
    why_none = sets.why_none(wanted) if scored and models is None else None
    opened, digest = stores.open_store(layout.store)
    device = settings.parameters.get("device")
    parity = bool(settings.parameters.get("store_parity"))
    return BehaviorDataset(
        tasks,
        opened,
        digest,
        name=name,
        seed=settings.seed,
        keep_order=bool(settings.parameters.get("keep_candidate_order")),
        store_parity=parity,
        models=models,
        without_models=f"no text models ({why_none})",
        device=None if device in ("auto", "gpu") else device,
        notes=_notes(layout, tasks, why_none, parity),
        other_tasks=_other_tasks(layout, settings.mode),
    )


def _asked_about(tasks: Sequence[Task]) -> dict[str, set[str]]:
    """The items that tasks ask about, by user. What one task hides, no other may show.

    A user's reviews of all candidates are hidden. If only that of the true item were, the others would tell
    which candidates are not the answer.
    """
    found: dict[str, set[str]] = {}
    for task in tasks:
        items = task.candidates if task.item_id is None else [task.item_id]
        found.setdefault(task.user_id, set()).update(items)
    return found


def _other_tasks(layout: Layout, mode: str) -> list[Task]:
    """The tasks of the other mode in the same folder, if it has any that can be read."""
    with contextlib.suppress(BenchmarkError):
        return read_tasks(layout, "inference" if mode == "test" else "test")
    return []


def find(settings: Settings) -> tuple[Layout, str]:
    """Where the data of the settings lie, and their name for people."""
    given = settings.parameters
    revision = given.get("revision")
    folder, name = find_folder(settings.dataset, DEMO_FOLDER, HUB_REPOSITORY, LAYOUT, revision)
    store = layouts.given_store(given.get("store"), settings.bases)
    truth = layouts.given_truth(given.get("groundtruth"), settings.bases)
    return layouts.find(folder, store, truth), name


def truth_places(settings: Settings) -> list[Path]:
    """What holds truth beside the folder of ``--dataset``: other folders of the layout, the store."""
    given = layouts.given_store(settings.parameters.get("store"), settings.bases)
    places = [] if given is None else [given]
    if isinstance(settings.dataset, Path):
        layout, _ = find(settings)
        if layout.truth is not None:
            places.append(layout.truth)
        if given is None and layout.store is not None:
            places += layouts.store_files(layout.store)
    return places


def _notes(
    layout: Layout, tasks: Sequence[Task], why_no_models: str | None, parity: bool
) -> list[str]:
    """What people should know before the first sample is asked."""
    notes = []
    double = sum(task.repeats for task in tasks)
    if double:
        named = "1 task names" if double == 1 else f"{double} tasks name"
        notes.append(f"{named} a candidate twice: it is counted once, at its first place")
    if layout.store is None:
        notes.append(f"no {', '.join(layouts.STORE_FILES)}: the store answers nothing")
    if parity:
        notes.append("--store-parity: the store hides nothing, so agents can read the truth there")
    if why_no_models is not None:
        notes.append(
            f"text models: none ({why_no_models}); emotion, topic and what needs them will be absent"
        )
    return notes
