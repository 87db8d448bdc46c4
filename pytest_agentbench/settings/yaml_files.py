"""YAML files of people, read safely: a mapping of texts in which every key stands once."""

from __future__ import annotations

import re
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
        text = path.read_text(encoding="utf-8-sig")
        _refuse_deep(path, text)
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is not None:
            _refuse_repeated_keys(path, node)
            _refuse_what_grows(path, node)
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


MOST_VALUES = 100_000  # with those that aliases repeat
MOST_LEVELS = 100
_BRACKETS = re.compile(r"[][{}]")


def _refuse_deep(path: Path, text: str) -> None:
    """PyYAML takes seconds for brackets within brackets, until Python stops it."""
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MOST_LEVELS:
            line = text.count("\n", 0, bracket.start()) + 1
            raise SettingsError(
                f"{path}: expected at most {MOST_LEVELS} brackets within each other, got more in line {line}"
            )


def _refuse_what_grows(path: Path, root: yaml.Node) -> None:
    """A few lines of aliases (``&a``, ``*a``) may stand for more values than there is memory, or for no end."""
    sizes: dict[int, int | None] = {}  # by node; None while it is open
    waiting = [root]
    while waiting:
        node = waiting[-1]
        if isinstance(node.value, str):
            sizes[id(node)] = 1
        if sizes.get(id(node)) is not None:
            waiting.pop()
            continue
        parts = [p for part in node.value for p in (part if isinstance(part, tuple) else (part,))]
        opened = id(node) in sizes
        sizes[id(node)] = None
        if not opened:
            inside = next((p for p in parts if sizes.get(id(p), 1) is None), None)
            if inside is not None:
                line = inside.start_mark.line + 1
                raise SettingsError(
                    f"{path}: expected values that end, got one that holds itself in line {line}"
                )
            waiting += parts
            continue
        sizes[id(node)] = total = 1 + sum(sizes[id(part)] or 0 for part in parts)
        if total > MOST_VALUES:
            raise SettingsError(
                f"{path}: expected at most {MOST_VALUES} values, got more, by aliases (*name), in line "
                f"{node.start_mark.line + 1}"
            )


def _refuse_repeated_keys(path: Path, root: yaml.Node) -> None:
    """YAML lets the last of two equal keys win; whoever wrote both meant one of them."""
    open_nodes: list[yaml.Node] = [root]
    seen: set[int] = set()
    while open_nodes:
        node = open_nodes.pop()
        if id(node) in seen or isinstance(node.value, str):
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
