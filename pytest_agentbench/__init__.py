"""Measure LLM agents that imitate people, inside pytest."""

from pytest_agentbench.benchmarks.protocol import (
    Absent,
    Benchmark,
    BenchmarkError,
    Dataset,
    InvalidAnswer,
    Metric,
    Parameter,
    Sample,
    SampleKey,
    SampleList,
    Submission,
)

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
