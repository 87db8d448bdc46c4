"""The folder of a data set: the demo beside the benchmark, the hub's copy, or the user's own."""

from __future__ import annotations

from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.sources import hub


def find_folder(
    dataset: str | Path, demo: Path, repository: str, layout: str, revision: str | None = None
) -> tuple[Path, str]:
    """The folder that ``dataset`` means, and its name for people; ``layout`` says what it holds."""
    if dataset == "demo":
        return demo, "demo data (synthetic)"
    if dataset == "hub":
        return hub.fetch(repository, revision), repository
    folder = Path(dataset)
    if not folder.is_dir():
        raise BenchmarkError(f"dataset {folder}: expected demo, hub or a folder with {layout}")
    return folder, str(folder)
