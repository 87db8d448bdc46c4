"""A whole generated population in the published output format, as answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import read_json, refuse_pickle
from pytest_agentbench.benchmarks.daily_mobility.data import DailyMobilityDataset
from pytest_agentbench.benchmarks.daily_mobility.intentions import FIELDS
from pytest_agentbench.benchmarks.protocol import Submission

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXPECTED = f"{{{', '.join(FIELDS)}}}, four lists with an entry a person"


def read_submission(path: Path, dataset: DailyMobilityDataset) -> Submission:
    """The rows of the file as the answers of the profiles, in their order.

    A population is anonymous and is scored as a whole, so any order would give the same scores. Rows
    beyond the profiles are a problem; profiles beyond the rows are missing in the answers.
    """
    refuse_pickle(path)
    lists = _four_lists(path)
    count = len(lists[0])
    keys = [str(key) for key in dataset.keys]
    problems = []
    if count > len(keys):
        problems.append(
            f"{path}: expected {len(keys)} people, one a profile, got {count}; the last "
            f"{count - len(keys)} are not scored"
        )
    answers = {
        key: dict(zip(FIELDS, row, strict=True))
        for key, row in zip(keys, zip(*lists, strict=True), strict=False)
    }
    return Submission(answers, tuple(problems))


def _four_lists(path: Path) -> list[Sequence[Any]]:
    content = read_json(path, _EXPECTED)
    if not isinstance(content, dict):
        raise BenchmarkError(f"{path}: expected {_EXPECTED}, got a {type(content).__name__}")
    for name in FIELDS:
        if not isinstance(content.get(name), list):
            got = f"a {type(content[name]).__name__}" if name in content else "nothing"
            raise BenchmarkError(f"{path}: expected {_EXPECTED}; {name} is {got}")
    lengths = {name: len(content[name]) for name in FIELDS}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise BenchmarkError(f"{path}: expected four lists of one length, got {told}")
    if not lengths[FIELDS[0]]:
        raise BenchmarkError(f"{path}: expected {_EXPECTED}, got empty lists")
    return [content[name] for name in FIELDS]
