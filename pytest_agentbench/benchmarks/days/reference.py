"""A reference population: days of people to compare generated days with, from a file or from a run.

The file is JSON, also gzipped: ``{"note": …, "people": [{"profile": {…}, "visits": [[seconds, place,
code], …]}, …]}``; instead of visits a person may have the rows, trips and roads of a lived day. Of a run,
the days in its records are the reference.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench.base import bounded_json, parse
from pytest_agentbench.base.compressed import lines, unzipped
from pytest_agentbench.base.errors import BenchmarkError, InvalidAnswer, expect, shown
from pytest_agentbench.base.files import parsed_json
from pytest_agentbench.benchmarks.days.day_facts import Positions, facts
from pytest_agentbench.benchmarks.days.person_groups import groups
from pytest_agentbench.benchmarks.days.realism import Reference
from pytest_agentbench.benchmarks.protocol import Parameter

FILES = ("reference_days.json.gz", "reference_days.json")  # in a data folder
RECORDS = "records.jsonl"
PEOPLE = "people with visits, or with the rows and trips of a lived day"
# Names a place, as parse.path does: the manifest of somebody else's run cannot make us open it.
REFERENCE = Parameter(
    "reference", f"a JSON file ({PEOPLE}) or the folder of a run", parse.path, metavar="PATH",
    help="compare days with those of these people (a JSON file, or the folder of a run); else with those "
    "in the folder of the data, if it has any",
)  # fmt: skip

# A day as records hold it, checked.
Check = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Person = tuple[str, Mapping[str, Any], Mapping[str, Any]]  # who, for messages; profile; day


def in_folder(folder: Path) -> Path | None:
    """The reference that comes with the data."""
    return next((folder / name for name in FILES if (folder / name).is_file()), None)


def given(name: str | None, bases: Sequence[Path]) -> Path | None:
    """What the parameter names, in the first base that has it; a mistake is told at once."""
    if name is None:
        return None
    path = Path(name).expanduser()
    found = next((base / path for base in bases if (base / path).exists()), path)
    if found.is_file() or (found / RECORDS).is_file():
        return found
    came = f"a folder without {RECORDS}" if found.is_dir() else "nothing there"
    raise BenchmarkError(f"reference {found}: expected {REFERENCE.expected}, got {came}")


def load(
    path: Path, check: Check, position: Positions, profiles: Mapping[str, Mapping[str, Any]]
) -> Reference:
    """The people of a file or a run, each day checked.

    ``profiles`` by sample are for a run, whose records have none.
    """
    if path.is_dir():
        note, people = "", list(_of_run(path, profiles))
    else:
        note, people = _of_file(path)
    if not people:
        raise BenchmarkError(f"{path}: expected {PEOPLE}, got nobody")
    found, belongs = [], []
    for who, profile, day in people:
        try:
            checked = check(day)
        except InvalidAnswer as error:
            raise BenchmarkError(f"{path}: {who}: {error}") from None
        found.append(facts(checked, profile.get("home"), position))
        belongs.append(groups(profile))
    count = "1 person" if len(found) == 1 else f"{len(found)} people"
    return Reference(f"{path.name}, {count}", found, belongs, note)


def _of_file(path: Path) -> tuple[str, list[Person]]:
    try:
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = unzipped(path, content)
        read = parsed_json(content.decode("utf-8"))
    except OSError as error:
        raise BenchmarkError(f"{path}: expected {PEOPLE}, got {error.strerror}") from None
    except (ValueError, EOFError, zlib.error) as error:
        if isinstance(error, BenchmarkError):
            raise
        raise BenchmarkError(f"{path}: expected {PEOPLE} as JSON ({error!s:.200})") from None
    people = read.get("people") if isinstance(read, dict) else None
    expect(isinstance(people, list) and people, path, f'{{"people": [{PEOPLE}]}}', read)
    found: list[Person] = []
    for number, person in enumerate(people or ()):
        who = f"person {number}"
        told = isinstance(person, dict) and ("visits" in person or "rows" in person)
        expect(told, f"{path}: {who}", PEOPLE, person)
        profile = person.get("profile")
        found.append((who, profile if isinstance(profile, dict) else {}, person))
    note = read.get("note")
    return (" ".join(note.split())[:200] if isinstance(note, str) else ""), found


def _of_run(folder: Path, profiles: Mapping[str, Mapping[str, Any]]) -> Iterator[Person]:
    path = folder / RECORDS
    with path.open("rb") as stream:
        for number, line in enumerate(lines(path, stream), start=1):
            try:
                record = bounded_json.loads(line)
            except ValueError as error:
                raise BenchmarkError(
                    f"{path}: expected a record as JSON in line {number} ({error!s:.200})"
                ) from None
            answer = record.get("answer") if isinstance(record, dict) else None
            day = answer.get("day") if isinstance(answer, dict) else None
            if isinstance(day, dict) and record.get("status") == "ok":
                sample = record.get("sample")
                yield f"{shown(sample)} in line {number}", profiles.get(str(sample), {}), day
