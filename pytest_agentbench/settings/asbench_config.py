"""asbench's own files: the one it calls its config (models), and the one that describes an agent.

Their keys become settings, the weakest there are. What has no meaning here is passed over and named; what
would change the answers and cannot be had is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_agentbench.agents import specs
from pytest_agentbench.settings.options import SettingsError
from pytest_agentbench.settings.yaml_files import mapping_in

SUFFIXES = (".yaml", ".yml", ".json")

# Keys of theirs, and what they are called here.
_AGENT_KEYS = {"agent_class": "agent", "agent_params": "agent_params", "number": "concurrency"}
_KEYS = {"llm": "llm", "mode": "mode", **_AGENT_KEYS}
_NOT_HERE = (
    "blocks", "tools", "memory_config_func", "memory_from_file", "memory_distributions",
)  # fmt: skip


@dataclass(frozen=True)
class AsbenchFile:
    """What a file says, by our keys."""

    path: Path
    values: Mapping[str, Any]
    passed_over: tuple[str, ...]

    def where(self, key: str) -> str:
        """A key of ours as the file has it."""
        theirs = next((name for name, ours in _KEYS.items() if ours == key), key)
        return f"{self.path}: {theirs}"

    def beside(self, named: str, bases: Sequence[Path]) -> AsbenchFile:
        """The agent's own file found beside this one, which was ``named`` so, if it is in no base itself."""
        agent, folder = self.values.get("agent"), Path(named).expanduser().parent
        file = specs.file_in(agent) if isinstance(agent, str) else None
        if file is None or any((base / file).is_file() for base in bases):
            return self
        if not any((base / folder / file).is_file() for base in bases):
            return self
        return replace(self, values={**self.values, "agent": (folder / str(agent)).as_posix()})

    @property
    def notes(self) -> tuple[str, ...]:
        """The line that names what was passed over, if anything was."""
        keys = ", ".join(self.passed_over)
        return (f"{self.path.name}: without a meaning here: {keys}",) if keys else ()


def read_config(path: Path) -> AsbenchFile:
    """``llm`` (a list or one mapping), ``mode``, and perhaps the keys of an agent's file."""
    file = _read(path, "asbench's config", _KEYS)
    if "llm" in file.values:
        llm = file.values["llm"]
        listed = [_entry(one) for one in (llm if isinstance(llm, list) else [llm])]
        return replace(file, values={**file.values, "llm": listed})
    return file


def read_agent(path: Path) -> AsbenchFile:
    """``agent_class`` (``file.py``, ``file.py:Name``, ``package.module:Name``), ``agent_params``, ``number``."""
    file = _read(path, "the description of an agent", _AGENT_KEYS)
    if "agent" not in file.values:
        raise SettingsError(f"{path}: expected the key agent_class, got none")
    if str(file.values["agent"]).lower().endswith(SUFFIXES):
        raise SettingsError(
            f"{path}: agent_class: expected file.py, file.py:Name or package.module:Name, got "
            f"{file.values['agent']!r}"
        )
    return file


def _read(path: Path, what: str, keys: Mapping[str, str]) -> AsbenchFile:
    given = {key: value for key, value in mapping_in(path, what).items() if value is not None}
    for key in _NOT_HERE:
        if given.pop(key, None):  # empty, it says nothing
            raise SettingsError(
                f"{path}: {key}: expected none, for agents get no {key.replace('_', ' ')} here; set them up in "
                f"the agent's __init__ and remove the key"
            )
    values = {keys[key]: value for key, value in given.items() if key in keys}
    return AsbenchFile(path, values, tuple(key for key in given if key not in keys))


def _entry(given: Any) -> Any:
    """An entry of ``llm`` as ours: ``semaphore`` is an older name, and an empty key is none."""
    if not isinstance(given, Mapping):
        return given
    entry = dict(given)
    if "semaphore" in entry:
        entry.setdefault("concurrency", entry.pop("semaphore"))
        entry.pop("semaphore", None)
    if entry.get("api_key") == "":
        del entry["api_key"]
    return entry
