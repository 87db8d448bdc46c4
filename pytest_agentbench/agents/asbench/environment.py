"""``self.environment`` of an asbench agent: the clock, the weather, the map and one person in motion.

What it does is done by a :class:`~pytest_agentbench.city.life.Life`.
"""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any, NoReturn

from pytest_agentbench.agents.asbench.absent import not_here
from pytest_agentbench.agents.asbench.city_enums import STATUS_OF_MODE, mode_of
from pytest_agentbench.agents.asbench.city_map import MapData
from pytest_agentbench.agents.asbench.flat_shapes import position_of
from pytest_agentbench.agents.asbench.poi_groups import values_of
from pytest_agentbench.city.life import Life, NoSuchPlace

_UNKNOWN = "Don't know"  # what agentsociety says of a key that it lacks
_ALONE = "people do not meet here: each lives by itself"
_SURROUNDINGS = {
    "temperature": "The temperature is 23C",
    "workday": True,
    "other_information": "",
}


class Environment:
    """The city as asbench's agents ask it."""

    def __init__(self, life: Life, person: int) -> None:
        """``person`` is the number by which the agent knows itself."""
        self.map = MapData(life.view)
        self._life = life
        self._person = person
        self._set: dict[str, Any] = {}  # by the agent
        self._lnglat: tuple[Any, Any] = (None, None)  # of the last position

    # Time

    def get_tick(self) -> int:
        """Seconds since the start."""
        return self._life.now.since_start

    def get_datetime(self, format_time: bool = False, format: str = "%H:%M:%S") -> tuple[int, Any]:  # noqa: A002
        """The day, and the seconds since midnight or the time as text."""
        now = self._life.now
        if not format_time:
            return now.day, now.seconds
        hours, rest = divmod(now.seconds, 3600)
        return now.day, datetime(1900, 1, 1, hours, rest // 60, rest % 60).strftime(format)

    # Surroundings

    @property
    def environment(self) -> dict[str, Any]:
        return {"weather": self._life.weather, **_SURROUNDINGS, **self._set}

    def sense(self, key: str) -> Any:
        return self.environment.get(key, _UNKNOWN)

    def get_environment(self) -> str:
        """What is known of the surroundings, a line each."""
        lines = []
        for key, value in self.environment.items():
            if isinstance(value, bool):
                lines.append(f"Is it {key}: {value}")
            elif isinstance(value, dict):
                lines += [f"{key}.{name}: {one}" for name, one in value.items()]
            else:
                lines.append(f"{key}{' elements' if isinstance(value, list) else ''}: {value}")
        return "".join(f"{line}\n" for line in lines)

    def update_environment(self, key: str, value: Any) -> None:
        """Changes what this person senses, and nobody else."""
        self._set[key] = value

    def set_environment(self, environment: dict[str, Any]) -> None:
        self._set.update(environment)

    def sense_aoi(self, aoi_id: Any) -> str:
        """What others have left to read in an area: nothing."""
        return ""

    # The map

    def get_aoi_ids(self) -> list[Any]:
        return self.map.aoi_ids()

    @property
    def poi_cate(self) -> dict[str, list[str]]:
        return self.map.poi_cate

    def get_poi_cate(self) -> dict[str, list[str]]:
        return self.poi_cate

    @property
    def poi_id_2_aoi_id(self) -> dict[Any, Any]:
        return self.map.aoi_ids_of_pois()

    def get_poi_categories(self, center: Any = None, radius: float | None = None) -> list[str]:
        """The categories of the POIs around a position, or of all."""
        if radius is None:
            return list(self._life.view.poi_categories())
        x, y = (0.0, 0.0) if center is None else position_of(center)
        return list(self._life.view.poi_categories(x, y, radius))

    def get_around_poi(
        self, center: Any, radius: float, poi_type: str | list[str]
    ) -> list[dict[str, Any]]:
        """POIs of some kinds (groups of POI_CATG_DICT or categories) around a position, nearest first."""
        kinds = values_of(poi_type if isinstance(poi_type, str) else list(poi_type))
        return self.map.query_pois(center, radius, return_distance=False, categories=kinds)

    def projector(self, x: float, y: float, inverse: bool = False) -> tuple[float, float]:
        """Longitude and latitude of a position (``inverse=True``)."""
        if not inverse:
            not_here(
                "environment.projector(longitude, latitude)",
                "it converts x and y alone (inverse=True)",
            )
        longitude, latitude = self._life.view.lnglat(x, y)
        return longitude, latitude

    # The person

    async def get_person(self, person_id: Any) -> dict[str, Any]:
        self._expect_own(person_id, "get_person")
        return {"person": {"id": self._person, "motion": self.motion()}}

    def motion(self) -> dict[str, Any]:
        """What the status says of a person in motion: ``status`` and ``position``."""
        life = self._life
        if self._lnglat[0] != life.position:
            self._lnglat = (life.position, life.view.lnglat(*life.position))
        (x, y), (longitude, latitude) = self._lnglat
        position: dict[str, Any] = {
            "xy_position": {"x": x, "y": y},
            "longlat_position": {"longitude": longitude, "latitude": latitude},
        }
        if life.here is not None:
            poi = {} if life.here_poi is None else {"poi_id": life.here_poi}
            position["aoi_position"] = {"aoi_id": life.here, **poi}
        elif (lane := life.lane) is not None:
            position["lane_position"] = {"lane_id": lane[0], "s": lane[1]}
        return {"id": self._person, "status": STATUS_OF_MODE[life.mode], "position": position}

    async def set_aoi_schedules(
        self,
        person_id: Any,
        target_positions: Any,
        departure_times: list[float] | None = None,
        modes: list[Any] | None = None,
    ) -> None:
        """Trips one after the other, instead of those that were planned or under way.

        A target is an area, a POI or ``(area, POI or None)``; a departure is in seconds since the start.
        """
        __tracebackhide__ = True
        self._expect_own(person_id, "set_aoi_schedules")
        targets = target_positions if isinstance(target_positions, list) else [target_positions]
        times = [*(departure_times or ()), *[None] * len(targets)]
        chosen = [*(modes or ()), *[None] * len(targets)]
        stops = [
            (target, mode_of(mode), time)
            for target, mode, time in zip(targets, chosen, times, strict=False)
        ]
        try:
            self._life.schedule(stops)
        except NoSuchPlace as error:
            # As the agent knows the call: templates have go_to_aoi of their own around this one.
            caller = sys._getframe(1).f_code.co_name
            name = caller if caller == "go_to_aoi" else "set_aoi_schedules"
            error.args = (f"{name}{str(error).removeprefix('go_to')}",)
            raise

    def _expect_own(self, person_id: Any, call: str) -> None:
        if person_id != self._person:
            raise ValueError(
                f"{call}: expected the agent's own id ({self._person}), got {person_id!r}; {_ALONE}"
            )

    # What there is nothing of

    async def add_person(self, dict_person: Any) -> dict[str, Any]:
        """The person is there already."""
        return {}

    async def reset_person_position(self, *args: Any, **options: Any) -> NoReturn:
        not_here("environment.reset_person_position", "go there (go_to_aoi): travel takes time")

    def register_aoi_message(self, *args: Any, **options: Any) -> NoReturn:
        not_here("environment.register_aoi_message", _ALONE)

    @property
    def economy_client(self) -> Any:
        not_here("environment.economy_client", "this city has no economy")

    @property
    def city_client(self) -> Any:
        not_here(
            "environment.city_client", "there is no simulator to ask; use go_to_aoi and the status"
        )

    def get_log_list(self) -> list[Any]:
        return []
