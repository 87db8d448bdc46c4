"""Changes the files of every demo data set and loads them: read as what they are, or refused by name.

    PYTHONPATH=tests python -m fuzz.mutated_files --count 10000

Each case changes one file of a small copy of a demo, or a submission for it (bytes flipped, cut off, types
changed, lone surrogates, NaN, huge numbers, deep nesting, other encodings and so on), loads it, lets a
baseline answer and evaluates the answers. Allowed are a run, and a BenchmarkError that names the file.
Lines of a file that were not changed must read the same.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import gzip
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pytest_agentbench.agents.ask import Outcome, ask
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.plain import jsonable
from pytest_agentbench.benchmarks.protocol import Dataset
from pytest_agentbench.runs import samples as sample_names
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.settings.resolve import Layer, resolve

_BENCHMARKS = Path(sys.modules[Dataset.__module__].__file__ or "").parent
_DEMOS = {
    "BehaviorModeling": _BENCHMARKS / "behavior_modeling" / "demo",
    "DailyMobility": _BENCHMARKS / "daily_mobility" / "demo",
    "HurricaneMobility": _BENCHMARKS / "hurricane_mobility" / "demo",
    "humob": _BENCHMARKS / "humob" / "demo.csv.gz",
}
SUBMISSION = "submission"  # stands for the file of that name among those of the data
_LONGEST = 2.0  # seconds of processor time for one case


@dataclass(frozen=True)
class Case:
    benchmark: str
    file: str  # within the data set, or SUBMISSION
    how: str
    seed: int


# The data, small enough to be loaded thousands of times


def small(name: str) -> dict[str, bytes]:
    """The files of a small data set: a demo's first tasks, with all that they need."""
    demo = _DEMOS[name]
    if name == "humob":
        rows = gzip.decompress(demo.read_bytes()).decode().splitlines()
        first = [r for r in rows[1:] if int(r.split(",")[0]) <= int(rows[1].split(",")[0]) + 1]
        return {"table.csv": "\n".join([rows[0], *first, ""]).encode()}
    found = {
        path.relative_to(demo).as_posix().removesuffix(".gz"): (
            gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        )
        for path in sorted(demo.rglob("*"))
        if path.is_file() and path.name != "README.txt"
    }
    if name == "BehaviorModeling":
        tasks = json.loads(found["test_tasks.json"])
        kept = [
            next(t for t in tasks if t["target"] == k) for k in ("recommendation", "review_writing")
        ]
        found["test_tasks.json"] = json.dumps(kept, indent=1).encode()
        for file in ("inference_tasks.json", "inference_tasks_groundtruth.json"):
            del found[file]
        found["review.json"] = b"".join(found["review.json"].splitlines(True)[:60])
    if "profiles.json" in found:
        lines = found["profiles.json"].decode().splitlines()
        found["profiles.json"] = "\n".join([*lines[:4], lines[4].rstrip(","), "]"]).encode()
    return found


def submission(name: str) -> tuple[str, bytes]:
    """A good submission for the small data set: its file's name and content."""
    with data_set(name, small(name)) as folder:
        benchmark, dataset = loaded(name, folder)
        answers = {str(k): answer(benchmark, dataset, n) for n, k in enumerate(dataset.keys)}
        if name == "humob":
            rows = ["uid,d,t,x,y"]
            for index, key in enumerate(dataset.keys):
                times = dataset.sample(index).context["targets"]
                cells = answers[str(key)]
                rows += [
                    f"{key.id},{t[0]},{t[1]},{c[-2]},{c[-1]}"
                    for t, c in zip(times, cells, strict=True)
                ]
            return "submission.csv", "\n".join([*rows, ""]).encode()
        if name == "BehaviorModeling":
            lines = [
                json.dumps({"sample": key, "answer": jsonable(a)}) for key, a in answers.items()
            ]
            return "submission.jsonl", "\n".join([*lines, ""]).encode()
        parts = [jsonable(checked) for checked in answers.values()]
        merged: dict[str, Any] = {}
        for part in parts:
            for key, value in part.items():
                merged.setdefault(key, []).append(value)
        return "submission.json", json.dumps(merged).encode()


# Ways to spoil a file


def _flipped(rng: random.Random, data: bytes) -> bytes:
    spoiled = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if spoiled:
            spoiled[rng.randrange(len(spoiled))] ^= 1 << rng.randrange(8)
    return bytes(spoiled)


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _dropped(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.randint(1, 200) :]


