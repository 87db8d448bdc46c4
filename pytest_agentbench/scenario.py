"""A scenario file: YAML read safely into one layer of settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_agentbench.settings import Layer, SettingsError

SUFFIXES = (".yaml", ".yml")


def is_scenario(path: Path) -> bool:
    """Whether a file given as a test path is ours: YAML with a top-level ``benchmark`` key."""
    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        return False
    try:
        return "benchmark" in _parsed(path)
    except SettingsError:
        return False


def read(path: Path) -> Layer:
    """The keys of a scenario file; what they may hold is checked when settings are resolved."""
    values = _parsed(path)
    if "benchmark" not in values:
        raise SettingsError(
            f"{path}: expected the key 'benchmark', got {', '.join(values) or 'none'}"
        )
    return Layer(where=lambda key: f"{path}: {key}", values=values, base=path.parent)


def _parsed(path: Path) -> dict[str, Any]:
    import yaml  # not needed by runs without a scenario file

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{path}: expected a scenario file: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        detail = " ".join(str(error).split())
        raise SettingsError(f"{path}: expected a scenario in YAML, got {detail}") from None
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise SettingsError(
            f"{path}: expected a mapping of settings (benchmark: …), got {type(data).__name__}"
        )
    return data
