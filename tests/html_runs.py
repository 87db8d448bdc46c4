"""Finished runs to write reports of: a made-up one of any size, and real ones on the demo data."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toy.toybench import ToySum

from pytest_agentbench.benchmarks.protocol import Dataset, Sample, SampleKey, SampleList
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.scores_file import AgentFacts, Scores
from pytest_agentbench.scoring import judge, scores
from pytest_agentbench.settings.resolve import Layer, resolve
from pytest_agentbench.settings.settings import Settings

HOSTILE = (
    '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1"> &amp; &lt;b&gt; '
    "<!-- ]]> \u2028\u2029 ${title} $title {{1}} 'quoted' \"twice\" \x00 \ud800"
)
HUMOB, DAILY, HURRICANE = "humob", "DailyMobility", "HurricaneMobility"
BEHAVIOR = "pytest_agentbench.benchmarks.behavior_modeling.benchmark:BehaviorModeling"


@dataclasses.dataclass
class Finished:
    """All that ``write_html`` is given."""

    benchmark: Any
    dataset: Dataset
    settings: Settings
    scores: Scores
    records: Sequence[Record]


def toy(
    count: int = 12,
    records: Sequence[Record] | None = None,
    contexts: Mapping[int, Any] | None = None,
    **changed: Any,
) -> Finished:
    """A run of ``count`` made-up samples; ``changed`` replaces entries of the scores."""
    samples = [
        Sample(SampleKey("sum", f"s{n}"), (contexts or {}).get(n, {"a": n, "b": n}), 2 * n)
        for n in range(count)
    ]
    benchmark = ToySum()
    settings = Settings(
        benchmark=benchmark, nodeid="toysum", mode="test", dataset="demo", agent="my_agent.py",
        reading="exact", seed=3,
    )  # fmt: skip
    given = toy_records(count) if records is None else records
    failed = sum(record.status != "ok" for record in given)
    result: dict[str, Any] = {
        "schema": 1, "benchmark": "toysum", "mode": "test", "seed": 3, "primary": "exact",
        "dataset": {"source": "demo", "digest": "d1g3st", "description": "toy data"},
        "conditions": {"candidate order": "seed 3"},
        "agent": {"name": "my_agent.py", "digest": "0"},
        "samples": {"total": count, "ok": count - failed, "invalid": 0, "error": failed, "timeout": 0},
        "partial": False, "incomplete": None,
        "readings": {
            "exact": {"accuracy": {"value": 0.75, "low": 0.5, "high": 0.875},
                      "distance": {"value": 12.5, "low": 10.0, "high": 15.0},
                      "style": {"value": None, "reason": "numbers have no style"},
                      "coverage": {"value": 1.0, "low": 1.0, "high": 1.0}},
            "lenient": {"accuracy": {"value": 0.8125}, "distance": {"value": 12.5},
                        "style": {"value": None, "reason": "numbers have no style"},
                        "coverage": {"value": 1.0}},
        },
        "gates": [
            {"gate": "accuracy >= 0.7", "passed": True, "value": 0.75, "threshold": 0.7, "reason": None},
            {"gate": "distance < 10", "passed": False, "value": 12.5, "threshold": 10.0, "reason": None},
        ],
        "details": {"notes": ["chance: 0.05"], "breakdown": {"even": 1.0}},
        **changed,
    }  # fmt: skip
    scores = Scores.from_json(result, "toy")
    return Finished(benchmark, SampleList(samples, "toy data"), settings, scores, given)


def toy_records(count: int) -> list[Record]:
    """Every fifth sample failed; the others have values in no order."""
    drawn = random.Random(0)
    return [
        Record("toysum", f"sum[s{n}]", "error", error=f"RuntimeError: boom {n}")
        if n % 5 == 4
        else Record(
            "toysum", f"sum[s{n}]", "ok", answer=2 * n, seconds=drawn.random(),
            metrics={"exact": {"accuracy": 1.0, "distance": drawn.random() * 50}},
            evidence={"stdout": f"thinking about {n}"},
        )
        for n in range(count)
    ]  # fmt: skip


def real(name: str, limit: int, baseline: str | None = None) -> Finished:
    """A run of a built-in agent on the first samples of the demo data; every ninth answer failed."""
    values = {"text_models": "none"} if name == BEHAVIOR else {}
    settings = resolve(name, None, [Layer(lambda key: key, values)], [Path()])
    benchmark = settings.benchmark
    dataset = benchmark.load(settings)
    # Of every kind of sample some.
    step = max(1, len(dataset.keys) // limit)
    indices = list(range(0, len(dataset.keys), step))[:limit]
    agent: Any = benchmark.baselines[baseline or benchmark.default_baseline]
    agent = agent() if isinstance(agent, type) else agent
    call = getattr(agent, "forward", agent)
    records = []
    for number, index in enumerate(indices):
        sample = dataset.sample(index)
        key = str(sample.key)
        if number % 9 == 8:
            records.append(Record(benchmark.name, key, "timeout", error="no answer after 1 s"))
            continue
        answer = benchmark.check(sample, call(sample.context))
        metrics = benchmark.score_sample(sample, answer)
        records.append(Record(benchmark.name, key, "ok", answer=answer, metrics=metrics))
    result = scores.score(settings, dataset, [(index, 1) for index in indices], records)
    gates = judge.judge(settings, result, None)
    agent = AgentFacts(settings.agent)
    result = dataclasses.replace(result, agent=agent, partial=True, gates=gates)
    return Finished(benchmark, dataset, settings, result, records)
