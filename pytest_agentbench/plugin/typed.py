"""What was typed, apart from what addopts and PYTEST_ADDOPTS add to every command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_agentbench.plugin.option_parser import spellings


def words(config: pytest.Config) -> list[str]:
    """The command line without addopts and PYTEST_ADDOPTS, with the lines of ``@FILE``.

    xdist's workers get the same words, and add the same addopts to them.
    """
    found: list[str] = []
    for arg in map(str, config.invocation_params.args):
        lines = None
        if arg[:1] == "@":
            try:
                lines = Path(arg[1:]).read_text(encoding="utf-8").splitlines()
            except (OSError, ValueError):  # pytest has said so already
                lines = None
        found += [arg] if lines is None else lines
    return found


def values(config: pytest.Config, name: str) -> list[Any]:
    """The typed values of an option that may be repeated: those of addopts come before them."""
    given: list[Any] = config.getoption(f"agentbench_{name}")
    if not given:
        return []
    flags = spellings(config, name)
    number = sum(word.partition("=")[0] in flags for word in words(config))
    return given[max(0, len(given) - number) :]
