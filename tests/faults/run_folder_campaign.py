"""Damage the files of runs at random and give them to every command that reads runs: the promise in figures.

    PYTHONPATH=tests:tests/toy python -m faults.run_folder_campaign --commands 2000

Each command reads a copy of a good run in which one file was changed once: a value of another type, a
missing, doubled or renamed key, huge and negative numbers, NaN, lone surrogates, 3,000 levels, other
bytes, half a file, none, a pipe, a link. It fails by a traceback, by INTERNALERROR, by an exit code that is
not documented, by taking more than a minute, and where a list of runs does not have the good one beside.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILES = ("manifest.json", "scores.json", "records.jsonl")
SECONDS = 60
BENCHMARKS = {
    "toysum": [],
    "humob": ["--first=3"],
    "HurricaneMobility": ["--first=3"],
    "DailyMobility": ["--first=3"],
    "BehaviorModeling": ["--first=3", "--text-models=none"],
}

# Values of any JSON type, and texts that stand for what json.dumps does not write.
RAW = {
    "@nan": "NaN", "@inf": "-Infinity", "@huge": "1" + "0" * 400, "@digits": "1" * 5000,
    "@over": "1e999", "@deep": "[" * 3000 + "]" * 3000, "@deeper": '{"a":' * 90 + "1" + "}" * 90,
    "@surrogate": '"\\ud800"', "@nothing": "", "@word": "nonsense", "@null byte": '"\\u0000"',
}  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 3.5, -0.0, 1e308, -1e308, 10**30, -(10**18), "", "x", "ok", "demo", "hub",
    "../../../etc/passwd", "a" * 100_000, "http://[", "\x1b[31m", [], {}, [[[]]], [None], ["x"], {"": None},
    {"a": {"b": []}}, {"value": "x"}, [{"role": 3}], [1] * 1000, *RAW,
]  # fmt: skip


@dataclass
class Tally:
    commands: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def damage(run: Path, draw: random.Random) -> str:
    """Changes one file of a run once; says how."""
    path = run / draw.choice(FILES)
    how = draw.choice([_value] * 12 + [_key] * 4 + [_bytes] * 3 + [_file])
    return f"{path.name}: {how(path, draw)}"


def _places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from _places(value, (*path, key))


def _edited(path: Path, draw: random.Random, edit: Callable[[Any, Any, random.Random], str]) -> str:
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    at = draw.randrange(len(lines))
    data = json.loads(lines[at])
    places = list(_places(data))
    depth = draw.choice(sorted({len(place) for place in places}))  # most lie deep down
    place = draw.choice([place for place in places if len(place) == depth])
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    said = edit(inner, place[-1], draw)
    lines[at] = json.dumps(data)
    for token, raw in RAW.items():
        lines[at] = lines[at].replace(json.dumps(token), raw)
    path.write_text("\n".join(lines) + "\n")
    return f"{'.'.join(map(str, place))} {said}"


def _value(path: Path, draw: random.Random) -> str:
    def edit(inner: Any, key: Any, draw: random.Random) -> str:
        inner[key] = copy.deepcopy(draw.choice(VALUES))
        return f"= {inner[key]!r:.60}"

    return _edited(path, draw, edit)


def _key(path: Path, draw: random.Random) -> str:
    def edit(inner: Any, key: Any, draw: random.Random) -> str:
        how = draw.choice(["removed", "renamed", "doubled", "swapped"])
        value = inner.pop(key) if how != "swapped" else None
        if isinstance(inner, dict) and how == "renamed":
            inner["another"] = value
        elif isinstance(inner, dict) and how == "doubled":
            # Two keys that the raw text makes equal.
            inner[key] = value
            inner[f"{key}@"] = draw.choice(VALUES)
        elif how == "swapped":
            other = (
                draw.choice(list(inner)) if isinstance(inner, dict) else draw.randrange(len(inner))
            )
            inner[key], inner[other] = inner[other], inner[key]
        return how

    said = _edited(path, draw, edit)
    path.write_text(path.read_text().replace('@": ', '": '))
    return said


def _bytes(path: Path, draw: random.Random) -> str:
    data = path.read_bytes()
    at = draw.randrange(len(data))
    how = draw.choice(["cut", "byte", "null bytes", "empty", "nonsense", "mark", "list", "twice"])
    path.write_bytes(
        {
            "cut": data[:at],
            "byte": data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :],
            "null bytes": data[:at] + b"\0\0" + data[at:],
            "empty": b"",
            "nonsense": draw.choice(
                [b"3", b"null", b'"x"', b"[]", b"{}", b"\xff\xfe", b"[" * 3000]
            ),
            "mark": b"\xef\xbb\xbf" + data,
            "list": b"[" + data + b"]",
            "twice": data + data,
        }[how]
    )
    return f"{how} at {at}"


def _file(path: Path, draw: random.Random) -> str:
    how = draw.choice(["gone", "a folder", "a pipe", "a link"])
    path.unlink()
    if how == "a folder":
        path.mkdir()
    elif how == "a pipe":
        os.mkfifo(path)
    elif how == "a link":
        path.symlink_to(os.devnull)
    return how


# What is done with a run ({run}) of a benchmark ({name}) beside a good one ({good}); documented exit codes.
COMMANDS: dict[str, tuple[set[int], str]] = {
    "runs": ({0}, "agentbench runs {below}"),
    "leaderboard": ({0}, "agentbench leaderboard {below}"),
    "leaderboard --html": ({0}, "agentbench leaderboard {below} --html -o {out}/l.html"),
    "report": ({0, 2}, "agentbench report {run} -o {out}/r.html"),
    "export inspect": ({0, 2}, "agentbench export {run} --format inspect -o {out}/i.json"),
    "export submission": ({0, 2}, "agentbench export {run} --format submission -o {out}/s.json"),
    "compare before": ({0, 2}, "agentbench compare {run} {good}"),
    "compare after": ({0, 2}, "agentbench compare {good} {run} --json"),
    "compare --html": ({0, 2}, "agentbench compare {good} {run} --html -o {out}/c.html"),
    "compare --markdown": ({0, 2}, "agentbench compare {run} {good} --markdown"),
    "merge": ({0, 1, 2}, "agentbench merge {run} --out {out}/merged"),
    "merge both": ({0, 1, 2}, "agentbench merge {good} {run} --out {out}/merged"),
    "save": ({0, 2}, "agentbench save kept {run} --replace"),
    "score": ({0, 1, 2}, "agentbench score {name} --submission {run} --run-dir {out}/scored {options}"),
    "validate": ({0, 1, 2}, "agentbench validate {name} {run}/records.jsonl"),
    "--resume": ({0, 1, 4}, "pytest --benchmark={name} --resume={run} {options}"),
    "--resume-anyway": (
        {0, 1, 4},
        "pytest --benchmark={name} --resume={run} --resume-anyway {options}",
    ),
    "--baseline": (
        {0, 1, 4},
        "pytest --benchmark={name} --baseline={run} --run-dir={out}/based {options}",
    ),
    "--submission": (
        {0, 1, 4},
        "pytest --benchmark={name} --submission={run} --run-dir={out}/submitted {options}",
    ),
}  # fmt: skip
_SCORING = ("--first", "--text-models")

# Runs a command line; its exit code and all that it wrote.
Run = Callable[[str, list[str]], tuple[int, str]]


def attack(
    good: Path,
    name: str,
    run_command: Run,
    draw: random.Random,
    which: str,
    work: Path,
    tally: Tally,
) -> None:
    """One command on one damaged copy of a good run, in a folder of its own."""
    shutil.rmtree(work, ignore_errors=True)
    below = work / "below"
    shutil.copytree(good, below / "good")
    shutil.copytree(good, below / "damaged")
    (work / "out").mkdir()
    how = damage(below / "damaged", draw)
    codes, words = COMMANDS[which]
    places = {"below": below, "run": below / "damaged", "good": below / "good", "out": work / "out"}
    program, *arguments = [
        word.format(name=name, **places) for word in words.split() if word != "{options}"
    ]
    if "{options}" in words:
        arguments += BENCHMARKS[name]
    started = time.monotonic()
    try:
        with _within(SECONDS):
            code, output = run_command(program, arguments)
    except BaseException:
        code, output = -1, traceback.format_exc()
    tally.commands += 1
    tally.codes[f"{program} {code}"] += 1
    wrong = []
    if code not in codes:
        wrong.append(f"exit code {code}")
    wrong += [word for word in ("Traceback (most", "INTERNALERROR") if word in output]
    if which in ("runs", "leaderboard") and "good" not in output:
        wrong.append("the good run is not listed")
    if time.monotonic() - started > SECONDS:
        wrong.append("too slow")
    if wrong:
        tally.failures.append(
            f"{name}, {which}, {how}: {', '.join(wrong)}\n{output[-3000:]}\n{'-' * 80}"
        )


@contextlib.contextmanager
def _within(seconds: int) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def in_process(program: str, arguments: list[str]) -> tuple[int, str]:
    """A command in this process: a new one would take a second."""
    import pytest

    from pytest_agentbench.cli import main

    written = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        if program == "pytest":
            options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--rootdir=."]
            code = int(pytest.main([*arguments, *options]))
        else:
            try:
                code = main(arguments)
            except SystemExit as ended:
                code = int(ended.code or 0)
    return code, written.buffer.getvalue().decode("utf-8", "replace")


def campaign(commands: int, seed: int, names: list[str]) -> Tally:
    draw, tally = random.Random(seed), Tally()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        os.chdir(here)
        (here / "pytest.ini").write_text("[pytest]\n")
        os.environ["AGENTBENCH_CACHE"] = str(here / "cache")
        for name in names:
            arguments = [f"--benchmark={name}", *BENCHMARKS[name], f"--run-dir={here / name}"]
            code, output = in_process("pytest", arguments)
            assert (here / name / "scores.json").exists(), (code, output)
        for number in range(commands):
            name, which = draw.choice(names), list(COMMANDS)[number % len(COMMANDS)]
            attack(here / name, name, in_process, draw, which, here / "work", tally)
        os.chdir("/")
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--benchmark", action="append", choices=BENCHMARKS)
    given = parser.parse_args()
    started = time.monotonic()
    tally = campaign(given.commands, given.seed, given.benchmark or list(BENCHMARKS))
    for failure in tally.failures:
        sys.stdout.write(f"{failure}\n")
    codes = ", ".join(f"{code}: {count}" for code, count in sorted(tally.codes.items()))
    sys.stdout.write(
        f"{tally.commands} commands in {time.monotonic() - started:.0f} s, "
        f"{len(tally.failures)} failed; exit codes {codes}\n"
    )
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
