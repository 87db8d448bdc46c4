"""Sessions that something happens to, and what they have asked, answered and logged."""

from __future__ import annotations

import functools
import json
import socketserver
import subprocess
import sys
import threading
import time
from pathlib import Path

# Notes in a file of the project, wherever the agent lives: a confined one can write none, but the network is open.
NOTE = """
import socket

def _note(name, number):
    with socket.create_connection(("127.0.0.1", {port})) as notes:
        notes.sendall(({folder!r} + "/" + name + " " + str(number)).encode())
        notes.shutdown(socket.SHUT_WR)
        notes.recv(1)  # it is noted now
"""
# Notes every question and every answer.
AGENT = (
    "import os, select, time"
    + NOTE
    + """
def agent(context):
    a = context["a"]
    _note("asked", a)
{body}
    _note("answered", a)
    return a + context["b"]
"""
)


class _Notes(socketserver.StreamRequestHandler):
    def handle(self):
        path, _, number = self.rfile.read().decode().rpartition(" ")
        with Path(path).open("a") as file:
            file.write(f"{number}\n")
        self.wfile.write(b".")


@functools.cache
def notes_port():
    """Where the notes of agents are taken, one after the other."""
    server = socketserver.TCPServer(("127.0.0.1", 0), _Notes)
    server.request_queue_size = 100
    server.socket.listen(100)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def write_agent(project, body="pass"):
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    project.write(agent__py=AGENT.format(folder=str(project.path), port=notes_port(), body=lines))


def numbers(project, name):
    """What the agent has noted since the last look."""
    path = project.path / name
    found = sorted(map(int, path.read_text().split())) if path.exists() else []
    path.write_text("")
    return found


def logged(folder, status="ok", name="records.jsonl"):
    """The numbers of the samples with such a record; every line of the log must be whole."""
    lines = (folder / name).read_bytes().split(b"\n")
    assert lines.pop() == b"", "expected a line end after the last record"
    status_of = {record["sample"]: record["status"] for record in map(json.loads, lines)}
    return sorted(int(name.split("[s")[1][:-1]) for name, s in status_of.items() if s == status)


def on_disk(folder):
    """The samples whose answers are in a file of the run: nothing that ends it can lose them."""
    paths = (folder / name for name in ("records.jsonl", "answers.jsonl"))
    whole = (
        line for path in paths if path.exists() for line in path.read_bytes().split(b"\n")[:-1]
    )
    return {json.loads(line)["sample"] for line in whole}


def start(project, *args, **options):
    command = [sys.executable, "-m", "pytest", "--benchmark=toysum", "--agent=agent.py", *args]
    return subprocess.Popen(
        command, cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )  # fmt: skip


def wait_until(condition, what):
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


def lines_of(path):
    return path.read_text().count("\n") if path.exists() else 0
