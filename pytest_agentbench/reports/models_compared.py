"""The end of a session with several models: two runs are compared, more of them ranked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.reports import comparison, leaderboard
from pytest_agentbench.reports.summary import Writer, path_shown
from pytest_agentbench.runs import run_folder, stored
from pytest_agentbench.runs.collector import Collector
from pytest_agentbench.runs.stored import StoredRun
from pytest_agentbench.scoring import compare, ranking
from pytest_agentbench.settings.model_options import parted


def show(writer: Writer, collectors: Iterable[Collector], brief: bool = False) -> None:
    """Compares the models of each benchmark or scenario that has scores of several."""
    groups: dict[str, list[Collector]] = {}
    for one in collectors:
        settings = one.plan.settings
        scored = one.written and one.scores is not None and one.scores.shard is None
        if settings.of_model is not None and scored:
            groups.setdefault(parted(settings.nodeid)[0], []).append(one)
    for base, group in groups.items():
        if len(group) < 2:
            continue
        if not brief:
            writer.section(f"agentbench: {base}, {len(group)} models", "=")
        try:
            lines = _compared(group, brief) if len(group) == 2 else _ranked(group)
        except (BenchmarkError, OSError) as error:
            lines = [f"{base}: the models are not compared: {error}"]
        for line in lines:
            writer.write_line(line)


def _compared(group: Sequence[Collector], brief: bool) -> list[str]:
    first, second = group
    settings, dataset = second.plan.settings, second.plan.dataset
    before, after = _stored(first), _stored(second)
    with stored.blamed_on(before, after):
        found = compare.compare_runs(before, after, settings, dataset, settings.reading)
    if brief:
        return [comparison.line(found)]
    both = f"{path_shown(first.log.folder)} {path_shown(second.log.folder)}"
    more = f"all readings, and the largest changes: agentbench compare {both}"
    return [*comparison.first_lines(found), "", more]


def _stored(collector: Collector) -> StoredRun:
    """A run of this session as if it were read back."""
    assert collector.scores is not None
    folder = collector.log.folder
    manifest = run_folder.read_manifest(folder)
    return StoredRun(folder, collector.scores, manifest, measured=collector.logged())


def _ranked(group: Sequence[Collector]) -> list[str]:
    board = ranking.leaderboard([stored.read(one.log.folder) for one in group])
    return leaderboard.text(board).splitlines()
