"""Records measured again from their answers: what a file says about an answer is not believed.

A record in a log may have been changed by anybody who can write there. Its answer is what the agent said;
whether that is valid, and how good, is decided here, by the code and the data of this run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.base.errors import shown
from pytest_agentbench.base.progress import Progress
from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset
from pytest_agentbench.runs.evaluate import evaluate, held_off
from pytest_agentbench.runs.record import Record

_AT_ONCE = 250  # samples measured together
_CLOSE = 1e-9  # another machine may round otherwise


@dataclass(frozen=True)
class Remeasured:
    """Records with the metrics that their answers have, and how many had said something else."""

    records: list[Record]
    unlike: int = 0
    first: str = ""  # what the first of them said, and what its answer gives

    def note(self, where: object) -> str | None:
        """One line about records that did not agree; None where all did."""
        if not self.unlike:
            return None
        return (
            f"{where}: {self.unlike} of {len(self.records)} records do not agree with their answers and "
            f"were measured again; the first: {self.first}"
        )


@held_off()
def remeasured(benchmark: Benchmark, dataset: Dataset, records: Sequence[Record]) -> Remeasured:
    """Checks and measures every answer that a record calls valid.

    A record of another status keeps it, and has no metrics. Records of samples that the data do not have
    are left out, and count as not agreeing.
    """
    progress = Progress(f"measuring the records of {benchmark.name} again", "records", len(records))
    found: list[Record] = []
    unlike, first = 0, ""
    for start in range(0, len(records), _AT_ONCE):
        part = [
            record
            for record in records[start : start + _AT_ONCE]
            if record.sample in dataset.index_of
        ]
        for record in records[start : start + _AT_ONCE]:
            if record.sample not in dataset.index_of:
                unlike += 1
                first = first or f"{shown(record.sample)} is no sample of the data"
        for old, new in zip(part, _measured(benchmark, dataset, part), strict=True):
            found.append(new)
            difference = _difference(old, new)
            if difference is not None:
                unlike += 1
                first = first or f"{new.sample}: {difference}"
        progress.add(len(part))
    return Remeasured(found, unlike, first)


def _measured(
    benchmark: Benchmark, dataset: Dataset, records: Sequence[Record]
) -> Iterator[Record]:
    """Each of these records, measured again; those that are called valid all at once."""
    valid = [record for record in records if record.status == "ok"]
    answers = [record.answer for record in valid]
    samples = [dataset.sample(dataset.index_of[record.sample]) for record in valid]
    again, _ = evaluate(benchmark, samples, map(Outcome, answers))
    made = iter(zip(again, answers, strict=True))
    for record in records:
        if record.status != "ok":
            yield record.changed(metrics={}) if record.metrics else record
            continue
        new, answer = next(made)
        fields = {"status": new.status, "error": new.error, "metrics": new.metrics}
        if new.status == "ok" and new.answer != answer:
            yield record.changed(**fields, answer=new.answer)  # in the form that is scored
        else:
            yield record.changed(**fields)  # a long answer stays in the log


def same_number(one: float, other: float) -> bool:
    """Whether two values of a metric are the same but for the rounding of another machine."""
    return math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)


def _difference(old: Record, new: Record) -> str | None:
    """What a record said that its answer does not say; None where they agree.

    Metrics that it does not have, of a reading that is newer, are no difference.
    """
    if old.status != new.status:
        return f"status {old.status}, its answer is {new.status} ({new.error})"
    for reading, metrics in old.metrics.items():
        for name, value in metrics.items():
            now = new.metrics.get(reading, {}).get(name)
            if now is None or not same_number(value, now):
                gives = "nothing" if now is None else f"{now:.6g}"
                return f"{name} of {reading} is {shown(value)}, its answer gives {gives}"
    return None
