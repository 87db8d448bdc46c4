"""The DailyMobility data set: profiles, a city, and the truth as four arrays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.benchmarks.daily_mobility.intentions import CODES, SLOT_MINUTES, SLOTS
from pytest_agentbench.benchmarks.daily_mobility.population import Population, load_truth
from pytest_agentbench.benchmarks.protocol import Dataset, Sample, SampleKey
from pytest_agentbench.city.files import load_city
from pytest_agentbench.city.map import City, CityView, PlaceId

if TYPE_CHECKING:
    from pytest_agentbench.settings.settings import Settings

DEMO_FOLDER = Path(__file__).with_name("demo")
HUB_REPOSITORY = "tsinghua-fib-lab/daily-mobility-generation-benchmark"
TARGET = "user"
PROFILES = "profiles.json"


@dataclass(frozen=True)
class CityForChecks:
    """The city as the check needs it, out of reach of an agent that changes its context."""

    city: City | None
    source: str  # where the city comes from; without one, why not


class DailyMobilityDataset(Dataset):
    """One sample a profile. The truth belongs to the population: no sample has one of its own."""

    def __init__(
        self,
        profiles: Sequence[Mapping[str, Any]],
        city: CityForChecks,
        truth: Population,
        *,
        name: str,
    ) -> None:
        self.profiles = profiles
        self.truth = truth
        self._city = city
        self.keys = [SampleKey(TARGET, str(profile["id"])) for profile in profiles]
        self.digest = _digest(profiles, city.city, truth)
        where = city.source if city.city is None else f"{len(city.city)} places ({city.source})"
        without = "no city: " if city.city is None else ""
        self.description = f"{name}: {len(profiles)} profiles, {without}{where}"

    def __len__(self) -> int:
        return len(self.keys)

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
        }
        return Sample(self.keys[index], context, self._city)


def load(settings: Settings) -> DailyMobilityDataset:
    """The data set that the settings name: the demo, the hub's or a folder of the same layout."""
    folder, name = find_folder(settings.dataset, DEMO_FOLDER, HUB_REPOSITORY)
    return DailyMobilityDataset(
        load_profiles(folder / PROFILES),
        CityForChecks(*load_city(folder)),
        load_truth(folder / "groundtruth"),
        name=name,
    )


def find_folder(dataset: str | Path, demo: Path, repository: str) -> tuple[Path, str]:
    """The folder of a data set and its name for people."""
    if dataset == "demo":
        return demo, "demo data (synthetic)"
    if dataset == "hub":
        from pytest_agentbench.benchmarks.sources import hub

        return Path(hub.fetch(repository, None)), repository
    folder = Path(dataset)
    if not folder.is_dir():
        raise BenchmarkError(
            f"dataset {folder}: expected demo, hub or a folder with {PROFILES} and groundtruth/"
        )
    return folder, str(folder)


def load_profiles(path: Path) -> list[dict[str, Any]]:
    """The people to imitate: dicts with an ``id``, and ``home`` and ``work`` as ids of places."""
    rows = read_json(path, "a list of profiles")
    if not isinstance(rows, list) or not rows:
        raise BenchmarkError(f"{path}: expected a list of profiles, got {shown(rows)}")
    profiles = []
    ids = set()
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or not _is_id(row.get("id")):
            raise BenchmarkError(
                f"{path}: expected a profile with an id (a number or a name) as entry {number}, "
                f"got {shown(row)}"
            )
        if str(row["id"]) in ids:
            raise BenchmarkError(
                f"{path}: entry {number}: expected an id used once, got {shown(row['id'])}"
            )
        ids.add(str(row["id"]))
        anchors = {key: _anchor(path, number, key, row.get(key)) for key in ("home", "work")}
        profiles.append({**row, **anchors})
    return profiles


def _anchor(path: Path, number: int, key: str, value: Any) -> PlaceId | None:
    """The id of a place; agentsociety's own profiles wrap it as ``{"aoi_position": {"aoi_id": …}}``."""
    wrapped = value
    for name in ("aoi_position", "aoi_id"):
        if isinstance(wrapped, dict) and name in wrapped:
            wrapped = wrapped[name]
    if wrapped is None or _is_id(wrapped):
        place: PlaceId | None = wrapped
        return place
    raise BenchmarkError(
        f"{path}: entry {number}: expected the id of a place (or null) as {key}, got {shown(value)}"
    )


def city_view(city: City | None, profile: Mapping[str, Any]) -> CityView | None:
    """The city around a person, for the context."""
    return None if city is None else CityView(city, profile.get("home"), profile.get("work"))


def read_json(path: Path, expected: str) -> Any:
    """The content of a JSON file; :class:`BenchmarkError` where it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchmarkError(f"{path}: expected {expected}, got {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(f"{path}: expected {expected} as JSON ({error})") from None


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool) and value != ""


def _digest(profiles: Sequence[Mapping[str, Any]], city: City | None, truth: Population) -> str:
    parts = [list(profiles), city.digest() if city is not None else None, truth.digest()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
