"""Where this user's own runs found their data, by what their manifests say.

A run that is read back may be somebody else's, so that a path in its manifest is not opened: it may name
any file of ours, a pipe, or a share of another machine. It is opened where a command of this user has
named the same place for data of the same digest before. That is noted here, in the user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_agentbench.base import typed_json
from pytest_agentbench.base.files import cache_folder, write_whole
from pytest_agentbench.settings.settings import Settings


@dataclass(frozen=True)
class Places:
    """The data set and those of the benchmark's parameters that name places, with absolute paths."""

    dataset: str
    parameters: Mapping[str, str]


def remember(settings: Settings, digest: str) -> None:
    """Notes where the data of a run of this user's lie; a cache that cannot be written notes nothing."""
    named = named_in(settings)
    if named is None:
        return
    absolute = Places(
        _absolute(named.dataset, settings),
        {name: _absolute(value, settings) for name, value in named.parameters.items()},
    )
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: no home folder
        write_whole(_note(settings, named, digest), json.dumps(vars(absolute)))


def recalled(settings: Settings, digest: str) -> Places | None:
    """The places of the settings in a manifest, if a run of this user's named them for these data."""
    named = named_in(settings)
    if named is None:
        return None
    try:
        found = _note(settings, named, digest).read_text(encoding="utf-8")
        places: Places = typed_json.typed(Places, typed_json.parsed(found))
    except (OSError, ValueError, RuntimeError):
        return None
    return places


def named_in(settings: Settings) -> Places | None:
    """What settings name that would be opened; None where that is nothing but the demo data."""
    own = {one.name: one for one in settings.benchmark.parameters}
    parameters = {
        name: str(value)
        for name, value in settings.parameters.items()
        if name in own and own[name].is_place(value)
    }
    dataset = str(settings.dataset)
    return Places(dataset, parameters) if parameters or dataset != "demo" else None


def _note(settings: Settings, named: Places, digest: str) -> Path:
    said = json.dumps([settings.benchmark.name, digest, vars(named)], sort_keys=True)
    name = hashlib.sha256(said.encode()).hexdigest()[:32]
    return cache_folder() / "places" / f"{name}.json"


def _absolute(value: str, settings: Settings) -> str:
    """A place as it is found from any folder; a word or a revision stays as it is."""
    for base in settings.bases:
        path = base / Path(value).expanduser()
        if path.exists():
            return str(path.absolute())
    return value