def _inserted(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.randbytes(rng.randint(1, 20)) + data[place:]


def _line_twice(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(True)
    if lines:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"".join(lines)


ODD_TEXTS = [
    "NaN", "-Infinity", "1e400", "1" + "0" * 5000, "-1", "1.5", '""', '"\\ud800"', '"\\u0000"', "null", "true", "[]", "{}",
    "[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000, '"' + "x" * 100_000 + '"', "9" * 400, "[[1],[2,[3]]]",
    '"2019-13-45"', '"é\\u2028"', '{"a": 1, "a": 2}',
]  # fmt: skip
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null')


def _other_value(rng: random.Random, data: bytes) -> bytes:
    """Another value somewhere, without making the file as a whole unreadable."""
    places = list(_VALUE.finditer(data))
    if not places:
        return data
    one = rng.choice(places)
    return data[: one.start()] + rng.choice(ODD_TEXTS).encode() + data[one.end() :]


def _other_type(rng: random.Random, data: bytes) -> bytes:
    """The same JSON with one part, however deep, of another type; or a key renamed or gone."""
    lines = data.splitlines(True)
    number = rng.randrange(len(lines)) if lines else 0
    for source, put in (
        (data, lambda new: new),
        (
            lines[number] if lines else b"",
            lambda new: b"".join([*lines[:number], new + b"\n", *lines[number + 1 :]]),
        ),
    ):
        with contextlib.suppress(ValueError):
            content = json.loads(source)
            return put(json.dumps(_changed(rng, content)).encode())
    return _other_value(rng, data)


def _changed(rng: random.Random, content: Any) -> Any:
    content = copy.deepcopy(content)
    holder, place = [content], 0
    while isinstance(holder[place], (list, dict)) and holder[place] and rng.random() < 0.85:
        inner = holder[place]
        holder, place = (
            inner,
            rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner))),
        )
    if isinstance(holder, dict) and rng.random() < 0.2:
        value = holder.pop(place)
        if rng.random() < 0.5:
            holder[rng.choice(["", "other", "\ud800", "id"])] = value
        return content
    holder[place] = rng.choice(
        [None, True, 0, -1, 10**30, 1e300, float("nan"), float("inf"), "", "x", "\ud800", "\0", [], {}, [1], {"a": 1},
         [holder[place]], str(holder[place])[:50], [None] * 48, "1", "é\u2028"]
    )  # fmt: skip
    return content if holder is not None else None


def _as(encoding: str) -> Callable[[random.Random, bytes], bytes]:
    return lambda rng, data: data.decode("utf-8", "replace").encode(encoding)


HOW: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "bytes flipped": _flipped,
    "cut off": _cut,
    "part left out": _dropped,
    "bytes put in": _inserted,
    "a line twice": _line_twice,
    "another value": _other_value,
    "another type": _other_type,
    "UTF-16": _as("utf-16"),
    "a byte order mark": _as("utf-8-sig"),
    "CRLF": lambda rng, data: data.replace(b"\n", b"\r\n"),
    "CR": lambda rng, data: data.replace(b"\n", b"\r"),
    "empty": lambda rng, data: b"",
    "first line only": lambda rng, data: data[: data.find(b"\n") + 1],
    "blank": lambda rng, data: b" \n\n",
    "NUL bytes": lambda rng, data: b"\0" * min(len(data), 500),
    "gzip": lambda rng, data: gzip.compress(data, mtime=0),
    "a pickle": lambda rng, data: b"\x80\x04" + data,
}


# One case


@contextlib.contextmanager
def data_set(name: str, files: dict[str, bytes]) -> Iterator[Path]:
    """A folder with these files, and a cache that is thrown away with it."""
    with tempfile.TemporaryDirectory(prefix="agentbench-mutated-", dir=_fast_place()) as place:
        folder = Path(place) / "data"
        for file, content in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
        before = os.environ.get("AGENTBENCH_CACHE")
        os.environ["AGENTBENCH_CACHE"] = str(Path(place) / "cache")
        try:
            yield folder / "table.csv" if name == "humob" else folder
        finally:
            if before is None:
                del os.environ["AGENTBENCH_CACHE"]
            else:
                os.environ["AGENTBENCH_CACHE"] = before


def _fast_place() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def loaded(name: str, dataset: Path) -> tuple[Any, Dataset]:
    values: dict[str, Any] = {"dataset": str(dataset)}
    if name == "BehaviorModeling":
        values["text_models"] = "none"
    if name == "HurricaneMobility":
        values["items"] = "population"
    made = resolve(name, None, [Layer(where=str, values=values)], [Path()])
    found = made.benchmark.load(made)
    sample_names.check_names(found)
    return made.benchmark, found


def answer(benchmark: Any, dataset: Dataset, index: int) -> Any:
    baseline = benchmark.baselines[benchmark.default_baseline]
    outcome = ask(_function(baseline), dataset.sample(index).context)
    if outcome.error is not None:
        raise outcome.error
    return benchmark.check(dataset.sample(index), outcome.answer)


