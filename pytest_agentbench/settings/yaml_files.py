"""YAML files of people, read safely: a mapping of texts in which every key stands once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import shown
from pytest_agentbench.settings.options import SettingsError

if TYPE_CHECKING:
    import yaml


def mapping_in(path: Path, what: str) -> dict[str, Any]:
    """What a file holds; ``what`` says in errors what was expected (``a scenario``). JSON is YAML, too."""
    import yaml  # not needed by runs without such a file

    try:
        loader = yaml.SafeLoader(path.read_text(encoding="utf-8-sig"))
        node = loader.get_single_node()
        _refuse_repeated_keys(path, node)
        data = None if node is None else loader.construct_document(node)
    except OSError as error:
        raise SettingsError(f"{path}: expected {what} file: {error.strerror}") from None
    except SettingsError:
        raise
    except Exception as error:  # PyYAML fails in its own ways at impossible dates, numbers and tags
        detail = " ".join(str(error).split()) or type(error).__name__
        raise SettingsError(f"{path}: expected {what} in YAML, got {detail[:500]}") from None
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise SettingsError(
            f"{path}: expected a mapping of settings ({what}), got {type(data).__name__}"
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
