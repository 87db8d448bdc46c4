"""What :mod:`compat` is for, around fixtures and parameters: who defines one, and what an item is given.

pytest shows this to nobody before it runs a fixture. Where a name is gone, functions raise, or say what they do without it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_agentbench.plugin.compat import _get

Function = Callable[..., Any]

_DEFINITION = type(pytest.fixture(lambda: None))


def fixtures_in(plugin: object, name: str) -> list[Function]:
    """The functions of the fixtures of this name that a plugin defines, the strongest last."""
    return [
        _get(getattr(plugin, attribute, definition), "_get_wrapped_function", "pytest")()
        for attribute, definition, marker in _defined_in(plugin)
        if (marker.name or attribute) == name
    ]


def has_autouse(plugin: object) -> bool:
    """Whether a plugin defines a fixture that runs without being asked for."""
    return any(marker.autouse for _, _, marker in _defined_in(plugin))


def _defined_in(plugin: object) -> Iterator[tuple[str, Any, Any]]:
    """The fixtures of a plugin: attribute, definition and what ``@pytest.fixture`` was told."""
    owner = plugin if isinstance(plugin, (ModuleType, type)) else type(plugin)
    for attribute in dir(plugin):
        definition = None
        with contextlib.suppress(
            Exception
        ):  # a descriptor may raise anything; pytest passes it over
            definition = getattr(owner, attribute, None)
        if type(definition) is _DEFINITION:
            yield attribute, definition, _get(definition, "_fixture_function_marker", "pytest")


def visible_fixtures(node: pytest.Collector | pytest.Item, name: str) -> list[Function]:
    """The functions of the fixtures of this name that a node sees, the strongest last."""
    return [one.func for one in _visible(node, name)]


def is_parametrised(node: pytest.Collector, name: str) -> bool:
    """Whether a fixture of this name that a node sees has parameters of its own."""
    return any(one.params is not None for one in _visible(node, name))


def _visible(node: pytest.Collector | pytest.Item, name: str) -> Sequence[Any]:
    manager = _get(node.session, "_fixturemanager", "pytest")
    found: Sequence[Any] | None = _get(manager, "getfixturedefs", "pytest")(name, node)
    return found or ()


def fixtures_of(item: pytest.Function, name: str) -> list[Function]:
    """The same for what an item was given: hooks may have put a parameter in the place of all of them."""
    known = _get(_get(item, "_fixtureinfo", "pytest"), "name2fixturedefs", "pytest")
    return [one.func for one in known.get(name, ())]


def varied(item: pytest.Function, name: str) -> list[str]:
    """Of a fixture and those that it asks for: which ones an item is given with one of several parameters.

    Parameters ``sample`` are ours. A name that is gone raises; without ``indices`` a hook's parameters are not seen.
    """
    given = parameters(item).keys() - {"sample"}
    if not given:  # the usual case
        return []
    known = _get(_get(item, "_fixtureinfo", "pytest"), "name2fixturedefs", "pytest")
    asked_for = [name]
    for one in asked_for:  # it grows
        more = (argument for definition in known.get(one, ()) for argument in definition.argnames)
        asked_for += [argument for argument in dict.fromkeys(more) if argument not in asked_for]
    return [one for one in asked_for if one in given and _choices(item, one, known) > 1]


def _choices(item: pytest.Function, name: str, known: Mapping[str, Sequence[Any]]) -> int:
    """How many parameters there are for a fixture; with a hook's, two stand for all beside the first."""
    found = [len(definition.params) for definition in known.get(name, ()) if definition.params]
    for mark in item.iter_markers("parametrize"):
        given = {**dict(zip(("argnames", "argvalues"), mark.args, strict=False)), **mark.kwargs}
        names, values = given.get("argnames", ()), given.get("argvalues")
        listed = names.replace(",", " ").split() if isinstance(names, str) else names
        if name in listed and isinstance(values, Sized):  # it comes before the fixture's own
            found.append(len(values))
            break
    index: int = getattr(getattr(item, "callspec", None), "indices", {}).get(name, 0)
    return max(found[-1] if found else 1, index + 1)


def is_parameter(function: Function) -> bool:
    """Whether pytest made a fixture's function itself, to hand on a parameter. By its module alone."""
    return (getattr(function, "__module__", None) or "").startswith("_pytest.")


def parameters(item: pytest.Item) -> Mapping[str, Any]:
    """The values that a parametrised item was made with; none for any other item.

    ``request.param`` is public and is there only while a fixture runs. Raises if it is gone.
    """
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return {}
    found: Mapping[str, Any] = _get(callspec, "params", "pytest")
    return found


def fixture_names(item: pytest.Item) -> Sequence[str]:
    """The fixtures that an item asks for; ``request.fixturenames`` is there only while a fixture runs.

    Without it: none, and an item that asks none of ours is let alone.
    """
    return getattr(item, "fixturenames", ())


def load_conftests(config: pytest.Config, folder: Path) -> None:
    """Loads the conftests of a folder in which samples will be collected, as pytest does for test paths.

    Else pytest loads them only then. Without this name, or where one fails (which pytest says then): not now.
    """
    load = getattr(config.pluginmanager, "_loadconftestmodules", None)
    inside = folder == config.rootpath or config.rootpath in folder.parents
    if load is not None and inside:
        packages = config.getini("consider_namespace_packages")
        mode = config.getoption("importmode")
        with contextlib.suppress(Exception):
            load(folder, mode, rootpath=config.rootpath, consider_namespace_packages=packages)


def adopt_conftest(directory: pytest.Directory) -> None:
    """Lets the nodes below a folder see its conftest's fixtures, where pytest gave them to another node.

    From 9.1 on, pytest gives them to the first node of a folder. Where the project's own tests are collected,
    too, that is not ours. Without these names (before 9.1): nothing is to be done.
    """
    manager = getattr(directory.session, "_fixturemanager", None)
    waiting = getattr(manager, "_pending_conftests", None)
    if manager is None or waiting is None or directory.path in waiting:
        return
    conftest = directory.config.pluginmanager.getplugin(str(directory.path / "conftest.py"))
    if conftest is not None and directory.path != directory.config.rootpath:  # that is everybody's
        manager.parsefactories(holder=conftest, node=directory)
