"""Sessions that something happens to, and what they have asked, answered and logged."""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Notes every question and every answer in a file, wherever the agent lives.
AGENT = """
import os, select, time

def _note(name, number):
    with open({folder!r} + "/" + name, "a") as file:
        file.write(f"{{number}}\\n")

def agent(context):
    a = context["a"]
    _note("asked", a)
{body}
    _note("answered", a)
    return a + context["b"]
"""


def make_notes(folder):
    """Empty files for the agent's notes where a confined one may write, too: Landlock leaves it /dev/shm."""
    shared = Path("/dev/shm")
    if not shared.is_dir():
        return
    place = Path(tempfile.mkdtemp(prefix="agentbench-notes-", dir=shared))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    for name in ("asked", "answered"):
        (place / name).touch()
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(place / name)


def write_agent(project, body="pass"):
    make_notes(project.path)
    lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
    project.write(agent__py=AGENT.format(folder=str(project.path), body=lines))


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
