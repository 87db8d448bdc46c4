"""The base classes of asbench's agents that live in the city tick by tick.

MobiSim-Bench's are the same under the name of its package. What they move is the person of their
environment (:mod:`pytest_agentbench.agents.asbench.environment`).
"""

from __future__ import annotations

from typing import Any

from pytest_agentbench.agents.asbench.absent import not_here
from pytest_agentbench.agents.asbench.agent_base import Agent
from pytest_agentbench.agents.asbench.city_enums import Status
from pytest_agentbench.agents.asbench.memories import MemoryAttribute

INTENTIONS = (
    "sleep", "home activity", "other", "work", "shopping", "eating out",
    "leisure and entertainment",
)  # fmt: skip


class CitizenAgentBase(Agent):
    """What ``class X(CitizenAgentBase)`` derives from: ``forward`` is called once a tick."""

    async def init(self) -> None:
        """Called once, before the first tick."""
        await self.status.update("id", self.id)

    async def update_motion(self) -> None:
        """Writes into the status where the person is and how the person moves."""
        motion = (await self.environment.get_person(self.id))["person"]["motion"]
        for key, value in motion.items():
            await self.status.update(key, value)

    async def before_forward(self) -> None:
        """Called before each :meth:`forward`; the status knows where the person is."""
        await self.update_motion()

    async def forward(self) -> Any:
        raise NotImplementedError(f"expected forward(self) in {type(self).__name__}")

    async def status_summary(self) -> None:
        """Called at the end of each tick."""
        await self.status.update("status_summary", "Nothing")

    async def get_nowtime(self) -> str:
        time: str = self.environment.get_datetime(format_time=True)[1]
        return time

    async def get_aoi_info(self) -> str | None:
        """What others have left to read in the area: nothing, as nobody else lives here."""
        position = await self.status.get("position")
        inside = position.get("aoi_position")
        return None if inside is None else str(self.environment.sense_aoi(inside["aoi_id"]))

    async def save_agent_thought(self, thought: str) -> None:
        await self.stream.add(topic="cognition", description=thought)

    async def send_message_to_agent(self, *args: Any, **options: Any) -> None:
        not_here("send_message_to_agent", "people do not meet here: each lives by itself")

    async def register_aoi_message(self, *args: Any, **options: Any) -> None:
        not_here("register_aoi_message", "people do not meet here: each lives by itself")


class _Traveller(CitizenAgentBase):
    """What both benchmarks' own base classes have."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.movement_status = [Status.STATUS_WALKING, Status.STATUS_DRIVING]

    async def go_to_aoi(self, aoi_id: Any, mode: Any = None) -> None:
        """Sets out for an area, for a POI, or for ``(area, POI or None)``.

        ``mode``: a ``TripMode`` or a word such as "walk"; by car if it is not given.
        """
        __tracebackhide__ = True
        modes = None if mode is None else [mode]
        await self.environment.set_aoi_schedules(self.id, target_positions=aoi_id, modes=modes)


class DailyMobilityAgent(_Traveller):
    """asbench's base class for days of city people."""

    StatusAttributes = (
        MemoryAttribute(
            name="current_plan", type=dict, default_or_value={}, description="what the person does"
        ),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.intention_list = list(INTENTIONS)

    async def log_intention(self, intention: str) -> None:
        """What the person is doing from now on: one of ``intention_list``."""
        plan = {"target": intention, "index": 0, "steps": [{"intention": intention}]}
        await self.status.update("current_plan", plan)


class HurricaneMobilityAgent(_Traveller):
    """asbench's base class for days around a hurricane."""

    def get_current_weather(self) -> Any:
        return self.environment.sense("weather")
