"""Agents that live tick by tick, through whole runs: workers, many at once, isolation, resuming, epochs, models."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from llm_server import KEY, reply

EXAMPLE = Path(__file__).parents[2] / "examples" / "citizen_agent.py"
needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="process isolation needs POSIX")

# With the imports and calls of published agents, and no more than a rule behind them.
PLANNER = """
import json, random, re
import numpy as np
from agentsociety.cityagent.blocks.utils import clean_json_response
from agentsociety.environment.utils.const import POI_CATG_DICT
from mobisimbench.benchmarks import DailyMobilityAgent
from pycityproto.city.person.v2.motion_pb2 import Status
from pycityproto.city.trip.v2.trip_pb2 import TripMode

class PlannerAgent(DailyMobilityAgent):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.movement_status = [Status.STATUS_WALKING, Status.STATUS_DRIVING]
        self.plan = None

    async def init(self):
        await super().init()
        self.home = (await self.status.get("home"))["aoi_position"]["aoi_id"]

    async def forward(self):
        if await self.status.get("status") in self.movement_status:
            return
        if self.plan is None:
            messages = [{"role": "user", "content": f"A day of {await self.status.get('occupation')}"}]
            self.plan = json.loads(clean_json_response(await self.llm.atext_request(messages)))["plan"]
        day, seconds = self.environment.get_datetime()
        doing = [one for one in self.plan if one["hour"] * 3600 <= seconds][-1]["intention"]
        await self.log_intention(doing)
        if doing == "eating out":
            position = await self.status.get("position")
            x, y = position["xy_position"]["x"], position["xy_position"]["y"]
            found = self.environment.get_around_poi(center=(x, y), radius=12000, poi_type=["restaurant"])
            areas = [poi["aoi_id"] for poi in found] or self.environment.get_aoi_ids()
            await self.go_to_aoi(int(np.random.choice(areas)), TripMode.TRIP_MODE_WALK_ONLY)
        else:
            await self.go_to_aoi((self.home, None))
"""
PLAN = [{"hour": 0, "intention": "sleep"}, {"hour": 12, "intention": "eating out"},
        {"hour": 14, "intention": "home activity"}]  # fmt: skip

OWN = """
class Person:
    def __init__(self, city, profile, agent_params=None):
        self.city = city
    def step(self, now):
        out = 8 <= now.seconds // 3600 < 18
        self.city.go_to(self.city.work if out and self.city.work is not None else self.city.home)
        self.city.intend("work" if out else "sleep")
"""
BY_TICK = (
    "from pathlib import Path\n"
    + OWN
    + """
        if now.tick == 34 and self.city.profile["id"] % 2 and not Path("mended").exists():
            self.city.go_to(5009)
"""
)


def scenario(server, **more):
    entry = {"provider": "vllm", "base_url": server.url, "api_key": KEY, "model": "m"}
    return json.dumps(
        {"benchmark": "DailyMobility", "agent": "agent.py", "llm": [entry], "limit": 4, **more}
    )


def planned(handler):
    handler.send(200, reply(f"```json\n{json.dumps({'plan': PLAN})}\n```"))


def lived(project, count, rows=101):
    records = project.records()
    assert [record["status"] for record in records] == ["ok"] * count
    for record in records:
        assert len(record["answer"]["day"]["rows"]) == rows
    return records


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--concurrency=4"],
        pytest.param(["-n2"], marks=pytest.mark.slow),
        pytest.param(["--agent-isolation=process"], marks=needs_posix),
    ],
    ids=" ".join,
)
def test_a_published_kind_of_agent_with_a_model(project, server, options):
    server.usual = planned
    project.write(agent__py=PLANNER, s__yaml=scenario(server))
    result = project.pytest("s.yaml", *options)
    assert result.ret == 0, result.stdout.str()
    records = lived(project, 4)
    assert len(server.seen) == 4  # one question a person
    for record in records:
        doing = [row[2] for row in record["answer"]["day"]["rows"]]
        assert doing[:48] == ["sleep"] * 48
        assert "eating out" in doing[48:56]
        assert record["usage"]["input_tokens"] == 7
        assert {trip["mode"] for trip in record["answer"]["day"]["trips"]} <= {"walking", "driving"}


HIDING = """
import importlib.machinery, sys
HIDDEN = {"agentsociety", "agentsociety_benchmark", "mobisimbench", "pycityproto", "shapely", "ray", "grpc"}
real = importlib.machinery.PathFinder.find_spec
def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in HIDDEN else real(name, path, target)
importlib.machinery.PathFinder.find_spec = find_spec

def pytest_sessionfinish(session):
    assert not HIDDEN & set(sys.modules), HIDDEN & set(sys.modules)
