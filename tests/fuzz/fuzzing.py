"""Runs a harness of this folder under atheris: ``PYTHONPATH=tests python -m fuzz.humob_tables [seconds]``.

Needs ``pip install atheris`` (Linux). A harness is a module with ``seeds()`` and ``check(data)``, which
raises for what must never happen. Without atheris, test_seeds.py has the seeds checked alone.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

SECONDS = 300


def fuzz(seeds: Callable[[], list[bytes]], check: Callable[[bytes], None], *others: str) -> None:
    """Fuzzes until something is found or the time is over; ``others`` are packages to cover, too."""
    import atheris

    with atheris.instrument_imports(include=["pytest_agentbench", *others]):
        check(seeds()[0])  # imports what it needs
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with tempfile.TemporaryDirectory() as folder:
        for number, seed in enumerate(seeds()):
            (Path(folder) / f"seed{number}").write_bytes(seed)
        options = [f"-max_total_time={seconds}", "-max_len=4096", "-print_final_stats=1"]
        atheris.Setup([sys.argv[0], folder, *options, *sys.argv[2:]], check)
        atheris.Fuzz()
