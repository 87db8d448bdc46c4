"""The DailyMobility data set: profiles, a city, and the truth as four arrays."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base import own_files
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import file_digest, path_digest
from pytest_agentbench.benchmarks.daily_mobility import answers
from pytest_agentbench.benchmarks.daily_mobility.intentions import CODES, SLOT_MINUTES, SLOTS
from pytest_agentbench.benchmarks.daily_mobility.population import Population, load_truth
from pytest_agentbench.benchmarks.days import person_groups, reference
from pytest_agentbench.benchmarks.days.lived_day import DAY
from pytest_agentbench.benchmarks.days.realism import Reference
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
        reference: Path | None = None,
        own_reference: bool = True,
    ) -> None:
        """``reference`` is a file or folder with days to compare with; its own: part of the data."""
        self.profiles = profiles
        self.truth = truth
        self._city = city
        self._tick_timeout = tick_timeout
        self._reference = reference
        self._own_reference = own_reference
        self.keys = [SampleKey(TARGET, str(profile["id"])) for profile in profiles]
        self.digest = _digest(profiles, city.city, truth, reference if own_reference else None)
        where = f"no city: {city.source}" if city.city is None else city.city.words
        self.description = f"{name}: {len(profiles)} profiles, {where}"

    @property
    def city(self) -> City | None:
        return self._city.city

    def position(self, place: Any) -> tuple[float, float]:
        """Where a place of a checked day is."""
        assert self._city.city is not None
        return self._city.city.position(place)

    @functools.cached_property
    def reference(self) -> Reference | None:
        """The people whose days are compared with, read when they are asked for."""
        if self._reference is None:
            return None
        city = self._city.city
        if city is None and self._own_reference:
            return None
        if city is None:
            raise BenchmarkError(
                f"reference {self._reference}: its days need a city, and the data have none "
                f"({self._city.source})"
            )
        profiles = {str(key): own for key, own in zip(self.keys, self.profiles, strict=True)}

        def check(day: Mapping[str, Any]) -> Mapping[str, Any]:
            checked: Mapping[str, Any] = answers.check({DAY: day}, city)[DAY]
            return checked

        return reference.load(self._reference, check, self.position, profiles)

    def conditions(self) -> Mapping[str, str]:
        if self._reference is None or self._own_reference:
            return {}
        return {"reference": path_digest(self._reference)[:16]}

    def groups(self, index: int) -> Mapping[str, str]:
        return person_groups.groups(self.profiles[index])

    def sample(self, index: int) -> Sample:
        profile = dict(self.profiles[index])
        simulation: dict[str, Any] = {
            "step": answers.STEP,
            "steps": answers.STEPS,
            "weather": list(WEATHER),
            "tick_timeout": self._tick_timeout,
        }
        if self._city.city is None:
            simulation["no_city"] = self._city.source
        context = {
            "profile": profile,
            "city": city_view(self._city.city, profile),
            "constraints": {
                "slots": SLOTS,
                "slot_minutes": SLOT_MINUTES,
                "intentions": dict(CODES),
            },
            "simulation": simulation,
        }
        return Sample(self.keys[index], context, self._city)


def load(settings: Settings) -> DailyMobilityDataset:
    """The data set that the settings name: the demo, the hub's or a folder of the same layout."""
    folder, name = find_folder(settings.dataset, DEMO_FOLDER, HUB_REPOSITORY, LAYOUT)
    given = given_reference(settings)
    dataset = DailyMobilityDataset(
        load_profiles(folder / PROFILES),
        CityForChecks(*load_city(folder)),
        load_truth(folder / "groundtruth"),
        name=name,
        tick_timeout=settings.parameters.get("tick_timeout"),
        reference=given or reference.in_folder(folder),
        own_reference=given is None,
    )
    if folder != DEMO_FOLDER or given is not None:
        _ = dataset.reference  # what is wrong with it is said before the first sample
    return dataset


def given_reference(settings: Settings) -> Path | None:
    """The reference population that the user names."""
    return reference.given(settings.parameters.get("reference"), settings.bases)


def _digest(
    profiles: Sequence[Mapping[str, Any]],
    city: City | None,
    truth: Population,
    reference: Path | None,
) -> str:
    parts = [list(profiles), city.digest() if city is not None else None, truth.digest()]
    if reference is not None:
        parts.append(file_digest(reference))
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
