"""``--model``, ``--base-url`` and ``--api-key-env``: the entries of ``llm`` that they become.

With several models there is a run for each: its node ids begin with ``humob@MODEL``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from pytest_agentbench.base import parse
from pytest_agentbench.settings.options import SettingsError

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.entries import Entry

KEYS = ("models", "base_url", "api_key_env")
USUAL_KEY = "OPENAI_API_KEY"

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_SCENARIO = re.compile(r"(.+?\.ya?ml)@(.+)", re.IGNORECASE | re.DOTALL)


def names(value: Any) -> tuple[str, ...]:
    """The names of models, each of them once."""
    found = tuple(map(parse.text, [value] if isinstance(value, str) else parse.texts(value)))
    if not found:
        raise ValueError
    for name in found:
        if found.count(name) > 1:
            raise ValueError(f"expected each model once, got {name!r} {found.count(name)} times")
    return found


def variable(value: Any) -> str:
    """The name of an environment variable. What is none may be the key itself, and is not shown."""
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        raise ValueError("expected the name of an environment variable, got another text")
    return value


def entries(
    llm: Sequence[Entry],
    given: Mapping[str, Any],
    where: Callable[[str], str],
    environment: Mapping[str, str],
) -> tuple[Entry, ...]:
    """``llm`` of the scenario, changed by what was given of ``KEYS``; a new entry, where there is none.

    ``where`` says how a key was given.
    """
    if not given:
        return tuple(llm)
    named: tuple[str, ...] = given.get("models", ())
    if len(named) > 1:
        raise SettingsError(
            f"{where('models')}: expected one model here, got {len(named)} ({', '.join(named)}); several are "
            "for --benchmark NAME and for scenario files, which have a run for each"
        )
    first = where(next(iter(given)))
    address, variable = given.get("base_url"), given.get("api_key_env")
    of_name = [one for one in llm if one.model in named]
    if len(of_name) == 1:  # its own entry, with its prices
        llm = of_name
    if len(llm) == 1:
        return (_changed(llm[0], named, address, variable, where),)
    if named and (not llm or address):
        key = variable or (USUAL_KEY if environment.get(USUAL_KEY) else None)
        return (_made(named[0], address, key, first),)
    if llm:
        raise SettingsError(
            f"{first}: expected one entry in llm, which it would change, got {len(llm)} "
            f"({', '.join(one.model for one in llm)}); give both --model and --base-url to ask another model, or "
            "change the entries themselves"
        )
    if first.startswith("--"):
        raise SettingsError(
            f"{first}: expected --model NAME beside it, or a scenario with one entry in llm, got neither"
        )
    return ()  # the ini file has it for commands that name a model


def _changed(
    entry: Entry,
    named: Sequence[str],
    address: str | None,
    variable: str | None,
    where: Callable[[str], str],
) -> Entry:
    if named and named[0] != entry.model:  # prices are those of another model
        entry = replace(entry, model=named[0], price_input=None, price_output=None)
    if address is not None:
        made = _made(entry.model, address, None, where("base_url"))
        entry = replace(entry, base_url=made.base_url)
    if variable is not None:
        made = _made(entry.model, None, variable, where("api_key_env"))
        entry = replace(entry, api_key=made.api_key)
    return entry


def _made(model: str, address: str | None, variable: str | None, where: str) -> Entry:
    from pytest_agentbench.agents.llm.entries import parse_llm  # only where a model is named

    given = {"model": model, "base_url": address, "api_key": variable and f"${{{variable}}}"}
    try:
        return parse_llm({key: value for key, value in given.items() if value is not None})[0]
    except ValueError as error:
        said = str(error).removeprefix("entry 1: ")
        raise SettingsError(f"{where}: {said}") from None


def run_of(base: str, model: str) -> str:
    """The node id of a model's run, one of several.

    >>> run_of("humob", "meta-llama/Llama-3-8B:free")
    'humob@meta-llama/Llama-3-8B:free'
    >>> run_of("humob", "my model[2]::x:")
    'humob@my%20model%5B2%5D%3A%3Ax%3A'
    """
    name = quote(model, safe="/:+,=~").replace("::", "%3A%3A")
    return f"{base}@{name.removesuffix(':')}{'%3A' if name.endswith(':') else ''}"


def parted(where: str) -> tuple[str, str | None]:
    """What stands before ``::`` in a node id: the run without its model, and the model.

    >>> parted("humob@gpt-4o-mini"), parted("../humob"), parted("a@b/x.yaml@m/1")
    (('humob', 'gpt-4o-mini'), ('../humob', None), ('a@b/x.yaml', 'm/1'))
    """
    found = _OF_SCENARIO.fullmatch(where)
    if found:
        return found[1], unquote(found[2])
    if where.lower().endswith((".yaml", ".yml")):
        return where, None
    base, _, model = where.partition("@")
    return base, unquote(model) or None
