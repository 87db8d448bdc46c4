"""Runs of the built-in benchmarks by their own baselines, with some odd answers among them, for campaigns."""

from __future__ import annotations

import dataclasses
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench.agents import ask
from pytest_agentbench.agents.call import LocalAgent
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Dataset
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.scores_file import AgentFacts
from pytest_agentbench.scoring import judge, scores
from pytest_agentbench.settings.resolve import Layer, resolve
from pytest_agentbench.settings.settings import Settings

# The benchmarks of a campaign.
NAMES = tuple(sorted(set(registry.available()) - {"toysum"}))


def odd_trips(rng: random.Random) -> Any:
    """Somebody who sets out every half hour on some days and never on others."""
    days = [day for day in range(3) if rng.random() < 0.5]
    return [{"day": day, "departure": 1800 * n} for day in days for n in range(48)]


def odd_day(rng: random.Random) -> Any:
    """Somebody who does one thing all day, very far from home."""
    code = rng.randrange(1, 8)
    return {
        "gyration_radius": rng.choice([0.0, 1e6]),
        "daily_location_numbers": rng.choice([0.0, 40.0]),
        "intention_sequences": [code] * 48,
        "intention_proportions": [float(n == code) for n in range(1, 8)],
    }


_ODD = {"HurricaneMobility": odd_trips, "DailyMobility": odd_day}
_ODD_SHARE = 0.1


@dataclasses.dataclass(frozen=True)
class BaselineRun:
    """Some samples of the demo data, answered by all baselines in turn."""

    settings: Settings
    dataset: Dataset
    indices: Sequence[int]
    records: Sequence[Record]

    @property
    def questions(self) -> list[tuple[int, int]]:
        return [(index, 1) for index in self.indices]

    def values(self, records: Sequence[Record]) -> dict[str, float | None]:
        """The values of the primary reading."""
        found = scores.values_of(self.settings, self.dataset, self.questions, records)
        return dict(found[self.settings.reading])

    def write(self, folder: Path) -> Path:
        """The folder of the run, as a session leaves it."""
        folder.mkdir(parents=True)
        manifest = {
            "schema": run_folder.SCHEMA, "started": "20260102-030405", "versions": {},
            "settings": self.settings.as_json(), "agent": {"name": "baselines", "digest": "d"},
        }  # fmt: skip
        run_folder.write_json(folder / run_folder.MANIFEST, manifest)
        lines = "".join(f"{record.to_json()}\n" for record in self.records)
        (folder / run_folder.RECORDS).write_text(lines, encoding="ascii")
        found = scores.score(self.settings, self.dataset, self.questions, self.records)
        found = dataclasses.replace(
            found,
            agent=AgentFacts("baselines", "d"),
            partial=True,
            gates=judge.judge(self.settings, found, None),
        )
        run_folder.write_json(folder / run_folder.SCORES, found.as_json())
        return folder


def baseline_run(
    name: str, most: int, rng: random.Random, text_models: str = "none"
) -> BaselineRun:
    """``most`` samples of a benchmark; one in ten of the odd answers where a benchmark has some."""
    given = {"text_models": text_models} if name == "BehaviorModeling" else {}
    settings = resolve(name, None, [Layer(lambda key: key, given)], [Path()])
    benchmark = settings.benchmark
    dataset = benchmark.load(settings)
    indices = sorted(rng.sample(range(len(dataset.keys)), min(most, len(dataset.keys))))
    agents = [LocalAgent(agent) for agent in benchmark.baselines.values()]
    samples = [dataset.sample(index) for index in indices]
    outcomes = []
    for sample in samples:
        outcome = ask.ask(rng.choice(agents), sample.context)
        if name in _ODD and rng.random() < _ODD_SHARE:
            outcome.answer = _ODD[name](rng)
        outcomes.append(outcome)
    records, _ = evaluate(benchmark, samples, outcomes)
    assert {record.status for record in records} == {"ok"}, [r.error for r in records if r.error][
        :1
    ]
    for agent in agents:
        agent.close()
    return BaselineRun(settings, dataset, indices, records)


def run_campaigns(seed: int, campaign: Callable[[str], Any]) -> int:
    """Runs and tells a campaign on each benchmark; the exit code, which is 1 where one found problems."""
    sys.stdout.write(f"seed {seed}\n")
    good = True
    for name in NAMES:
        found = campaign(name)
        sys.stdout.write(f"{name}: {found}\n")
        sys.stdout.writelines(f"  {problem}\n" for problem in found.problems[:5])
        sys.stdout.flush()
        good &= not found.problems
    return 0 if good else 1
