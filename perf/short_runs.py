"""Short runs: 20 samples of each benchmark beside a bare session.

Sessions of `pytest --benchmark NAME --limit 20` on the demo data, each with its default baseline and with
all reports and plots, beside one of as many empty test functions; no other plugins. Processor time of the
whole process, the least of several, taken in turns; "beyond" is what the run needs more than the bare session.
"first" is the first run ever: an empty cache, in which the script of plots is made, once for each version of
vl-convert. Texts are measured by no models (`--text-models none`). Sizes are of report.html: of these 20
samples, and of the whole demo.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from measure import Cell, Session, in_turns, pytest_session, show

HEAD = ("benchmark", "bare s", "run s", "beyond s", "first s", "report MB", "whole demo MB")
ARGUMENTS = {
    "humob": (),
    "DailyMobility": (),
    "HurricaneMobility": (),
    "BehaviorModeling": ("--text-models=none",),
}
BARE = """
import pytest

@pytest.mark.parametrize("n", range({}))
def test_one(n):
    pass
"""


# Modules that Python has compiled are a part of a warm cache.
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}


def rows(quick: bool) -> Iterator[list[Cell]]:
    samples, rounds = (2, 1) if quick else (20, 7)
    few = f"--limit={samples}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_bare.py").write_text(BARE.format(samples))
        bare = partial(pytest_session, ["test_bare.py"], folder, **COMPILED)
        for benchmark in ARGUMENTS:
            first, small = run(folder, benchmark, few)
            _, whole = run(folder, benchmark, *[few] * quick)
            short = partial(run, folder, benchmark, few)
            empty, ours = in_turns([bare, lambda run=short: run()[0]], rounds)  # type: ignore[misc]
            least, most = (min(session.cpu for session in each) for each in (empty, ours))
            yield [benchmark, least, most, most - least, first.cpu, small, whole]


def run(folder: Path, benchmark: str, *more: str) -> tuple[Session, float]:
    """A session, and how many megabytes its report has."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    asked = [f"--benchmark={benchmark}", f"--run-dir={out}", *ARGUMENTS[benchmark], *more]
    cache = str(folder / f"cache-{benchmark}")
    session = pytest_session(asked, folder, AGENTBENCH_CACHE=cache, **COMPILED)
    return session, (out / "report.html").stat().st_size / 1e6


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