"""


def test_none_of_the_packages_need_be_installed(project, server):
    server.usual = planned
    checks = "\n    areas = property(lambda self: self.environment.map.get_all_aois())\n"
    agent = (
        PLANNER
        + checks
        + "assert Status.Name(2) == 'STATUS_DRIVING' and not hasattr(Status, 'DESCRIPTOR')\n"
    )
    agent = agent.replace(
        "day, seconds =",
        "assert self.areas[0]['shapely_xy'].centroid.x is not None\n        day, seconds =",
    )
    project.write(agent__py=agent, s__yaml=scenario(server), conftest__py=HIDING)
    result = project.pytest_process("s.yaml")  # this process may have imported them
    assert result.ret == 0, result.stdout.str()
    lived(project, 4)


@pytest.mark.parametrize("measured", ["DailyMobility", "HurricaneMobility"])
@pytest.mark.parametrize("isolation", ["none", pytest.param("process", marks=needs_posix)])
def test_a_class_of_ones_own(project, measured, isolation):
    project.write(agent__py=OWN)
    result = project.pytest(
        f"--benchmark={measured}",
        "--agent=agent.py",
        "--limit=3",
        f"--agent-isolation={isolation}",
    )
    assert result.ret == 0, result.stdout.str()
    lived(project, 3, 101 if measured == "DailyMobility" else 144)


def test_the_example_lives_its_day(project):
    result = project.pytest("--benchmark=DailyMobility", f"--agent={EXAMPLE}", "--limit=5")
    assert result.ret == 0, result.stdout.str()
    lived(project, 5)


@pytest.mark.parametrize("measured", ["DailyMobility", "HurricaneMobility"])
def test_the_template_runs(project, measured):
    from pytest_agentbench.benchmarks import registry

    project.write(agent__py=registry.get(measured).agent_template(ticks=True))
    result = project.pytest(f"--benchmark={measured}", "--agent=agent.py", "--limit=5")
    assert result.ret == 0, result.stdout.str()
    for record in lived(project, 5, 101 if measured == "DailyMobility" else 144):
        assert record["answer"]["day"]["trips"] or record["sample"]


def test_a_day_that_ends_early_is_an_error_and_the_run_goes_on_and_is_taken_up(project):
    project.write(agent__py=BY_TICK)
    command = ("--benchmark=DailyMobility", "--agent=agent.py", "--limit=8")
    result = project.pytest(*command)
    assert result.ret == 1
    first = {record["sample"]: record for record in project.records()}
    failed = [name for name, record in first.items() if record["status"] == "error"]
    assert 0 < len(failed) < 8
    for name in failed:
        assert int(name[5:-1]) % 2
        said = first[name]["error"]
        assert "tick 34 (day 0, 08:30), go_to(5009): there is no such place on the map (" in said
    (project.path / "mended").touch()
    again = project.pytest(*command, "--resume=last")
    assert again.ret == 0, again.stdout.str()
    latest = {record["sample"]: record for record in project.records()}
    assert {record["status"] for record in latest.values()} == {"ok"}
    assert latest.keys() == first.keys()


def test_epochs_are_days_of_their_own(project):
    project.write(agent__py=OWN)
    result = project.pytest(
        "--benchmark=DailyMobility", "--agent=agent.py", "--limit=2", "--epochs=2"
    )
    assert result.ret == 0, result.stdout.str()
    assert sorted(record["epoch"] for record in lived(project, 4)) == [1, 1, 2, 2]


WRITER = """
import hashlib, json
from agentsociety_benchmark.benchmarks import DailyMobilityAgent

class WriterAgent(DailyMobilityAgent):
    async def forward(self):
        if self.environment.get_tick():
            return
        city = self.environment
        areas, pois = city.map.get_all_aois(), city.map.get_all_pois()
        ids, groups = city.get_aoi_ids(), city.get_poi_cate()
        near = city.get_around_poi((0, 0), 1e6, "restaurant")
        seen = [areas, pois, ids, groups, near, self.params, city.get_environment(),
                city.poi_id_2_aoi_id, len(city.map.aois), city.map.header, self.intention_list]
        told = json.dumps(seen) + json.dumps([area["shapely_xy"].centroid.x for area in areas])
        print(len(areas), len(near), hashlib.sha256(told.encode()).hexdigest())
        for one in [*areas, *pois]:
            for key in ("positions", "poi_ids", "position"):
                if key in one:
                    one[key].clear()
            one["shapely_xy"] = None
            one["name"] = one["visited"] = self.id
        for one in (areas, pois, ids, near, city.map.aois, city.map.pois, city.poi_id_2_aoi_id,
                    self.params["likes"], self.intention_list):
            one.clear()
        for values in groups.values():
            values.clear()
        groups.clear()
        city.set_environment({"weather": "mine"})
"""


@pytest.mark.parametrize(
    "options",
    [[], ["--concurrency=4"], pytest.param(["--agent-isolation=process"], marks=needs_posix)],
    ids=" ".join,
)
def test_what_a_person_writes_nobody_else_sees(project, options):
    text = "benchmark: DailyMobility\nagent: agent.py\nlimit: 4\nagent_params: {likes: [tea]}\n"
    project.write(agent__py=WRITER, s__yaml=text)
    result = project.pytest("s.yaml", *options)
    assert result.ret == 0, result.stdout.str()
    seen = {record["evidence"]["stdout"] for record in lived(project, 4)}
    assert len(seen) == 1
    areas, near, _ = seen.pop().split()
    assert int(areas) > 100 < int(near)


SLEEPY = """
import asyncio
class Person:
    def __init__(self, city): self.city = city
    async def step(self, now):
        if now.tick == 34 and self.city.profile["id"] % 2:
            await asyncio.sleep(600)
