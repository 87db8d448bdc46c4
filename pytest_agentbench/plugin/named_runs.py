"""Runs that an option names (``last``, a saved name), the same in every process of a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_agentbench.plugin.rootdir import house
from pytest_agentbench.runs import names


class NamedRuns:
    """Finds runs by name. Workers are told what the controller found: ``last`` may change meanwhile."""

    def __init__(self, config: pytest.Config) -> None:
        self._house = house(config)
        self._start = config.invocation_params.dir
        told = getattr(config, "workerinput", {}).get("agentbench_named_runs", "{}")
        self._found: dict[str, str] = json.loads(told)

    def __call__(self, name: str, benchmark: str) -> Path:
        key = f"{benchmark} {name}"
        if key not in self._found:
            found = names.find_run(name, self._house, self._start, benchmark)
            self._found[key] = str(found)
        return Path(self._found[key])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["agentbench_named_runs"] = json.dumps(self._found)
