"""A benchmark, a truth and records, for all tests of HurricaneMobility."""

from __future__ import annotations

from types import SimpleNamespace

from pytest_agentbench.benchmarks.hurricane_mobility.answers import HOURLY, TOTALS
from pytest_agentbench.benchmarks.hurricane_mobility.benchmark import HurricaneMobility
from pytest_agentbench.runs.record import Record

BENCHMARK = HurricaneMobility()
READING = "published-0.1.4"
DOCUMENTED = "documented"
SCENARIO = (
    "benchmark: pytest_agentbench.benchmarks.hurricane_mobility.benchmark:HurricaneMobility\n"
)
TRUTH = {
    "relative_changes": {"during_vs_before": -50.0, "after_vs_before": -10.0},
    "hourly_trips": {"before": [0, 1] * 12, "during": [1, 0] * 12, "after": [1, 1] * 12},
}


def load(dataset="demo", **parameters):
    return BENCHMARK.load(SimpleNamespace(dataset=dataset, parameters=parameters))


def record(name, answer):
    status = "error" if answer is None else "ok"
    return Record("HurricaneMobility", name, status, answer=answer)


def arrays(before, during, after):
    """All trips of a day at one in the night."""
    hourly = [[0.0, float(n), *[0.0] * 22] for n in (before, during, after)]
    return {TOTALS: [float(before), float(during), float(after)], HOURLY: hourly}
