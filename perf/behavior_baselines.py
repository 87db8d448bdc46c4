"""The table of baselines in docs/behavior-modeling.md, as Markdown.

Run as ``python perf/behavior_baselines.py [test|inference] [TEXT MODELS]``.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

from pytest_agentbench.benchmarks.behavior_modeling import data, diagnostics
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.runs.record import Record

COLUMNS = ("top_1_hit_rate", "top_3_hit_rate", "top_5_hit_rate", "average_hit_rate",
           "preference_estimation", "review_generation", "final_score")  # fmt: skip


def main() -> None:
    mode, models = (*sys.argv[1:], *("test", "offline")[len(sys.argv) - 1 :])[:2]
    settings: Any = SimpleNamespace(
        dataset="demo", mode=mode, seed=0, parameters={"text_models": models}, bases=(),
    )  # fmt: skip
    dataset = data.load(settings)
    benchmark = BehaviorModeling()
    print(f"| baseline | {' | '.join(COLUMNS)} |")
    print(f"|---|{'---|' * len(COLUMNS)}")
    for name, agent in benchmark.baselines.items():
        samples = [dataset.sample(index) for index in range(len(dataset.keys))]
        records = [
            Record(benchmark.name, str(s.key), "ok", answer=benchmark.check(s, agent(s.context)))
            for s in samples
        ]
        scores: Any = benchmark.score_run(dataset, records)("documented", None)
        cells = [f"{scores[c]:.1f}" if c == "final_score" else f"{scores[c]:.3f}" for c in COLUMNS]
        print(f"| `{name}` | {' | '.join(cells)} |")
    chance = diagnostics.chance_rates(dataset.tasks)
    cells = [f"{chance[column]:.3f}" if column in chance else "" for column in COLUMNS]
    print(f"| chance | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