def _function(target: Any) -> Any:
    from pytest_agentbench.agents.call import LocalAgent

    return LocalAgent(target)


def check(case: Case, files: dict[str, bytes], given: tuple[str, bytes]) -> str:
    """What became of a case: ``read`` or ``refused``; AssertionError for anything else."""
    rng = random.Random(repr(case))
    source = given[1] if case.file == SUBMISSION else files[case.file]
    spoiled = HOW[case.how](rng, source)
    changed = {**files} if case.file == SUBMISSION else {**files, case.file: spoiled}
    started = time.process_time()
    with data_set(case.benchmark, changed) as folder:
        try:
            benchmark, dataset = loaded(case.benchmark, folder)
            if case.file == SUBMISSION:
                path = folder.parent / given[0]
                path.write_bytes(spoiled)
                _submitted(case.benchmark, benchmark, dataset, path, folder)
            else:
                _asked(benchmark, dataset)
                _rest_reads_the_same(case, dataset, files[case.file], spoiled)
        except BenchmarkError as error:
            name = given[0] if case.file == SUBMISSION else Path(case.file).name
            assert name in str(error) or Path(case.file).parent.name in str(error), str(error)
            assert len(str(error)) < 5000, "a message without an end"
            return "refused"
        assert time.process_time() - started < _LONGEST, "it took too long"
    return "read"


def _asked(benchmark: Any, dataset: Dataset) -> None:
    """A baseline answers the first and the last sample; whatever comes of it is a record."""
    agent = _function(benchmark.baselines[benchmark.default_baseline])
    indices = sorted({0, len(dataset.keys) - 1} if dataset.keys else set())
    chosen = [dataset.sample(index) for index in indices]
    records, _ = evaluate(benchmark, chosen, [ask(agent, sample.context) for sample in chosen])
    for record in records:
        record.to_json()
        assert not (record.error or "").startswith(("check failed", "scoring failed")), record.error
    agent.close()


def _submitted(name: str, benchmark: Any, dataset: Dataset, path: Path, folder: Path) -> None:
    values: dict[str, Any] = {"dataset": str(folder), "submission": str(path)}
    if name == "HurricaneMobility":
        values["items"] = "population"
    settings = resolve(name, None, [Layer(where=str, values=values)], [Path()])
    found = benchmark.read_submission(path, dataset, settings)
    for index, key in enumerate(dataset.keys):
        if str(key) in found.answers:
            sample = dataset.sample(index)
            records, _ = evaluate(benchmark, [sample], [Outcome(found.answers[str(key)])])
            records[0].to_json()
            assert not (records[0].error or "").startswith(("check failed", "scoring failed"))


def _rest_reads_the_same(case: Case, dataset: Any, before: bytes, after: bytes) -> None:
    """Users and items of lines that stand in both files are what those lines say."""
    table = Path(case.file).stem
    if case.benchmark != "BehaviorModeling" or table not in ("user", "item"):
        return
    kept = set(before.splitlines()) & set(after.splitlines())
    said: dict[str, Any] = {}
    for line in after.splitlines():  # the last of two wins
        with contextlib.suppress(ValueError):
            record = json.loads(line)
            said[str(record[f"{table}_id"])] = (line, record)
    store = dataset.sample(0).context["uir"]
    get = store.get_user if table == "user" else store.get_item
    for identifier, (line, record) in list(said.items())[:40]:
        if line in kept:
            assert get(identifier) == record, f"{identifier} reads otherwise"


def cases(count: int, seed: int) -> Iterator[Case]:
    """As many cases, in turn of every benchmark, file and way."""
    rng = random.Random(seed)
    kinds = [
        (name, file, how) for name in _DEMOS for file in [*small(name), SUBMISSION] for how in HOW
    ]
    while count > 0:
        rng.shuffle(kinds)
        for name, file, how in kinds[:count]:
            yield Case(name, file, how, rng.randrange(10**9))
        count -= len(kinds)


def campaign(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    data = {name: (small(name), submission(name)) for name in _DEMOS}
    figures: Counter[str] = Counter()
    problems = []
    for case in cases(count, seed):
        try:
            figures[check(case, *data[case.benchmark])] += 1
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            figures["failed"] += 1
            problems.append(f"{case}: {type(error).__name__}: {error!s:.300}")
    return figures, problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    started = time.monotonic()
    np.seterr(all="ignore")
    figures, problems = campaign(given.count, given.seed)
    for problem in problems[:50]:
        sys.stdout.write(f"{problem}\n")
    seconds = time.monotonic() - started
    sys.stdout.write(f"seed {given.seed}: {dict(figures)} in {seconds:.0f} s\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
