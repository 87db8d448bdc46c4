"""``agentbench merge``: the shards of a run, or the parts of a CI matrix, put together, scored and gated as one run."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_agentbench.agents.load import LoadedAgent
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Dataset, Submission
from pytest_agentbench.cli import logged_run
from pytest_agentbench.cli.terminal import Lines
from pytest_agentbench.reports import summary
from pytest_agentbench.runs import mixed, names, stored
from pytest_agentbench.runs.collector import Collector, Place
from pytest_agentbench.runs.evaluate import held_off
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.runs.scores_file import GateResult
from pytest_agentbench.runs.stored import Named, StoredRun
from pytest_agentbench.runs.submissions import Submitted
from pytest_agentbench.scoring import merging
from pytest_agentbench.scoring.compare import load_baseline
from pytest_agentbench.settings import gates
from pytest_agentbench.settings.settings import OPTIONS, Settings

_GATES = next(option for option in OPTIONS if option.key == "gates")


@dataclass(frozen=True)
class Merging:
    """What the command says beside the runs."""

    gates: Sequence[str] = ()  # beside those of the runs
    baseline: str | None = None
    out: Path | None = None  # the folder of the merged run
    partial: bool = False
    dataset: str | None = None
    named: Named = stored.NOTHING


@held_off()
def merge(folders: Sequence[Path], how: Merging, arguments: Sequence[str]) -> int:
    """Makes one run of several; 0 if all gates passed, 1 if one did not."""
    runs = [stored.begun(folder, how.named) for folder in folders]
    merging.check_alike(runs)
    settings, dataset = _data(runs, how.dataset)
    settings = _settings(settings, runs, how)
    runs = [merging.measured(run, settings, dataset) for run in runs]
    records = merging.joined(runs)
    first = runs[0].manifest.agent
    agent = LoadedAgent(str(first.name), str(first.digest))
    plan = Plan(settings, scored=Submitted(dataset, Submission({}), agent))
    place = Place(names.find_house(Path.cwd()), Path.cwd(), arguments)
    collector = Collector(
        plan, {"name": agent.name, "digest": agent.digest}, place,
        time.strftime("%Y%m%d-%H%M%S"), load_baseline(plan, place),
    )  # fmt: skip
    described = merging.manifest(collector.log.manifest, runs)
    collector.log.describe(described)
    collector.mixture, collector.answered_by = mixed.mixture(described), mixed.answering(described)
    collector.notes += [note for run in runs for note in run.notes]
    recorded = {Question(dataset.index_of[sample], epoch) for sample, epoch in records}
    epochs = range(1, settings.epochs + 1)
    whole = {Question(index, epoch) for index in plan.indices for epoch in epochs}
    collector.expected = recorded if how.partial else whole
    collector.beside = merging.failures_of(runs)
    lacking = merging.missing_parts(runs, whole, recorded, how.partial)
    if lacking is not None:
        collector.beside.append(GateResult(merging.ALL_PARTS, False, reason=lacking))
    out = Lines()
    for line in (*summary.header(plan, agent.name), *map(_line, runs)):
        out.write_line(line)
    kept = [records[collector.name(question)] for question in sorted(collector.expected & recorded)]
    if not kept:
        raise BenchmarkError(f"{', '.join(map(str, folders))}: expected records, got none")
    return logged_run.finish(collector, [kept], out)


def _line(run: StoredRun) -> str:
    shard = "" if run.scores.shard is None else f"{run.scores.shard}, "
    return f"merged: {summary.path_shown(run.folder)} ({shard}{len(run.records)} records)"


def _data(runs: Sequence[StoredRun], dataset: str | None) -> tuple[Settings, Dataset]:
    """The data, from wherever one of the runs still finds them; those of the runs are all the same."""
    problem: BenchmarkError | None = None
    for run in runs:
        try:
            settings = stored.settings_of(run, dataset)
        except BenchmarkError as error:
            problem = problem or error
        else:
            return settings, stored.load_data(run, settings)
    assert problem is not None
    raise problem


def _settings(settings: Settings, runs: Sequence[StoredRun], how: Merging) -> Settings:
    """Those of the runs, with what the command says, and without the truth if one of them leaves it out.

    Its gates are decided beside those of the runs, as pytest's --gate beside a scenario's.
    """
    asked = gates.combine([merging.gates_of(runs), _GATES.read(list(how.gates), "--gate")])
    return dataclasses.replace(
        settings,
        gates=asked,
        baseline=how.baseline,
        run_dir=how.out,
        report_without_truth=any(merging.settings_then(run).report_without_truth for run in runs),
    )
