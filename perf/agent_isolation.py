"""Measure what a call costs beyond the agent itself: `python perf/agent_isolation.py`, half a minute.

An agent that does nothing is asked in this process, in a child, as a command and over HTTP, with a small
context, with the context of a humob user (rows in, cells out), and with a tool that it asks once. The time
is of the whole call, so what JSON costs on both sides is in it. What confinement adds to the start of a
child comes first.
"""

from __future__ import annotations

import random
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pytest_agentbench.agents import confinement  # noqa: E402  # needs the path above
from pytest_agentbench.agents.calling import Agent  # noqa: E402
from pytest_agentbench.agents.command import CommandAgent  # noqa: E402
from pytest_agentbench.agents.errors import AgentCrashed  # noqa: E402
from pytest_agentbench.agents.http import HttpAgent  # noqa: E402
from pytest_agentbench.agents.isolation import IsolatedAgent  # noqa: E402
from pytest_agentbench.agents.surroundings import IsolationOptions  # noqa: E402

CALLS = 1000
SOURCE = """
def agent(context):
    if "uir" in context and context["uir"] is not None:
        context["uir"].get_user("u1")
    return [[1, 2] for _ in context.get("targets", ())]
"""
COMMAND = """
import json, sys
from agent import agent
for line in sys.stdin:
    print(json.dumps(agent(json.loads(line))), flush=True)
"""
SERVER = """
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from agent import agent

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for a reply
    disable_nagle_algorithm = True

    def do_POST(self):
        context = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(agent(context)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


class Store:
    agentbench_methods = ("get_user",)

    def get_user(self, user_id: str) -> dict[str, str]:
        return {"user_id": user_id}


def contexts() -> dict[str, Any]:
    rng = random.Random(0)

    def rows(count: int) -> list[list[int]]:
        return [[n // 24, n % 48, rng.randint(1, 200), rng.randint(1, 200)] for n in range(count)]

    return {
        "small": {"uid": 1},
        "humob, 1,000 rows in, 250 out": {"history": rows(1000), "targets": rows(250)},
        "humob, 2,000 rows in, 500 out": {"history": rows(2000), "targets": rows(500)},
        "one question to a tool": {"uir": Store()},
    }


def measure(agent: Callable[[Any], Any], context: Any) -> tuple[float, float]:
    """Return the median and the 99th percentile of a call, in microseconds."""
    for _ in range(50):
        agent(context)
    taken = []
    for _ in range(CALLS):
        started = time.perf_counter()
        agent(context)
        taken.append(1e6 * (time.perf_counter() - started))
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]


def starts(place: Path, kind: str) -> str:
    """Start children under one means of confinement, in a project with a data set and runs."""
    hidden = tuple(place / name for name in ("data", ".agentbench", "cache"))
    for folder in hidden:
        folder.mkdir(exist_ok=True)
    in_force = confinement.available
    confinement.available = lambda: confinement.Confinement(kind, "asked for")  # type: ignore
    taken = []
    try:
        for _ in range(15):
            agent = IsolatedAgent("agent.py", [place], IsolationOptions(hidden=hidden))
            started = time.perf_counter()
            agent.start()
            taken.append(1e3 * (time.perf_counter() - started))
            agent.close()
    except (AgentCrashed, AssertionError) as error:
        return f"not here: {error}"
    finally:
        confinement.available = in_force
    return f"{min(taken):.0f}  {statistics.median(taken):.0f}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, text in (("agent", SOURCE), ("command", COMMAND), ("server", SERVER)):
            (place / f"{name}.py").write_text(text)
        namespace: dict[str, Any] = {}
        exec(SOURCE, namespace)
        print("starting a child, milliseconds, the fastest and the median of 15")
        for kind in ("none", "landlock", "bubblewrap"):
            print(f"  confinement {kind:12}{starts(place, kind)}")
        print(f"confinement in force: {confinement.available()}")
        child = IsolatedAgent("agent.py", [place])
        child.start()
        command = CommandAgent(f"{shlex.quote(sys.executable)} command.py", place)
        server = subprocess.Popen(
            [sys.executable, "server.py"], cwd=place, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        http = HttpAgent(f"http://127.0.0.1:{int(server.stdout.readline())}/")
        agents = {
            "in process": Agent(namespace["agent"]),
            "child": child,
            "command": command,
            "HTTP": http,
        }
        try:
            print(
                f"{'microseconds a call, median (99 %)':36}" + "".join(f"{n:>18}" for n in agents)
            )
            for name, context in contexts().items():
                cells = []
                for way, agent in agents.items():
                    if isinstance(context.get("uir"), Store) and way in ("command", "HTTP"):
                        cells.append("-")  # this one does not ask there
                        continue
                    median, late = measure(agent, context)
                    cells.append(f"{median:.0f} ({late:.0f})")
                print(f"{name:36}" + "".join(f"{cell:>18}" for cell in cells))
        finally:
            for agent in agents.values():
                agent.close()
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
