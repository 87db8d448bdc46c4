"""The HurricaneMobility data set: profiles, a city, and how trips really changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.base import own_files
from pytest_agentbench.base.errors import BenchmarkError, expect
from pytest_agentbench.base.files import read_json
from pytest_agentbench.base.plain import is_finite
from pytest_agentbench.benchmarks.days import person_groups
from pytest_agentbench.benchmarks.protocol import Dataset, Sample, SampleKey
from pytest_agentbench.benchmarks.sources.folders import find_folder
from pytest_agentbench.city.map import City
from pytest_agentbench.city.map_files import load_city
from pytest_agentbench.city.profiles import LAYOUT, PROFILES, city_view, load_profiles

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.settings.settings import Settings

    Floats = npt.NDArray[np.float64]

DEMO_FOLDER = own_files.on_disk(__package__, "demo")
HUB_REPOSITORY = "tsinghua-fib-lab/hurricane-mobility-generation-benchmark"
TRUTH_FILE = "groundtruth/hurricane_groundtruth.json"
USER, POPULATION = "user", "population"
ITEMS = (USER, POPULATION)
PERIODS = ("before", "during", "after")
CHANGES = ("during_vs_before", "after_vs_before")
HOURS = 24
STEP, STEPS = 1800, 144
# As the published simulation tells it, from the first tick of each day on.
WEATHER = (
    "The weather is sunny",
    "Hurricane Dorian has made landfall in other cities, travel is slightly affected, and winds can "
    "be felt.",
    "Hurricane Dorian has passed, the weather is normal and does not affect travel.",
)


@dataclass(frozen=True)
class Truth:
    """The changes in percent (during, after) and the hourly trips of the three days."""

    changes: Floats
    hourly: Floats  # (3, 24)


@dataclass(frozen=True)
class HurricaneSample(Sample):
    """The question about one person, or about all of them."""

    people: int | None = None  # who travel; None where nobody knows how many
    city: City | None = field(default=None, repr=False)  # out of reach of the agent
    no_city: str = ""  # why there is none


class HurricaneDataset(Dataset):
    """One sample a profile, or one for the whole population. The sum of all trips is scored."""

    def __init__(
        self,
        profiles: Sequence[Mapping[str, Any]],
        city: City | None,
        truth: Truth,
        *,
        items: str,
        name: str,
        no_city: str = "",
        tick_timeout: float | None = None,
    ) -> None:
        self.profiles = profiles
        self.truth = truth
        self.items = items
        self.city = city
        self._no_city = no_city
        self._tick_timeout = tick_timeout
        ids = ["all"] if items == POPULATION else [str(profile["id"]) for profile in profiles]
        self.keys = [SampleKey(items, name) for name in ids]
        parts = [
            items, list(profiles), None if city is None else city.digest(),
            truth.changes.tolist(), truth.hourly.tolist(),
        ]  # fmt: skip
        self.digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        whole = "as one population" if items == POPULATION else "one by one"
        # People who live there are asked one by one.
        where = "" if city is None or items == POPULATION else f", {city.words}"
        self.description = f"{name}: {len(profiles)} profiles, {whole}{where}"

    def groups(self, index: int) -> Mapping[str, str]:
        return {} if self.items == POPULATION else person_groups.groups(self.profiles[index])

    def sample(self, index: int) -> Sample:
        context: dict[str, Any] = {
            "days": [
                {"day": day, "period": period, "weather": weather}
                for day, (period, weather) in enumerate(zip(PERIODS, WEATHER, strict=True))
            ],
        }
        if self.items == POPULATION:
            context["profiles"] = [dict(profile) for profile in self.profiles]
        else:
            context["profile"] = dict(self.profiles[index])
            context["city"] = city_view(self.city, self.profiles[index])
            context["simulation"] = {
                "step": STEP,
                "steps": STEPS,
                "weather": list(WEATHER),
                "tick_timeout": self._tick_timeout,
                **({} if self.city is not None else {"no_city": self._no_city}),
            }
        people = 1 if self.items == USER else len(self.profiles) or None
        return HurricaneSample(self.keys[index], context, None, people, self.city, self._no_city)


def load(settings: Settings) -> HurricaneDataset:
    """The data set that the settings name: the demo, the hub's or a folder of the same layout."""
    folder, name = find_folder(settings.dataset, DEMO_FOLDER, HUB_REPOSITORY, LAYOUT)
    truth = load_truth(folder / TRUTH_FILE)
    items = settings.parameters.get("items")
    known = (folder / PROFILES).exists()
    if items == USER and not known:
        raise BenchmarkError(f"{folder}: items: user needs {PROFILES}, which is not there")
    profiles = load_profiles(folder / PROFILES) if known else []
    city, source = load_city(folder)
    return HurricaneDataset(
        profiles,
        city,
        truth,
        items=items or (USER if known else POPULATION),
        name=name,
        no_city=source if city is None else "",
        tick_timeout=settings.parameters.get("tick_timeout"),
    )


def load_truth(path: Path) -> Truth:
    """``relative_changes`` in percent and ``hourly_trips``, each number checked."""
    content = read_json(path, "relative_changes and hourly_trips")
    changes = [_numbers(path, content, ("relative_changes", key), None) for key in CHANGES]
    hourly = [_numbers(path, content, ("hourly_trips", key), HOURS) for key in PERIODS]
    return Truth(np.array(changes).ravel(), np.array(hourly))


def _numbers(path: Path, content: Any, keys: tuple[str, str], count: int | None) -> list[float]:
    value = content
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    numbers = [value] if count is None else value
    fine = (
        isinstance(numbers, list)
        and len(numbers) == (count or 1)
        and all(map(is_finite, numbers))
        and (count is None or min(numbers) >= 0)
    )
    wanted = "a number" if count is None else f"{count} numbers of at least 0"
    expect(fine, path, f"{wanted} as {'.'.join(keys)}", value)
    return [float(number) for number in numbers]
