"""Fail samples of a run and check that no metric of the primary reading gets better by it.

    PYTHONPATH=tests python -m faults.failing_campaign --subsets 2000

For each built-in benchmark a run of its baselines (and, for mobility, some odd people) is scored whole and
with subsets of its samples failed: drawn at random, of every size, or chosen one by one, each time the one
whose failure leaves the best headline, as somebody would who wants to game the score.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from faults.baseline_runs import BaselineRun, baseline_run, run_campaigns

from pytest_agentbench.benchmarks.protocol import metric_named

_ROUNDING = 1e-9
_GREEDY = 5  # samples that are failed one by one; each costs a score of every other sample


@dataclass
class Figures:
    subsets: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.subsets} subsets, {len(self.problems)} that raised a score"


def campaign(
    name: str,
    subsets: int,
    seed: int,
    most: int = 40,
    text_models: str = "none",
    reading: str | None = None,
) -> Figures:
    """So many subsets of one benchmark, on several runs, in the primary reading unless one is named."""
    rng, figures = random.Random(f"{seed} {name}"), Figures()
    while figures.subsets < subsets:
        run = baseline_run(name, most, rng, text_models)
        if reading is not None:
            run = replace(run, settings=replace(run.settings, reading=reading))
        whole = run.values(run.records)
        assert any(value is not None for metric, value in whole.items() if metric != "coverage")
        for failed in (*_random(run, rng), *_greedy(run, rng)):
            figures.subsets += 1
            now = _with_failed(run, failed)
            for metric, before in whole.items():
                after = now[metric]
                if before is None or after is None:
                    continue
                better = metric_named(run.settings.benchmark.metrics, metric).better
                gain = (after - before) * (1 if better == "higher" else -1)
                if better in ("higher", "lower") and gain > _ROUNDING:
                    figures.problems.append(
                        f"{name}: {metric} was {before} and is {after} with {sorted(failed)} failed"
                    )
    return figures


def _with_failed(run: BaselineRun, failed: Collection[int]) -> dict[str, float | None]:
    return run.values(
        [
            record.changed(status="error", answer=None, metrics={}) if place in failed else record
            for place, record in enumerate(run.records)
        ]
    )


def _random(run: BaselineRun, rng: random.Random) -> Iterator[set[int]]:
    places = range(len(run.records))
    for size in (1, 2, len(places) // 4, len(places) // 2, len(places) - 1, len(places)):
        yield set(rng.sample(places, max(1, size)))
    for _ in range(4):
        yield {place for place in places if rng.random() < rng.random()}


def _greedy(run: BaselineRun, rng: random.Random) -> Iterator[set[int]]:
    """Sets that grow by the sample whose failure leaves the best headline."""
    headlines = run.settings.benchmark.headlines
    whole = run.values(run.records)
    headline = next(name for name in headlines if whole.get(name) is not None)
    sign = 1 if metric_named(run.settings.benchmark.metrics, headline).better == "higher" else -1
    failed: set[int] = set()
    for _ in range(_GREEDY):
        tried = set(rng.sample(range(len(run.records)), min(12, len(run.records)))) - failed
        left = {place: _with_failed(run, failed | {place})[headline] for place in sorted(tried)}
        known = {place: sign * value for place, value in left.items() if value is not None}
        if not known:
            return
        failed = failed | {max(known, key=known.__getitem__)}
        yield set(failed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--subsets", type=int, default=500, help="of each benchmark")
    parser.add_argument("--samples", type=int, default=60, help="of a run")
    parser.add_argument("--text-models", default="none", help="of BehaviorModeling")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    return run_campaigns(
        given.seed,
        lambda name: campaign(name, given.subsets, given.seed, given.samples, given.text_models),
    )


if __name__ == "__main__":
    sys.exit(main())