"""


@pytest.mark.parametrize("isolation", ["none", pytest.param("process", marks=needs_posix)])
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("agent_timeout", "no answer within 5 s; it had reached tick 34 (day 0, 08:30)"),
        ("tick_timeout", "tick 34 (day 0, 08:30): it did not end within 5 s (tick_timeout)"),
    ],
)
def test_a_timeout_names_the_tick(project, option, said, isolation):
    text = f"benchmark: DailyMobility\nagent: agent.py\nlimit: 4\n{option}: 5\nconcurrency: 4\n"
    project.write(agent__py=SLEEPY, s__yaml=text)
    result = project.pytest("s.yaml", f"--agent-isolation={isolation}")
    assert result.ret == 1
    for record in project.records():
        odd = int(record["sample"][5:-1]) % 2
        assert (record["status"], record["error"]) == (("timeout", said) if odd else ("ok", None))


ENDED = """
import asyncio, sys
class Person:
    def __init__(self, city): self.city = city
    async def step(self, now):
        if now.tick == 33:
            raise [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()][self.city.profile["id"] % 3]
"""
SAID = ("SystemExit: 3", "KeyboardInterrupt", "CancelledError")


@pytest.mark.parametrize("isolation", ["none", pytest.param("process", marks=needs_posix)])
def test_what_is_no_exception_is_told_with_its_tick(project, isolation):
    project.write(agent__py=ENDED)
    command = ("--benchmark=DailyMobility", "--agent=agent.py", "--limit=6", "--concurrency=2")
    assert project.pytest(*command, f"--agent-isolation={isolation}").ret == 1
    for record in project.records():
        said = SAID[int(record["sample"][5:-1]) % 3]
        assert record["error"] == f"tick 33 (day 0, 08:15): {said}"


def test_a_line_of_the_summary_says_when_a_day_ended(project, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    project.write(agent__py=OWN + "        1 // (now.tick - 34)\n")
    result = project.pytest("--benchmark=DailyMobility", "--agent=agent.py", "--limit=1")
    result.stdout.fnmatch_lines(["FAILED DailyMobility::user* - DayEnded: tick 34 (day 0, 08:30)*"])


def test_parameters_reach_a_class_of_ones_own(project):
    agent = OWN.replace(
        "self.city = city", "self.city = city; assert agent_params == {'pace': 2}, agent_params"
    )
    text = "benchmark: DailyMobility\nagent: agent.py\nagent_params: {pace: 2}\nlimit: 1\n"
    project.write(agent__py=agent, s__yaml=text)
    result = project.pytest("s.yaml")
    assert result.ret == 0, result.stdout.str()


def test_without_a_model_the_agent_is_told_so_though_it_catches_everything(project):
    agent = PLANNER.replace("json.loads(clean", "self.guess(clean")
    project.write(agent__py=PLANNER)
    assert agent != PLANNER
    result = project.pytest("--benchmark=DailyMobility", "--agent=agent.py", "--limit=2")
    assert result.ret == 1
    for record in project.records():
        assert "the agent asked for a model, and none is configured" in record["error"]


def test_a_budget_ends_the_run_with_what_it_has(project, server):
    server.usual = planned
    project.write(agent__py=PLANNER, s__yaml=scenario(server, max_tokens=15))
    result = project.pytest("s.yaml")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "the budget is spent" in project.scores()["incomplete"]
    assert project.scores()["samples"]["ok"] == 2


def test_a_benchmark_without_a_city_says_so(project):
    project.write(agent__py=OWN)
    result = project.pytest("--benchmark=humob", "--agent=agent.py", "--limit=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *this benchmark has no city to live in*"])


def test_people_whose_home_is_not_on_the_map_are_one_clear_error(project):
    places = "id,x,y,category\n1,0,0,residential\n"
    profiles = [{"id": 1, "home": 500_034_881, "work": 500_041_984}]
    demo = Path(__import__("pytest_agentbench").__file__).parent / "benchmarks/daily_mobility/demo"
    folder = project.path / "data"
    (folder / "groundtruth").mkdir(parents=True)
    for path in (demo / "groundtruth").iterdir():
        (folder / "groundtruth" / path.name).write_bytes(path.read_bytes())
    (folder / "profiles.json").write_text(json.dumps(profiles))
    project.write(agent__py=OWN)
    command = ("--benchmark=DailyMobility", "--agent=agent.py", "--dataset=data")
    said = "lives in the city tick by tick needs one: there is no map (*.pb) and none of places."
    assert said in project.pytest(*command).stderr.str()
    (folder / "places.csv").write_text(places)
    for more in ([], ["-n2"], ["--agent-isolation=process"]):
        result = project.pytest(*command, *more)
        assert result.ret != 0
        said = "home 500034881 of person 1 is not on the map (places.csv, 1 places)"
        assert said in result.stderr.str() + result.stdout.str()
    assert not project.runs()
