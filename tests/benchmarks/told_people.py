"""People whose days are told: a small city, a data set of its people, and records of their answers."""

from __future__ import annotations

from typing import Any

from benchmarks.lived_days import CITY, HOME, PUB, SHOP, WORK, day, trip

from pytest_agentbench.benchmarks.days.told_days import Told, read_people
from pytest_agentbench.benchmarks.protocol import Sample, SampleKey, SampleList
from pytest_agentbench.city.profiles import city_view
from pytest_agentbench.runs.record import Record

PROFILE = {"home": HOME, "work": WORK}
# Home, from 8:00 to 8:20 to work, 17:00 to 17:40 to the shop, back home on foot, where the way is given up once.
ROWS = [
    (33, HOME, "sleep"), (1, None, "work"), (35, WORK, "work"), (2, None, "shopping"),
    (3, SHOP, "shopping"), (2, None, "home activity"), (25, HOME, "home activity"),
]  # fmt: skip
TRIPS = [
    trip(28_800, 30_000, HOME, WORK),
    trip(61_200, 63_600, WORK, SHOP, mode="cycling", metres=2_000.0, route=[[600.0, 800.0], [450.0, 400.0], [300.0, 0.0]]),
    trip(65_700, None, SHOP, PUB, mode="walking", metres=100.0, route=[[300.0, 0.0], [250.0, 0.0]]),
    trip(66_600, 68_000, None, HOME, mode="walking", metres=250.0, route=[[250.0, 0.0], [0.0, 0.0]]),
]  # fmt: skip
LIVED = {**day(900, ROWS), "trips": TRIPS}
VISITS = {"visits": [[0, HOME, 1], [32_400, WORK, 4], [43_200, [450.0, 10.0], 6], [46_800, HOME, 2], [50_000, HOME, 1]]}  # fmt: skip


class People(SampleList):
    """Everybody lives and works at the same places."""

    def __init__(self, count: int) -> None:
        self.profiles = [{"id": n, **PROFILE} for n in range(count)]
        super().__init__(
            (Sample(SampleKey("user", str(n)), {"profile": profile, "city": None}, None) for n, profile in enumerate(self.profiles)),
            "people",
        )  # fmt: skip

    def sample(self, index: int) -> Sample:
        profile = self.profiles[index]
        return Sample(self.keys[index], {"profile": profile, "city": city_view(CITY, profile)}, None)  # fmt: skip


def records(*days: dict[str, Any] | None) -> list[Record]:
    """An answer a person; None: one without a day."""
    answers = ({"gyration_radius": 1.0, **({} if one is None else {"day": one})} for one in days)
    return [Record("b", f"user[{n}]", "ok", answer=answer) for n, answer in enumerate(answers)]


def people(*days: dict[str, Any] | None, count: int = 1) -> tuple[People, Told]:
    """The data set and what its people told; of so many days each."""
    dataset = People(len(days))
    return dataset, read_people(dataset, records(*days), count)
