"""Measure LLM agents that imitate people, inside pytest. The names in ``__all__`` are the public API."""

from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import BenchmarkError, InvalidAnswer
from pytest_agentbench.benchmarks.protocol import (
    Benchmark,
    Dataset,
    Metric,
    Parameter,
    Sample,
    SampleKey,
    SampleList,
    Submission,
)
from pytest_agentbench.metrics.estimator import Absent

__all__ = [
    "Absent",
    "Benchmark",
    "BenchmarkError",
    "Dataset",
    "InvalidAnswer",
    "Metric",
    "Parameter",
    "Sample",
    "SampleKey",
    "SampleList",
    "Submission",
    "mean",
]
__version__ = "0.1.0"

if TYPE_CHECKING:
    from pytest_agentbench.metrics.bootstrap import mean


def __getattr__(name: str) -> Any:
    if name == "mean":  # it needs NumPy, which an installed but unused plugin does not import
        from pytest_agentbench.metrics.bootstrap import mean

        return mean
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
