"""The BehaviorModeling data set: tasks, and the store of users, items and reviews behind them."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling import sample_groups
from pytest_agentbench.benchmarks.behavior_modeling import store as stores
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

LAYOUT = "user.json, item.json, review.json and tasks"
DEMO_FOLDER = Path(__file__).with_name("demo")
HUB_REPOSITORY = "tsinghua-fib-lab/behavior-modeling-benchmark"


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
        models: ModelSet | None = None,
        without_models: str = "no text models were given",
        device: str | None = None,
    ) -> None:
        self.tasks = tasks
        self.store = store
        self.keys = [task.key for task in tasks]
        self.truth_known = all(task.truth is not None for task in tasks)
        self.models = models
        self.without_models = without_models
        self._seed = seed
        self._keep_order = keep_order
        self._device = device
        self._reader: Reader | None = None
        self._index = {str(key): index for index, key in enumerate(self.keys)}
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

        The truth holds a copy of the candidates: an agent may change its context.
        """
        task = self.tasks[index]
        context: dict[str, Any] = copy.deepcopy(dict(task.fields))
        hidden = [task.item_id] if task.item_id is not None else task.candidates
        truth: Any = task.truth
        if task.target == RECOMMENDATION:
            context["candidate_list"] = self.candidates(task)
            truth = {"candidates": list(task.candidates), "item": task.truth}
        # The user's reviews of all candidates are hidden. If only that of the true item were, the
        # others would tell which candidates are not the answer.
        context["uir"] = UserItemReviews(self.store, task.user_id, hidden)
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
        return {"text models": models, "candidate order": order}

    def cluster(self, index: int) -> str:
        return self.tasks[index].user_id

    def groups(self, index: int) -> dict[str, str]:
        return sample_groups.groups(self.tasks[index], self.store)

    def task_of(self, sample: str) -> Task:
        """The task that a record's sample names."""
        return self.tasks[self._index[sample]]

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
    revision = settings.parameters.get("revision")
    folder, name = find_folder(settings.dataset, DEMO_FOLDER, HUB_REPOSITORY, LAYOUT, revision)
    folder = data_folder(folder)
    tasks = read_tasks(folder, settings.mode)
    models, wanted = None, settings.parameters.get("text_models")
    if any(task.target == REVIEW and task.truth is not None for task in tasks):
        models = sets.find(wanted, settings.bases)
        problem = sentiment.missing() if models is not None else None
        if problem:
            raise BenchmarkError(f"--text-models {wanted}: {problem}")
    opened, digest = stores.open_store(folder)
    device = settings.parameters.get("device")
    return BehaviorDataset(
        tasks,
        opened,
        digest,
        name=name,
        seed=settings.seed,
        keep_order=bool(settings.parameters.get("keep_candidate_order")),
        models=models,
        without_models=sets.why_none(wanted),
        device=None if device == "auto" else device,
    )


def data_folder(path: Path) -> Path:
    """The folder itself, or the only folder in it, that has ``user.json``."""
    if _has_users(path):
        return path
    inner = [folder for folder in sorted(path.iterdir()) if folder.is_dir() and _has_users(folder)]
    if len(inner) != 1:
        listed = ", ".join(folder.name for folder in inner) or "none"
        raise BenchmarkError(
            f"dataset {path}: expected user.json in it or in one folder of it, got {listed}"
        )
    return inner[0]


def _has_users(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("user.json", "user.json.gz"))
