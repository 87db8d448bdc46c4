"""The editions of the HuMob challenge: who is to be predicted, when, and the file's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_agentbench.base.errors import BenchmarkError

COLUMNS = ("uid", "d", "t", "x", "y")
SLOTS = 48  # half hours a day: t is 0-47
CELL_MIN, CELL_MAX = 1, 200
CELL_KM = 0.5
MASKED = 999  # x and y where the organisers hide the truth


@dataclass(frozen=True)
class Span:
    """Whole numbers from ``first`` to ``last``, both included."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def __contains__(self, value: int) -> bool:
        return self.first <= value <= self.last

    def __len__(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class Edition:
    """One year of the challenge."""

    name: str
    tasks: Mapping[str, Span]  # task or city -> the uids to predict
    days: Span  # of the whole data set
    predict_days: Span
    file_name: str  # with {team} and {task}
    task_word: str  # what the organisers call a task

    def task(self, name: str) -> Span:
        """The uids to predict in a task; the name may be `B`, `b`, `cityB` or `task1`."""
        return self.tasks[self.task_name(name)]

    def task_name(self, name: str) -> str:
        """The edition's own spelling of a task, `B` for `cityb`."""
        short = name.strip().lower().removeprefix("task").removeprefix("city").strip(" _-").upper()
        if short not in self.tasks:
            raise BenchmarkError(
                f"{self.task_word} {name!r}: expected one of {', '.join(self.tasks)} "
                f"(HuMob {self.name})"
            )
        return short

    def task_of(self, uid: int) -> str | None:
        """The task a user belongs to; no edition gives a uid to two tasks."""
        return next((task for task, uids in self.tasks.items() if uid in uids), None)

    def submission_name(self, team: str, task: str) -> str:
        return self.file_name.format(team=team, task=self.task_name(task))


EDITIONS: Mapping[str, Edition] = {
    edition.name: edition
    for edition in (
        Edition(
            name="2023",
            tasks={"1": Span(80000, 99999), "2": Span(22500, 24999)},
            days=Span(0, 74),
            predict_days=Span(60, 74),
            file_name="{team}_task{task}_humob.csv.gz",
            task_word="task",
        ),
        Edition(
            name="2024",
            tasks={"B": Span(22000, 24999), "C": Span(17000, 19999), "D": Span(3000, 5999)},
            days=Span(0, 74),
            predict_days=Span(60, 74),
            file_name="{team}_city{task}_humob.csv.gz",
            task_word="city",
        ),
        Edition(
            name="2025",
            tasks={
                "A": Span(147001, 150000),
                "B": Span(27001, 30000),
                "C": Span(22001, 25000),
                "D": Span(17001, 20000),
            },
            days=Span(1, 75),
            predict_days=Span(61, 75),
            file_name="{team}_city{task}_humob25.csv.gz",
            task_word="city",
        ),
    )
}


DAY_MIN = min(edition.days.first for edition in EDITIONS.values())
DAY_MAX = max(edition.days.last for edition in EDITIONS.values())


def find_edition(name: object) -> Edition:
    """The edition of a year, given as a number or a string."""
    edition = EDITIONS.get(str(name).strip())
    if edition is None:
        raise BenchmarkError(f"edition {name!r}: expected one of {', '.join(EDITIONS)}")
    return edition


def parse_span(value: object) -> Span:
    """``"60-74"``, ``[60, 74]`` or ``60`` as a :class:`Span`; ``ValueError`` for anything else."""
    listed = value.split("-") if isinstance(value, str) else value
    parts = listed if isinstance(listed, (list, tuple)) else [listed]
    if len(parts) not in (1, 2):
        raise ValueError(f"{value!r} is not FIRST-LAST")
    bounds = []
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, (int, str)):
            raise ValueError(f"{part!r} is not a whole number")
        bounds.append(int(part))
    if bounds[0] < 0 or bounds[-1] < bounds[0]:
        raise ValueError(f"{value!r} runs backwards or is negative")
    return Span(bounds[0], bounds[-1])
