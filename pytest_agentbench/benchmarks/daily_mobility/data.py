"""The DailyMobility data set: profiles, a city, and the truth as four arrays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base import own_files
from pytest_agentbench.benchmarks.daily_mobility.answers import STEP, STEPS
from pytest_agentbench.benchmarks.daily_mobility.intentions import CODES, SLOT_MINUTES, SLOTS
from pytest_agentbench.benchmarks.daily_mobility.population import Population, load_truth
from pytest_agentbench.benchmarks.protocol import Dataset, Sample, SampleKey
from pytest_agentbench.benchmarks.sources.folders import find_folder
from pytest_agentbench.city.map import City
from pytest_agentbench.city.map_files import load_city
from pytest_agentbench.city.profiles import LAYOUT, PROFILES, city_view, load_profiles

if TYPE_CHECKING:
    from pytest_agentbench.settings.settings import Settings

DEMO_FOLDER = own_files.on_disk(__package__, "demo")
HUB_REPOSITORY = "tsinghua-fib-lab/daily-mobility-generation-benchmark"
TARGET = "user"
WEATHER = ("The weather is sunny",)


@dataclass(frozen=True)
class CityForChecks:
    """The city as the check needs it, out of reach of an agent that changes its context."""

    city: City | None
    source: str  # where the city comes from, or why there is none


class DailyMobilityDataset(Dataset):
    """One sample a profile. The truth belongs to the population: no sample has one of its own."""

    def __init__(
        self,
        profiles: Sequence[Mapping[str, Any]],
        city: CityForChecks,
        truth: Population,
        *,
        name: str,
        tick_timeout: float | None = None,
    ) -> None:
        self.profiles = profiles
        self.truth = truth
        self._city = city
        self._tick_timeout = tick_timeout
        self.keys = [SampleKey(TARGET, str(profile["id"])) for profile in profiles]
        self.digest = _digest(profiles, city.city, truth)
        where = city.source if city.city is None else f"{len(city.city)} places ({city.source})"
        without = "no city: " if city.city is None else ""
        self.description = f"{name}: {len(profiles)} profiles, {without}{where}"

    def sample(self, index: int) -> Sample:
        profile = dict(self.profiles[index])
        context = {
            "profile": profile,
            "city": city_view(self._city.city, profile),
            "constraints": {
                "slots": SLOTS,
                "slot_minutes": SLOT_MINUTES,
                "intentions": dict(CODES),
            },
            "simulation": {
                "step": STEP,
                "steps": STEPS,
                "weather": list(WEATHER),
                "tick_timeout": self._tick_timeout,
            },
        }
        return Sample(self.keys[index], context, self._city)


def load(settings: Settings) -> DailyMobilityDataset:
    """The data set that the settings name: the demo, the hub's or a folder of the same layout."""
    folder, name = find_folder(settings.dataset, DEMO_FOLDER, HUB_REPOSITORY, LAYOUT)
    return DailyMobilityDataset(
        load_profiles(folder / PROFILES),
        CityForChecks(*load_city(folder)),
        load_truth(folder / "groundtruth"),
        name=name,
        tick_timeout=settings.parameters.get("tick_timeout"),
    )


def _digest(profiles: Sequence[Mapping[str, Any]], city: City | None, truth: Population) -> str:
    parts = [list(profiles), city.digest() if city is not None else None, truth.digest()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
