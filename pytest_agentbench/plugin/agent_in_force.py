"""The agent that will answer, its name and the digest of its source: ours, or a fixture ``agent``.

An agent that somebody has named answers, whatever fixtures there are; one that wraps it (``def agent(agent)``)
is used. Where none was named, the fixture that pytest will give answers. It is looked for as pytest does,
when the session is configured: run folder, manifest and --resume need the name before pytest has looked.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from pytest_agentbench.plugin.compat import MemoryModule
from pytest_agentbench.plugin.fixture_compat import (
    Function,
    fixtures_in,
    fixtures_of,
    is_parameter,
    is_parametrised,
    varied,
    visible_fixtures,
)
from pytest_agentbench.plugin.fixtures import give_agent, gives_our_agent
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings.settings import Settings

_FIXTURE = "agent"


@dataclass(frozen=True)
class Fixture:
    """A fixture ``agent`` of the project's or of another plugin's."""

    name: str  # conftest.py:agent
    function: Function
    plugin: object

    @property
    def files(self) -> list[Path]:
        """Its source: the plugin's, and the function's, which may be imported from elsewhere."""
        plugin: Any = self.plugin
        module = (
            plugin if isinstance(plugin, ModuleType) else sys.modules.get(type(plugin).__module__)
        )
        code = getattr(_origin(self.function), "__code__", None)
        found = (getattr(module, "__file__", None), getattr(code, "co_filename", None))
        return [path for path in dict.fromkeys(map(Path, filter(None, found))) if path.is_file()]


@dataclass(frozen=True)
class InForce:
    """What is credited with the answers of a run."""

    name: str
    digest: str
    functions: tuple[Function, ...]  # of the fixtures in front of our own, outermost first

    @property
    def place(self) -> tuple[Path, int] | None:
        """File and line (counted from 0) of the innermost fixture."""
        code = getattr(_origin(self.functions[-1]), "__code__", None) if self.functions else None
        if code is None or not Path(code.co_filename).is_file():
            return None
        return Path(code.co_filename), code.co_firstlineno - 1

    def as_json(self) -> dict[str, str]:
        return {"name": self.name, "digest": self.digest}


_IN_FORCE = pytest.StashKey[dict[str, InForce]]()


def fixtures_seen(config: pytest.Config, folder: Path) -> list[Fixture]:
    """The fixtures ``agent`` that samples in a folder will see, the strongest last; ours is among them.

    As in pytest, conftests come before plugins, a conftest in a folder before those above it, and a plugin
    before those that were registered earlier.
    """
    root, plugins, conftests = config.rootpath, [], []
    for name, plugin in config.pluginmanager.list_name_plugin():
        if plugin is None:  # blocked with -p no:NAME
            continue
        functions = fixtures_in(plugin, _FIXTURE)
        if Path(name).name != "conftest.py":
            shown = type(plugin).__qualname__ if name.isdigit() else name  # else a number: its id()
            plugins += [Fixture(f"plugin {shown}:{_FIXTURE}", one, plugin) for one in functions]
            continue
        place = Path(name).parent
        inside = place == root or root in place.parents
        if not inside or place in (root, folder, *folder.parents):
            within = place.relative_to(root).as_posix() if inside else "."
            shown = "conftest.py" if within == "." else f"{within}/conftest.py"
            found = [Fixture(f"{shown}:{_FIXTURE}", one, plugin) for one in functions]
            conftests.append((len(place.parts) if inside else 0, found))
    conftests.sort(key=lambda pair: pair[0])
    return [*plugins, *(one for _, found in conftests for one in found)]


def passed_over(settings: Settings, seen: Sequence[Fixture]) -> str | None:
    """A line for the header if a fixture will not answer: an agent is named, or its plugin came before ours."""
    functions = [one.function for one in seen]
    if settings.submission is not None:
        return None
    chain, reason = chain_of(functions, _FIXTURE, give_agent), ""
    if is_overruled(settings, functions):
        silent = seen[-1]
    elif not settings.agent_is_named and give_agent in chain and functions[0] is not give_agent:
        silent = seen[functions.index(give_agent) - 1]
        reason = ", which was loaded before us: load it with pytest_plugins or PYTEST_PLUGINS, not -p, or name an agent with --agent"
    else:
        return None
    place = silent.name.removesuffix(f":{_FIXTURE}")
    return f"note: the agent {settings.agent_shown} answers, not the fixture `agent` of {place}{reason}"


def is_overruled(settings: Settings, functions: Sequence[Function]) -> bool:
    """Whether our own fixture answers, whatever others there are (the strongest last)."""
    if settings.submission is not None:
        return True
    return settings.agent_is_named and give_agent not in chain_of(functions, _FIXTURE, give_agent)


def settle(config: pytest.Config, plans: Mapping[str, Plan], folders: Mapping[str, Path]) -> None:
    """Decides, for each run, what is credited with its answers. ``folders``: where their samples live."""
    config.stash.setdefault(_IN_FORCE, {}).update(
        (nodeid, _in_force(plan, fixtures_seen(config, folders[nodeid])))
        for nodeid, plan in plans.items()
    )


def settle_marked(plan: Plan, node: pytest.Item) -> dict[str, str]:
    """The same for the run of a user's marked tests, where pytest knows already what it will give one of them."""
    config: pytest.Config = node.config
    known = fixtures_seen(config, node.path.parent)
    seen = []
    for function in visible_fixtures(node, _FIXTURE):
        place = next((one for one in known if one.function == function), None)
        seen.append(place or _in_test_file(function, node))
    found = _in_force(plan, seen)
    config.stash.setdefault(_IN_FORCE, {})[plan.settings.nodeid] = found
    return found.as_json()


