"""An agent written for asbench or MobiSim-Bench, which lives its day tick by tick; neither need be installed:

pytest --benchmark DailyMobility --agent examples/citizen_agent.py
"""

import random
from typing import Any

from agentsociety_benchmark.benchmarks import DailyMobilityAgent


class Commuter(DailyMobilityAgent):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lunch: int | None = None

    async def forward(self) -> None:
        if await self.status.get("status") in self.movement_status:
            return  # on the way
        home, work = await self.status.get("home"), await self.status.get("work")
        _, seconds = self.environment.get_datetime()
        hour = seconds // 3600
        place, intention = home["aoi_position"]["aoi_id"], "home activity"
        if hour < 7 or hour >= 23:
            intention = "sleep"
        elif 12 <= hour < 13:
            place, intention = await self.find_lunch(place), "eating out"
        elif work and 8 <= hour < 18:
            place, intention = work["aoi_position"]["aoi_id"], "work"
        # With a model: text = await self.llm.atext_request([{"role": "user", "content": "…"}])
        await self.go_to_aoi(place)
        await self.log_intention(intention)

    async def find_lunch(self, otherwise: int) -> int:
        if self.lunch is None:
            xy = (await self.status.get("position"))["xy_position"]
            near = self.environment.get_around_poi((xy["x"], xy["y"]), 3000, "restaurant")
            own = random.Random(f"lunch of {self.id}")  # seeded with the person: runs repeat
            self.lunch = own.choice(near)["aoi_id"] if near else otherwise
        return self.lunch
