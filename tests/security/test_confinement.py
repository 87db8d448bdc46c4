"""Every probe of confinement_probes.py fails in a confined agent, under Landlock and under bubblewrap.

Unconfined each of them succeeds, which shows that it looks in the right place.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from processes import happens, linux
from security import confinement_probes

from pytest_agentbench.agents.errors import RemoteAgentError
from pytest_agentbench.agents.process import landlock, sandbox
from pytest_agentbench.agents.process.isolated import IsolatedAgent
from pytest_agentbench.agents.process.sandbox import Confinement, IsolationOptions

pytestmark = linux
ROOT = Path(__file__).parents[2]
KINDS = ("landlock", "bubblewrap", "none")
# What SECURITY.md says is not held.
OPEN = {
    ("landlock", "watched"),
    ("landlock", "socket_with_a_path"),
    ("bubblewrap", "socket_without_a_path"),
}
OF_NO_FILE = {"daemon"}  # see below


def _git(folder, *names):
    author = ["-c", "user.name=x", "-c", "user.email=x"]
    for command in (["init", "-q"], ["add", "-f", *names], [*author, "commit", "-qm", "data"]):
        subprocess.run(["git", *command], cwd=folder, check=True)


def _served(address, secret, stack):
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    stack.append(server)

    def serve():
        while True:
            try:
                asked, _ = server.accept()
            except OSError:
                return
            asked.sendall(secret.encode())
            asked.close()

    threading.Thread(target=serve, daemon=True).start()


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A project with data, history and earlier runs around the agent; more of that elsewhere."""
    base = tmp_path_factory.mktemp("confinement").resolve()
    half = secrets.token_hex(16)
    secret = half + secrets.token_hex(8)
    project = base / "project"
    page = f"<!DOCTYPE html>{secret}<footer>pytest-agentbench 1.0</footer>"
    files = {
        "project/data/truth.txt": secret,
        "project/nested/truth.txt": secret,
        "project/out/manifest.json": "{}",
        "project/out/scores.json": "{}",
        "project/out/report.html": page,
        "project/deep/er/run/records.jsonl": secret,
        "project/deep/er/run/manifest.json": "{}",
        "project/cut/records.jsonl": secret,
        "project/page.html": page,
        "project/.agentbench/runs/1/records.jsonl": secret,
        "project/mlruns/0/report.html": secret,
        "project/.dvc/cache/1": secret,
        "elsewhere/run/report.html": page,
        "elsewhere/truth_module.py": f"TRUTH = {secret!r}\n",
        "repository/truth.txt": secret,
        "home/notes.txt": secret,
    }
    for name, text in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copy(confinement_probes.__file__, project / "agent.py")
    (project / "link").symlink_to(base / "home/notes.txt")
    _git(project / "nested", "truth.txt")
    _git(project, "data/truth.txt")
    _git(base / "repository", "truth.txt")
    (base / "repository/truth.txt").unlink()
    (project / "nested/truth.txt").unlink()
    shared = Path(tempfile.mkdtemp(prefix="agentbench-probe-", dir="/dev/shm"))
    (shared / "records.jsonl").write_text(secret)
    handle, temporary = tempfile.mkstemp(prefix="agentbench-probe-")
    os.write(handle, secret.encode())
    os.close(handle)
    servers = []
    _served(str(base / "socket"), secret, servers)
    _served("\0" + half[:8], secret, servers)
    device = next(
        (f"/dev/{one.name}" for one in sorted(Path("/sys/block").glob("*"))
         if one.name.startswith(("vd", "sd", "nvme", "xvd")) and Path("/dev", one.name).exists()),
        "/dev/no-disk",
    )  # fmt: skip
    numbers = Path("/sys/block", Path(device).name, "dev")
    yield {
        "half": half[::-1],
        "data": str(project / "data/truth.txt"),
        "module": str(base / "elsewhere/truth_module.py"),
        "project": str(project),
        "elsewhere": str(base / "elsewhere"),
        "repository": str(base / "repository"),
        "home": str(base / "home"),
        "shared_memory": str(shared),
        "temporary": temporary,
        "checkout": str(ROOT),
        "demos": [
            str(path)
            for path in (ROOT / "pytest_agentbench/benchmarks").glob("*/demo/**/*")
            if path.is_file()
        ],
        "device": device,
        "numbers": numbers.read_text().strip() if numbers.exists() else "254:0",
        "pid": os.getpid(),
        "socket": str(base / "socket"),
        "abstract": half[:8],
    }
    for server in servers:
        server.close()
    shutil.rmtree(shared)
    Path(temporary).unlink()