def _in_test_file(function: Function, node: pytest.Item) -> Fixture:
    """A fixture of a test module, or of a class in it."""
    root, path = node.config.rootpath, node.path
    shown = path.relative_to(root).as_posix() if root in path.parents else path.name
    return Fixture(f"{shown}:{_FIXTURE}", function, sys.modules.get(function.__module__))


def take_over(config: pytest.Config, run: str, credited: Mapping[str, str]) -> None:
    """On xdist's controller, which collects no tests: what a worker has settled."""
    found = InForce(credited["name"], credited["digest"], ())
    config.stash.setdefault(_IN_FORCE, {})[run] = found


def agent_in_force(plan: Plan, config: pytest.Config) -> InForce:
    return config.stash[_IN_FORCE][plan.settings.nodeid]


def _in_force(plan: Plan, seen: Sequence[Fixture]) -> InForce:
    loaded = plan.loaded_agent
    functions = [one.function for one in seen]
    if is_overruled(plan.settings, functions):
        return InForce(loaded.name, loaded.digest, ())
    chain = chain_of(functions, _FIXTURE, give_agent)
    own = tuple(one for one in chain if one is not give_agent)
    fixtures = [one for one in reversed(seen) if one.function in own]
    names = [one.name for one in fixtures]
    digests = [_digest(path.read_bytes()) for one in fixtures for path in one.files]
    if give_agent in chain:
        names.append(loaded.name)
        digests.append(loaded.digest)
    digests = list(dict.fromkeys(digests))
    whole = digests[0] if len(digests) == 1 else _digest(" ".join(digests).encode())
    return InForce(" around ".join(names), whole, own)


def chain_of(functions: Sequence[Function], name: str, ours: Function) -> list[Function]:
    """The fixtures that take part, outermost first: one that asks for its own name gets the next weaker one."""
    found = []
    for function in reversed(functions):
        found.append(function)
        if function is ours or not _wraps(function, name):
            break
    return found


def feeds_through(node: pytest.Collector, name: str, ours: Function) -> bool:
    """Whether a parameter of ours arrives at our fixture, through wrappers at most."""
    functions = visible_fixtures(node, name)
    return ours in chain_of(functions, name, ours) and not is_parametrised(node, name)


def _wraps(function: Function, name: str) -> bool:
    """Whether it asks for the fixture that it overrides."""
    try:
        parameter = inspect.signature(function).parameters.get(name)
    except (TypeError, ValueError):
        return False
    if parameter is not None and parameter.default is parameter.empty:
        return True
    code = getattr(_origin(function), "__code__", None)
    return code is not None and _gets(code, name)


def _gets(code: CodeType, name: str) -> bool:
    """Whether a function calls ``request.getfixturevalue(name)``, with the name written there."""
    if "getfixturevalue" not in code.co_names:
        return False
    called = False
    for step in dis.get_instructions(code):
        if step.argval == "getfixturevalue":
            called = True
        elif called and step.opname == "LOAD_CONST":
            if step.argval == name:
                return True
            called = False
    return False


def not_credited(item: pytest.Function, plan: Plan) -> str | None:
    """Why an item may not be asked: what pytest has given it is not what is credited with the answer."""
    given: Any = item.funcargs[_FIXTURE]
    if plan.submission is not None:
        return None
    credited, functions = agent_in_force(plan, item.config), fixtures_of(item, _FIXTURE)
    if not credited.functions and gives_our_agent(functions[-1]):  # the usual case
        if given is plan.agent:
            return _one_of_several(item)
        got = f"an object of type {type(given).__name__} that a hook or a fixture put in its place"
    else:
        chain = [o for o in chain_of(functions, _FIXTURE, give_agent) if not gives_our_agent(o)]
        if [*map(_origin, chain)] == [*map(_origin, credited.functions)]:
            return _one_of_several(item)
        got = _described(functions[-1], item.config.rootpath)
    advice = "take the other one away, or make it a fixture `agent` of a conftest.py"
    if not isinstance(item.parent, MemoryModule):  # a user's marked test
        advice = (
            "one run measures one agent: run this test by itself, with no --benchmark beside it and "
            "no agent named, or take its agent away"
        )
    return (
        f"expected the agent {credited.name}, which is credited with the answers, got {got}; the sample "
        f"was not asked: {advice}"
    )


def _one_of_several(item: pytest.Function) -> str | None:
    names = varied(item, _FIXTURE)
    if not names:
        return None
    which = " and ".join(f"`{name}`" for name in names)
    return (
        f"expected one agent, which the run measures, got one of several: the fixture {which} has "
        "several parameters; the sample was not asked: run each agent by itself, with --agent"
    )


def _described(function: Function, root: Path) -> str:
    origin = _origin(function)
    code = getattr(origin, "__code__", None)
    if gives_our_agent(function):
        return "the agent of --agent, or the baseline"
    file = Path(getattr(code, "co_filename", "?"))
    if is_parameter(function):
        return (
            "a parameter `agent`, set by pytest.mark.parametrize or the hook pytest_generate_tests"
        )
    shown = file.relative_to(root) if root in file.parents else file
    line = getattr(code, "co_firstlineno", "?")
    return f"the fixture `agent` of {shown}, line {line}"


def _origin(function: Function) -> Any:
    """The function that somebody wrote, without what plugins for coroutines put around it."""
    return inspect.unwrap(getattr(function, "__func__", function))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
