"""`agentbench new-test`: a test file of the user's own, in which each sample is a test."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.settings import scenario

_TEMPLATE = '''"""{benchmark}: {description}.

Each sample is a test of its own, and editors show it. Answers are recorded, scored and gated as
in `pytest --benchmark {benchmark}`. Settings stand in pytest's ini file, or on the command line:

    pytest {file} --agentbench-agent=my_agent.py --agentbench-limit=20
"""

import pytest


@pytest.mark.agentbench("{benchmark}")
def {function}(agent, sample):
    agent(sample.context)
'''


def new_test(name: str, out: Path | None) -> int:
    """Writes the file; never over one that is there."""
    if Path(name).suffix.lower() in scenario.SUFFIXES:
        raise BenchmarkError(
            f"new-test: expected the name of a benchmark ({', '.join(registry.available())}), got the file "
            f"{name!r}: what a scenario file sets stands in pytest's ini file or on the command line"
        )
    benchmark = registry.get(name)
    function = f"test_{_snake(benchmark.name)}"
    path = Path(f"{function}.py") if out is None else out
    if path.suffix != ".py" or not (path.stem.startswith("test_") or path.stem.endswith("_test")):
        raise BenchmarkError(
            f"--out: expected a name that pytest collects (test_*.py or *_test.py), got {path.name!r}"
        )
    text = _TEMPLATE.format(
        benchmark=name if ":" in name else benchmark.name,
        description=benchmark.description.rstrip("."),
        function=function,
        file=path.as_posix(),
    )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise BenchmarkError(f"{path}: expected no such file yet; --out names another") from None
    except OSError as error:
        raise BenchmarkError(f"--out: {path} cannot be written ({error.strerror})") from None
    print(f"{path}: run it with `pytest {path}`")
    return 0


def _snake(name: str) -> str:
    """BehaviorModeling -> behavior_modeling"""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"\W+", "_", words).lower()
