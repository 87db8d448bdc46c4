"""Agents that live tick by tick in a process of their own: they and their life are there, the map is here."""

from __future__ import annotations

import pytest
from small_city import CITY, HOME, WORK, CountedView, context, places_of

from pytest_agentbench.agents.errors import AgentTimeout, RemoteAgentError
from pytest_agentbench.agents.usage import Usage, counting
from pytest_agentbench.city.view import CityView

CITIZEN = """
    from agentsociety_benchmark.benchmarks import DailyMobilityAgent

    class Commuter(DailyMobilityAgent):
        async def forward(self):
            areas = self.environment.map.get_all_aois()
            assert len(areas) == len(self.environment.get_aoi_ids()) == 4
            assert len(self.environment.map.get_all_pois()) == 3
            assert areas[1]["shapely_lnglat"].centroid.x > 0
            _, seconds = self.environment.get_datetime()
            await self.log_intention("work" if seconds else "sleep")
            await self.go_to_aoi(areas[1]["id"] if seconds else areas[0]["id"])
"""
OWN = """
    class Commuter:
        def __init__(self, city, profile):
            self.city = city
        def step(self, now):
            self.city.go_to(self.city.work if now.tick else self.city.home)
            self.city.intend("work" if now.tick else "sleep")
"""


class ToolView(CountedView):
    """A view that a context may hold: it counts the calls that come from the other process."""

    agentbench_methods = CityView.agentbench_methods


def tool_view():
    return ToolView(CityView(CITY, HOME, WORK))


@pytest.mark.parametrize("source", [CITIZEN, OWN])
def test_the_day_is_that_of_an_agent_in_this_process(isolated, source):
    answer = isolated(source)(context())
    assert places_of(answer) == [HOME, HOME, WORK, WORK]
    assert [row[2] for row in answer["rows"]] == ["sleep", "work", "work", "work"]


def test_all_areas_travel_once_for_many_people(isolated):
    agent = isolated(CITIZEN)
    views = [tool_view() for _ in range(3)]
    for view in views:
        assert len(agent(context(view))["rows"]) == 4
    fetched = [
        [name for name in view.calls if name in ("aois", "pois", "aoi_ids")] for view in views
    ]
    assert sorted(fetched[0]) == ["aoi_ids", "aois", "aois", "pois", "pois"]  # a page, and the end
    assert fetched[1:] == [[], []]
    assert len(views[2].calls) <= 8  # positions and the one trip


def test_an_error_says_at_which_tick(isolated):
    agent = isolated(
        """
        class Lost:
            def __init__(self, city): self.city = city
            def step(self, now):
                if now.tick == 2:
                    raise ConnectionError("no signal")
        """
    )
    with pytest.raises(RemoteAgentError) as raised:
        agent(context())
    assert raised.value.message == "tick 2 (day 0, 02:00), step(): ConnectionError: no signal"
    assert raised.value.transient
    assert raised.value.type_name == "DayEnded"
    assert "raise ConnectionError" in raised.value.traceback


def test_a_place_that_is_not_there_ends_the_day(isolated):
    agent = isolated(
        """
        from mobisimbench.benchmarks import HurricaneMobilityAgent
        class Lost(HurricaneMobilityAgent):
            async def forward(self):
                try:
                    await self.go_to_aoi(5009)
                except Exception:
                    pass
        """
    )
    with pytest.raises(
        RemoteAgentError, match=r"tick 0 .*go_to_aoi\(5009\): there is no such place on"
    ):
        agent(context())


SLOW = """
    import time
    class Slow:
        def __init__(self, city): self.city = city
        def step(self, now):
            while now.tick == 2:
                time.sleep(0.01)
"""


def test_a_day_that_takes_too_long_says_how_far_it_came(isolated):
    agent = isolated(SLOW, timeout=4.0)
    with counting(Usage()), pytest.raises(
        AgentTimeout, match=r"^no answer within 4 s; it had reached tick 2 \(day 0, 02:00\)$"
    ):  # fmt: skip
        agent(context())


def test_a_tick_that_takes_too_long_is_a_timeout_here_too(isolated):
    with pytest.raises(
        AgentTimeout,
        match=r"^tick 2 \(day 0, 02:00\): it did not end within 1 s \(tick_timeout\)$",
    ):
        isolated(SLOW)(context(tick_timeout=1.0))


def test_ticks_that_an_agent_makes_up_are_not_believed(isolated):
    agent = isolated(
        """
        import gc
        from pytest_agentbench.agents.process.child import _Channel
        from pytest_agentbench.agents.process import wire
        def agent(context):
            (channel,) = [one for one in gc.get_objects() if type(one) is _Channel]
            for tick in (None, [1, 2], ["1", 2, 3], [True, 0, 0], {"a": 1}):
                channel.send(wire.encoded({"tick": tick}))
            return 1
        """
    )
    usage = Usage()
    with counting(usage):
        assert agent(None) == 1
    assert usage.tick is None
