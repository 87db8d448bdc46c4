"""Where a sample or a gate stands, for reports that point to a file: never in this package.

A sample's place is its agent, a gate's the line that demands it. Files are read and not run: xdist's controller imports no agent.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FunctionType

import pytest

from pytest_agentbench.agents import find, specs
from pytest_agentbench.agents.framework_calls import METHODS
from pytest_agentbench.settings.model_options import parted
from pytest_agentbench.settings.settings import Settings

# A path, and a line of it counted from 0, as pytest counts.
Location = tuple[Path, int]

# The attributes of an item that say its location, or look it up.
_LOCATING = ("location", "reportinfo")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def of_samples(settings: Settings, root: Path, fixture: Location | None = None) -> Location:
    """The definition of the agent, be it a fixture; else the data's file, the scenario, or a path that says the benchmark."""
    if settings.submission is not None:
        return settings.submission, 0
    if specs.is_code(settings.agent):
        file = find.file_of(settings.agent, settings.bases)
        file = file or find.module_source(settings.agent, settings.bases)
        if file is not None:
            return file, _definition(file, find.name_in(settings.agent))
    if fixture is not None:
        return fixture
    if isinstance(settings.dataset, Path) and settings.dataset.is_file():
        return settings.dataset, 0
    return root / settings.nodeid, 0


def of_gate(gate: str, nodeid: str, root: Path, ini: Path | None) -> Location:
    """The line of the scenario or the ini file that has the gate; else no line of any file (command line)."""
    for file in (root / parted(nodeid)[0], ini):
        line = None if file is None else _line_with(gate, _text(file))
        if file is not None and line is not None:
            return file, line
    return root / nodeid, 0


def place(function: FunctionType, location: Location) -> None:
    """Lets pytest, which asks a function's code, report that place for it."""
    path, line = location
    function.__code__ = function.__code__.replace(co_filename=str(path), co_firstlineno=line + 1)


def share(item: pytest.Item, known: dict[object, tuple[str, int | None]]) -> None:
    """Gives an item of ours its ``location``: those of one function differ in nothing but the name.

    pytest looks the line up anew for each item, which takes 25 us, and keeps it under this name. Where it does
    so no more, or somebody has changed how it looks it up, nothing is shared.
    """
    if type(item) is not pytest.Function or not vars(item).keys().isdisjoint(_LOCATING):
        return
    place = known.get(item.function)
    if place is not None:
        vars(item)["location"] = (*place, item.name)
        return
    path, line, name = item.location
    if name == item.name:
        known[item.function] = path, line


def _line_with(gate: str, text: str) -> int | None:
    """
    >>> _line_with("accuracy >= 1", 'gates:\\n  - coverage >= 1\\n  - "accuracy >= 1"  # all of it\\n')
    2
    >>> _line_with("accuracy >= 1", "- accuracy >= 10") is None
    True
    """
    wanted = re.compile(rf"(?<![\w:.(]){re.escape(''.join(gate.split()))}(?![\w.])")
    lines = enumerate("".join(line.split()) for line in text.splitlines())
    return next((number for number, line in lines if wanted.search(line)), None)


def _definition(file: Path, name: str | None) -> int:
    """The line of the agent's definition; the first line where that is not clear from the text."""
    try:
        body = ast.parse(_text(file)).body
    except (SyntaxError, ValueError):
        return 0
    if name is not None:
        found = [node for node in body if name in _names(node)]
    else:
        public = [node for node in body if not any(one.startswith("_") for one in _names(node))]
        classes = [node for node in public if isinstance(node, ast.ClassDef) and _is_agent(node)]
        found = [*classes] or [node for node in public if isinstance(node, _FUNCTIONS)]
        if len(found) > 1:
            return 0
    return found[-1].lineno - 1 if found else 0


def _names(node: ast.stmt) -> Sequence[str]:
    """The names that a statement at the top of a module gives something to."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return [node.name]
    targets: Iterable[ast.expr] = node.targets if isinstance(node, ast.Assign) else ()
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _is_agent(node: ast.ClassDef) -> bool:
    return any(isinstance(one, _FUNCTIONS) and one.name in ("step", *METHODS) for one in node.body)


def _text(file: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return file.read_text(encoding="utf-8")
    return ""
