"""Where the hub's client keeps what it downloads, and our notes on what was verified.

Nothing here imports the client or uses a network.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_agentbench.base.files import cache_folder


def home() -> Path:
    """The client's folder, by its documented variables."""
    if given := os.environ.get("HF_HOME"):
        return Path(given).expanduser()
    # The client does so on every system, whatever their own cache folders are.
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"


def folder() -> Path:
    """The folder of downloaded repositories."""
    given = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return Path(given).expanduser() if given else home() / "hub"


def repository(repo_id: str, repo_type: str) -> Path:
    """The folder of one repository; ``repo_type`` is ``dataset`` or ``model``."""
    return folder() / f"{repo_type}s--{repo_id.replace('/', '--')}"


def note(repo_id: str, revision: str | None, files: Sequence[str] | None, repo_type: str) -> Path:
    """Our note of a verified copy: its commit, its folder and the sizes of its files."""
    asked = json.dumps([revision, sorted(files) if files is not None else None])
    digest = hashlib.sha256(asked.encode()).hexdigest()[:12]
    return _notes() / f"{repo_type}-{repo_id.replace('/', '--')}-{digest}.json"


def _notes() -> Path:
    return cache_folder() / "hub"


def copies(repo_id: str) -> Iterator[Path]:
    """Every place where a data set of the hub may lie on this machine."""
    yield repository(repo_id, "dataset")
    yield home() / "xet"  # chunks of downloads
    for note in _notes().glob(f"dataset-{repo_id.replace('/', '--')}-*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            yield Path(json.loads(note.read_text(encoding="utf-8"))["folder"])
