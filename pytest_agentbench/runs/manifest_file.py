"""What manifest.json holds, as far as a run that is read back needs it, as frozen dataclasses.

It is data of whoever made the run. Code, paths, commands and addresses in it are shown and compared, and
never loaded, opened, run or asked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_agentbench.base import typed_json
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.typed_json import FromOne, Number
from pytest_agentbench.runs.scores_file import AgentFacts, DataFacts
from pytest_agentbench.settings.sharding import Shard

SCHEMA = 1  # of manifest, records and scores: raised when an older version would misread them


@dataclass(frozen=True)
class SettingsFacts:
    """The settings that are needed before the benchmark is known; it knows the types of the others."""

    benchmark: str | None = None
    benchmark_class: str | None = None  # for people: it is never imported
    dataset: str = "demo"
    epochs: FromOne = 1
    parameters: Mapping[str, Number | bool | str | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The manifest of a run. The fields are keys of the file; ``plain`` is the whole of it."""

    schema: int
    started: str = ""
    settings: SettingsFacts = SettingsFacts()
    shard: Shard | None = None
    agent: AgentFacts = field(default_factory=AgentFacts)
    dataset: DataFacts = field(default_factory=DataFacts)
    versions: Mapping[str, str] = field(default_factory=dict)
    resumed: tuple[str, ...] = ()
    plain: Mapping[str, Any] = field(default_factory=dict)

    @property
    def plain_settings(self) -> Mapping[str, Any]:
        """All settings as they were written, for :meth:`Settings.from_manifest`."""
        found: Mapping[str, Any] = self.plain.get("settings") or {}
        return found

    @staticmethod
    def from_json(data: Mapping[str, Any], where: Path) -> Manifest:
        """The manifest in a file; where it holds anything else, a BenchmarkError names file and key."""
        if data.get("schema") != SCHEMA or isinstance(data["schema"], bool):
            versions = data.get("versions")
            made_by = versions.get("pytest-agentbench") if isinstance(versions, dict) else None
            raise BenchmarkError(
                f"{where}: expected the manifest of a run in schema {SCHEMA}, got schema "
                f"{data.get('schema')!s:.80}; nothing of it is changed: read it with the version that "
                f"made it (pytest-agentbench {made_by or 'unknown'!s:.80})"
            )
        given = {key: value for key, value in data.items() if value is not None and key != "plain"}
        if isinstance(given.get("settings"), dict):
            given["settings"] = {k: v for k, v in given["settings"].items() if v is not None}
        try:
            manifest: Manifest = typed_json.typed(Manifest, given)
        except ValueError as error:
            raise BenchmarkError(f"{where}: {error}") from None
        return dataclasses.replace(manifest, plain=data)
