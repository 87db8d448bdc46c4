"""``agentbench run``: the command line of ``asbench run``, which becomes one of pytest."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry

# Where `asbench clone` puts data, below the folder it is started in.
_CLONED = Path(".agentsociety-benchmark") / "datasets"
_USAGE = (
    "agentbench run [--config FILE] [--agent AGENT] [--mode MODE] [--datasets PATH] BENCHMARK "
    "[option of pytest ...]"
)


def run(arguments: Sequence[str]) -> int:
    """Starts pytest in this environment, and ends as it does."""
    command, notes = translated(arguments, Path.cwd())
    for note in notes:
        print(f"agentbench run: {note}", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    whole = [sys.executable, "-m", "pytest", *command]
    if os.name == "posix":
        # This process becomes pytest: the terminal, signals and the exit code are pytest's own.
        os.execv(sys.executable, whole)  # noqa: S606 -- no shell is wanted
    with subprocess.Popen(whole) as pytest:  # noqa: S603 -- what the user typed
        while True:
            try:
                return pytest.wait()
            except KeyboardInterrupt:  # pytest got it, too, and ends in its own way
                continue


def translated(arguments: Sequence[str], here: Path) -> tuple[list[str], list[str]]:
    """The arguments for pytest, and a line for each that has no meaning here."""
    given, rest = _parser().parse_known_args(arguments)
    benchmark = next((word for word in rest if registry.match(word) is not None), None)
    if benchmark is None:
        bare = ", ".join(word for word in rest if not word.startswith("-")) or "none"
        raise BenchmarkError(
            f"run: expected the name of a benchmark ({', '.join(registry.available())}), got {bare}"
        )
    rest.remove(benchmark)
    name = registry.match(benchmark)
    assert name is not None
    notes = [
        f"{flag} has no meaning here: {why}"
        for flag, value, why in (
            ("--official", given.official, "no board is told; the run's folder has all it needs"),
            ("--tenant-id", given.tenant_id, "runs are kept in .agentbench/runs, in no database"),
            (
                "--callback-url",
                given.callback_url,
                "nobody is called; scores.json is there at the end",
            ),
        )
        if value
    ]
    command = [f"--benchmark={name}"]
    for flag, value in (("config", given.config), ("agent", given.agent), ("mode", given.mode)):
        if value is not None:
            command.append(f"--{flag}={value}")
    dataset = given.datasets
    if dataset is None and not any(word.startswith("--dataset") for word in rest):
        if (here / _CLONED / name).is_dir():
            dataset = str(_CLONED / name)
        else:
            notes.append(
                f"no --datasets, and no {_CLONED / name} here: the demo data are used "
                f"(--datasets PATH or hub for others)"
            )
    if dataset is not None:
        command.append(f"--dataset={dataset}")
    return [*command, *rest], notes


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agentbench run",
        usage=_USAGE,
        description="What `asbench run` did, by starting pytest. All other options go to pytest.",
        allow_abbrev=False,
    )
    parser.add_argument("-c", "--config", metavar="FILE", help="asbench's config.yml")
    parser.add_argument(
        "-a", "--agent", metavar="AGENT", help="file.py, asbench's agent.yml, or what pytest --agent takes"
    )  # fmt: skip
    parser.add_argument("-m", "--mode", metavar="MODE", help="test or inference")
    parser.add_argument(
        "-d", "--datasets", metavar="PATH",
        help=f"the data (default: {_CLONED}/BENCHMARK, where `asbench clone` puts them, or the demo data)",
    )  # fmt: skip
    parser.add_argument("--official", action="store_true", help="accepted, without a meaning here")
    for flag in ("--tenant-id", "--callback-url"):
        parser.add_argument(flag, metavar="TEXT", help="accepted, without a meaning here")
    return parser
