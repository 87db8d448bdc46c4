"""What a call costs beyond the agent.

An agent that does nothing is asked in this process, in a child (`--agent-isolation process`), as a command
and over HTTP: with a small context, with that of a humob user of 1,000, 2,000 or 4,000 rows (a quarter as
many cells out), and with a tool that it asks once. Microseconds of the whole call, JSON on both sides
included; "JSON" is coding and decoding context and answer alone. Medians of 1,000 calls. MB: the
agent's own process and its supervisor.
"""

from __future__ import annotations

import json
import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from measure import Cell, descendants, peak, seconds, show

from pytest_agentbench.agents.call import LocalAgent
from pytest_agentbench.agents.http_agent import HttpAgent
from pytest_agentbench.agents.process.command import CommandAgent
from pytest_agentbench.agents.process.isolated import IsolatedAgent

HEAD = ("agent", "context", "median µs", "99 % µs", "JSON µs", "median / JSON", "MB")
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

    def made(count: int) -> list[list[int]]:
        return [[n // 24, n % 48, rng.randint(1, 200), rng.randint(1, 200)] for n in range(count)]

    users = {
        f"{n:,} rows": {"history": made(n), "targets": made(n // 4)} for n in (1000, 2000, 4000)
    }
    return {"small": {"uid": 1}, **users, "a tool": {"uir": Store()}}


def rows(quick: bool) -> Iterator[list[Cell]]:
    calls = 20 if quick else 1000
    namespace: dict[str, Any] = {}
    exec(SOURCE, namespace)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, text in (("agent", SOURCE), ("command", COMMAND), ("server", SERVER)):
            (place / f"{name}.py").write_text(text)
        server = subprocess.Popen(
            [sys.executable, "server.py"], cwd=place, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        agents: dict[str, Any] = {
            "in process": LocalAgent(namespace["agent"]),
            "child": IsolatedAgent("agent.py", [place]),
            "command": CommandAgent(f"{shlex.quote(sys.executable)} command.py", place),
            "HTTP": HttpAgent(f"http://127.0.0.1:{int(server.stdout.readline())}/"),
        }
        started = {os.getpid(), server.pid}
        try:
            for way, agent in agents.items():
                agent({"uid": 0})  # starts what is started at the first call
                own = set(descendants(os.getpid())) - started
                started |= own
                mb = sum(map(peak, [server.pid] if way == "HTTP" else own)) or None
                for what, context in contexts().items():
                    if what == "a tool" and way in ("command", "HTTP"):
                        continue  # this agent does not ask there
                    median, late = microseconds(partial(agent, context), calls)
                    coded = None
                    if what != "a tool":
                        coded, _ = microseconds(partial(code, context, agent(context)), calls)
                    yield [way, what, median, late, coded, coded and median / coded, mb]
        finally:
            for agent in agents.values():
                agent.close()
            server.kill()
            server.wait()


def code(context: Any, answer: Any) -> None:
    json.loads(json.dumps(context))
    json.loads(json.dumps(answer))


def microseconds(call: Any, calls: int) -> tuple[float, float]:
    """The median and the 99th percentile."""
    for _ in range(calls // 20):
        call()
    taken = [1e6 * seconds(call) for _ in range(calls)]
    return statistics.median(taken), statistics.quantiles(taken, n=100)[98]


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