def _why_not(kind):
    if kind == "landlock":
        abi, why_not = landlock.abi()
        return f"Landlock: {why_not}" if abi < 3 else None
    if kind == "bubblewrap":
        bwrap = shutil.which("bwrap")
        version, why = (None, "not installed") if bwrap is None else sandbox.bubblewrap.tried(bwrap)
        return f"bubblewrap: {why}" if version is None else None
    return None


@pytest.fixture(scope="module", params=KINDS)
def hostile(request, places):
    """The agent, confined by one means or not at all; ``hostile.kind`` says how."""
    why_not = _why_not(request.param)
    if why_not:
        pytest.skip(why_not)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "available", lambda: Confinement(request.param, "test"))
        project = Path(places["project"])
        demos = tuple((ROOT / "pytest_agentbench/benchmarks").glob("*/demo"))
        options = IsolationOptions(hidden=(project / "data", *demos))
        agent = IsolatedAgent("agent.py:agent", [project], options, 60.0)
        agent.kind = request.param
        agent.start()
        (process,) = agent._all
        agent.supervisor = process._popen.pid
        yield agent
        agent.close()


def reached(agent, places, probe):
    context = {**places, "probe": probe, "supervisor": getattr(agent, "supervisor", 0)}
    try:
        return agent(context)
    except RemoteAgentError as error:
        if {"OSError", "ModuleNotFoundError"} & set(error.types):
            return False
        raise  # a mistake of the probe


@pytest.mark.parametrize(
    "probe", [one for one in confinement_probes.PROBES if one not in OF_NO_FILE]
)
def test_no_probe_reaches_the_truth(hostile, places, probe):
    found = reached(hostile, places, probe)
    if hostile.kind == "none":
        if not found and probe in confinement_probes.NEED_MORE:
            pytest.skip("needs root, a disk or namespaces")
        assert found
    elif (hostile.kind, probe) in OPEN:
        assert found  # if this fails, a newer kernel holds more: say so in SECURITY.md
    elif hostile.kind == "landlock" and landlock.abi()[0] < 6 and probe in (
        "signal_to_our_process", "socket_without_a_path",
    ):  # fmt: skip
        pytest.skip("Landlock keeps these back from ABI 6 on")
    else:
        assert not found


@pytest.mark.parametrize("kind", KINDS)
def test_a_daemon_in_a_session_of_its_own_does_not_outlive_the_run(
    places, kind, tmp_path, monkeypatch
):
    why_not = _why_not(kind)
    if why_not:
        pytest.skip(why_not)
    monkeypatch.setattr(sandbox, "available", lambda: Confinement(kind, "test"))
    work = tmp_path / "work"
    work.mkdir()
    agent = IsolatedAgent(
        "agent.py:agent", [Path(places["project"])], IsolationOptions(cwd=work), 60.0
    )
    assert reached(agent, places, "daemon") is True
    beats = work / "alive"
    assert happens(lambda: beats.exists() and beats.read_text())
    first = beats.read_text()
    assert happens(lambda: beats.read_text() not in (first, ""))  # it lives while the agent does
    agent.close()
    last = beats.read_text()
    assert not happens(lambda: beats.read_text() != last, seconds=0.5)


def test_the_campaign_is_as_large_as_it_says():
    assert len(confinement_probes.PROBES) >= 40
    assert sys.platform == "linux"
