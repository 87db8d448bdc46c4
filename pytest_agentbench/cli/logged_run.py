"""A run whose records exist already: logged, scored and shown as pytest's are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.progress import Progress
from pytest_agentbench.cli.terminal import Lines
from pytest_agentbench.reports import publish
from pytest_agentbench.reports.summary import failures_text
from pytest_agentbench.runs.collector import Carried, Collector
from pytest_agentbench.runs.record import Record


def finish(collector: Collector, batches: Iterable[Sequence[Record]], out: Lines) -> int:
    """Logs the records as they come, then ends the run; 0 if all gates passed, 1 if one did not."""
    progress = Progress(collector.plan.settings.nodeid, "samples", len(collector.expected))
    try:
        for records in batches:
            collector.add_all(list(map(Carried.of, records)))
            if collector.unlogged:
                raise BenchmarkError(f"records cannot be written: {collector.unlogged}")
            progress.add(len(records))
        gates = publish.finish(collector, incomplete=None)
    finally:
        collector.log.close()
    failed = [record for record in collector.logged() if record.status != "ok"]
    if failed:
        out.write_line(failures_text(failed, len(collector.expected)))
    publish.show(out, collector, on_github=bool(os.environ.get("GITHUB_ACTIONS")))
    for line in publish.failures_beside(collector, gates):
        out.write_line(line)
    return int(any(failure is not None for _, failure in gates))
