"""Measure LLM agents that imitate people, inside pytest."""

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
]
__version__ = "0.1.0"
