"""A scenario file: YAML read safely into one layer of settings."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

from pytest_agentbench.settings.options import SettingsError
from pytest_agentbench.settings.resolve import Layer
from pytest_agentbench.settings.yaml_files import mapping_in

SUFFIXES = (".yaml", ".yml")
_OURS = re.compile(rb"""^(\xef\xbb\xbf)?['"]?benchmark['"]?\s*:""", re.MULTILINE)


def is_scenario(path: Path) -> bool:
    """Whether a file given as a test path is ours: YAML with a top-level ``benchmark`` key."""
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    try:
        return "benchmark" in _parsed(path)
    except SettingsError:  # whose it is can be seen all the same; `read` says what is wrong
        with contextlib.suppress(OSError):
            return _OURS.search(path.read_bytes()) is not None
        return False


def read(path: Path) -> Layer:
    """The keys of a scenario file; what they may hold is checked when settings are resolved."""
    values = _parsed(path)
    if "benchmark" not in values:
        raise SettingsError(
            f"{path}: expected the key 'benchmark', got {', '.join(values)[:200] or 'none'}"
        )
    return Layer(where=lambda key: f"{path}: {key}", values=values, base=path.parent)


def _parsed(path: Path) -> dict[str, Any]:
    return mapping_in(path, "a scenario")
