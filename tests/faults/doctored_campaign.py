"""Change what the files of a run say about its answers, and check that nothing is decided on it.

    PYTHONPATH=tests python -m faults.doctored_campaign --points 400

Each point takes a run of a built-in benchmark's baselines and edits some of its records (metrics, statuses)
and its scores.json at random. Then the run is measured again as --resume, --baseline, `agentbench compare` and
the leaderboard do: all values must be those of the run before, and the edit must be reported.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.baseline_runs import BaselineRun, baseline_run, run_campaigns

from pytest_agentbench.runs import stored
from pytest_agentbench.runs.remeasure import remeasured
from pytest_agentbench.scoring import compare, ranking
from pytest_agentbench.scoring.verify import verified

Lines = list[dict[str, Any]]


@dataclass
class Figures:
    points: int = 0
    edited: int = 0  # records
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.points} runs with {self.edited} edited records, {len(self.problems)} believed"
        )


def _best(value: float, rng: random.Random) -> float:
    return rng.choice([1.0, 0.0, value + 1e-3, -value - 1, 100.0, 1e300])


def edit_metrics(lines: Lines, rng: random.Random) -> int:
    """Other values of metrics that records have."""
    edited = 0
    for line in lines:
        for metrics in line["metrics"].values():
            for name, value in metrics.items():
                if rng.random() < 0.5:
                    metrics[name] = _best(value, rng)
                    edited += metrics[name] != value
    return edited


def add_metrics(lines: Lines, rng: random.Random) -> int:
    """Metrics for records that failed, or of a reading that does not exist."""
    chosen = [line for line in lines if rng.random() < 0.3]
    for line in chosen:
        line["metrics"]["made up"] = {"final_score": 100.0}
    return len(chosen)


def bless(lines: Lines, rng: random.Random) -> int:
    """Valid, without an answer: some lost theirs to a timeout."""
    chosen = rng.sample(lines, max(1, len(lines) // 5))
    for line in chosen:
        line.update(answer=rng.choice([None, {}, "x"]))
    return len(chosen)


EDITS: dict[str, Callable[[Lines, random.Random], int]] = {
    "metrics": edit_metrics,
    "made up": add_metrics,
    "answers": bless,
}


def edit_scores(path: Path, rng: random.Random) -> bool:
    """Other values of all metrics."""
    said = json.loads(path.read_text())
    changed = False
    for metrics in said["readings"].values():
        for score in metrics.values():
            if score["value"] is not None:
                new = _best(score["value"], rng)
                changed |= new != score["value"]
                score["value"] = new
    path.write_text(json.dumps(said))
    return changed


def campaign(name: str, points: int, seed: int, folder: Path, most: int = 24) -> Figures:
    """So many doctored copies of one benchmark's runs."""
    rng, figures = random.Random(f"{seed} {name}"), Figures()
    run = baseline_run(name, most, rng)
    good = run.write(folder / name / "good")
    kinds = [kind for kind in EDITS if kind != "metrics" or run.records[0].metrics]
    for point in range(points):
        bad = folder / name / f"bad{point}"
        shutil.copytree(good, bad)
        kind = kinds[point % len(kinds)]
        path = bad / "records.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        edited = EDITS[kind](lines, rng)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        scores_edited = rng.random() < 0.5 and edit_scores(bad / "scores.json", rng)
        figures.points += 1
        figures.edited += edited
        problems = _believed(run, good, bad, kind, edited, bool(scores_edited))
        figures.problems += [f"{name}, {kind}: {problem}" for problem in problems]
    return figures


def _believed(
    run: BaselineRun, good: Path, bad: Path, kind: str, edited: int, scores_edited: bool
) -> list[str]:
    """What was decided on an edit, or not reported."""
    found = []
    read = stored.read(bad)
    again = remeasured(run.settings.benchmark, run.dataset, read.records)
    if kind == "answers":  # those without an answer count as failed, and nothing else changes
        lost = sum(record.status != "ok" for record in again.records)
        expected = run.values(again.records)
        if lost != edited or again.unlike != edited:
            found.append(f"{edited} without an answer, {lost} failed, {again.unlike} reported")
    else:
        expected = run.values(run.records)
        if run.values(again.records) != expected:
            found.append(f"values are {run.values(again.records)}")
        if bool(again.unlike) != bool(edited):
            found.append(f"{edited} edits, {again.unlike} records reported")
    checked = verified(read, run.settings, run.dataset)
    primary = checked.scores.primary_reading
    for metric, value in expected.items():
        if primary[metric].value != value:
            found.append(f"the scores have {metric} {primary[metric].value} instead of {value}")
    if bool(checked.notes) != bool(edited or scores_edited):
        found.append(f"notes are {checked.notes}")
    compared = compare.compare(good, bad)
    for difference in compared.readings[compared.reading]:
        if kind != "answers" and difference.value not in (0.0, None):
            found.append(f"compared: {difference.metric} {difference.value:+}")
    board = ranking.leaderboard([stored.read(good), read])
    ranked = [row.run.name for table in board.tables for row in table.rows]
    if (edited or scores_edited) and ranked != ["good"]:
        found.append(f"the leaderboard ranks {ranked}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", type=int, default=100, help="of each benchmark")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return run_campaigns(
            given.seed, lambda name: campaign(name, given.points, given.seed, Path(folder))
        )


if __name__ == "__main__":
    sys.exit(main())
