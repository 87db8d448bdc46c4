"""A scenario file: YAML read safely into one layer of settings."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import shown
from pytest_agentbench.settings.options import SettingsError
from pytest_agentbench.settings.resolve import Layer

if TYPE_CHECKING:
    import yaml

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
    import yaml  # not needed by runs without a scenario file

    try:
        loader = yaml.SafeLoader(path.read_text(encoding="utf-8-sig"))
        node = loader.get_single_node()
        _refuse_repeated_keys(path, node)
        data = None if node is None else loader.construct_document(node)
    except OSError as error:
        raise SettingsError(f"{path}: expected a scenario file: {error.strerror}") from None
    except SettingsError:
        raise
    except Exception as error:  # PyYAML fails in its own ways at impossible dates, numbers and tags
        detail = " ".join(str(error).split()) or type(error).__name__
        raise SettingsError(f"{path}: expected a scenario in YAML, got {detail[:500]}") from None
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise SettingsError(
            f"{path}: expected a mapping of settings (benchmark: …), got {type(data).__name__}"
        )
    return data


def _refuse_repeated_keys(path: Path, root: yaml.Node | None) -> None:
    """YAML lets the last of two equal keys win; whoever wrote both meant one of them."""
    open_nodes, seen = [root], set()
    while open_nodes:
        node = open_nodes.pop()
        if node is None or id(node) in seen or isinstance(node.value, str):
            continue
        seen.add(id(node))
        lines: dict[tuple[str, str], int] = {}
        for part in node.value:
            if not isinstance(part, tuple):  # an entry of a list
                open_nodes.append(part)
                continue
            key, value = part
            open_nodes += [key, value]
            if isinstance(key.value, str):
                name, line = (key.tag, key.value), key.start_mark.line + 1
                if name in lines:
                    raise SettingsError(
                        f"{path}: expected each key once, got {shown(key.value)} in line "
                        f"{lines[name]} and again in line {line}"
                    )
                lines[name] = line
