"""Prints the table of the built-in agents on the demo data that stands in docs/humob.md.

Run as ``python perf/humob_baselines.py``.
"""

from __future__ import annotations

from pathlib import Path

from pytest_agentbench.benchmarks.humob.answers import check
from pytest_agentbench.benchmarks.humob.baselines import BASELINES
from pytest_agentbench.benchmarks.humob.data import DEMO_FILE, HumobDataset, Split
from pytest_agentbench.benchmarks.humob.editions import EDITIONS
from pytest_agentbench.benchmarks.humob.scoring import METRICS, READINGS, score_samples
from pytest_agentbench.benchmarks.humob.table_cache import load_table
from pytest_agentbench.metrics.bootstrap import mean


def main() -> None:
    print(baseline_table())


def baseline_table(path: Path = DEMO_FILE) -> str:
    """The scores of every baseline on all users of a file, as Markdown."""
    edition = EDITIONS["2023"]
    split = Split("test", edition, None, None, False, edition.predict_days, "agentbench", (0, 6))
    dataset = HumobDataset(load_table(path), split, path=path, name=path.name)
    samples = [dataset.sample(index) for index in range(len(dataset))]
    columns = [(reading, metric) for reading in READINGS for metric in METRICS]
    lines = [
        "| agent | " + " | ".join(f"{metric} `{reading}`" for reading, metric in columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for name, agent in BASELINES.items():
        answers = [check(sample, agent(sample.context)) for sample in samples]
        scores = score_samples(samples, answers)
        values = [mean([score[r][m] for score in scores], None) for r, m in columns]
        shown = [
            f"{value:.4f}" if metric == "geobleu" else f"{value:.2f}"
            for value, (_, metric) in zip(values, columns, strict=True)
        ]
        lines.append(f"| `{name}` | {' | '.join(shown)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
