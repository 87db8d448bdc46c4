"""One run on several hosts, each with its own network, ssh server, home, cache and copy of the project."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest
import ssh_hosts

from pytest_agentbench.base.files import path_digest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(ssh_hosts.why_not() is not None, reason=ssh_hosts.why_not() or ""),
]

# Two people for 75 days, of whom the last 15 are asked.
ROWS = [
    "uid,d,t,x,y\n",
    *(f"{u},{d},{t},{50 + d % (5 + u)},{t}\n" for u in (1, 2) for d in range(75) for t in (9, 20)),
]
NOTICE = (
    "-o ServerAliveInterval=1",
    "-o ServerAliveCountMax=3",
)  # a lost host, within four seconds

# Leaves on its host what it was asked. It waits while there is a file `wait`, and with a file
# `stuck` for ever from its second question on.
AGENT = """
import os, pathlib, time
home = pathlib.Path(os.environ["HOME"])
def agent(context):
    with (home / "asked").open("a") as file:
        file.write(f"{context['a']}\\n")
    questions = len((home / "asked").read_text().split())
    while (home / "wait").exists() or ((home / "stuck").exists() and questions > 1):
        time.sleep(0.02)
    return context["a"] + context["b"]
"""


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    with ssh_hosts.machines(3, tmp_path_factory.getbasetemp()) as machines:
        yield machines


@pytest.fixture
def hosts(three, project, monkeypatch):
    """Three hosts and the controller; each has the same agent."""
    project.write(agent__py=AGENT)
    for machine in three:
        machine.host.join_again()
        shutil.rmtree(machine.project)
        shutil.rmtree(machine.cache, ignore_errors=True)
        machine.project.mkdir()
        (machine.project / "agent.py").write_text(AGENT)
        for name in ("asked", "wait", "stuck"):
            (machine.home / name).unlink(missing_ok=True)
    return three


def asked(machine) -> list[int]:
    file = machine.home / "asked"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def meanwhile(condition, act) -> None:
    """Does something to a host as soon as the session has come so far."""

    def wait() -> None:
        while not condition():
            time.sleep(0.02)
        act()

    threading.Thread(target=wait, daemon=True).start()


def toysum(project, *args):
    return project.pytest("--dist=load", "--benchmark=toysum", "--agent", "agent.py", *args)


def test_the_same_command_gives_the_same_scores_with_data_found_by_digest(hosts, project):
    one, two, _ = hosts
    (project.path / "rows.csv").write_text("".join(ROWS))
    command = ("--benchmark", "humob", "--dataset", "rows.csv")
    assert project.pytest(*command, "--run-dir=alone").ret == 0

    shutil.copy(project.path / "rows.csv", one.project)
    kept = two.cache / "data" / path_digest(project.path / "rows.csv")
    kept.mkdir(parents=True)
    shutil.copy(project.path / "rows.csv", kept)
    tx = ("--dist", "load", one.ssh(), two.ssh())
    result = project.pytest(*tx, *command, "--run-dir", "spread")
    assert result.ret == 0, result.stdout.str()
    alone, spread = (project.scores(project.path / name) for name in ("alone", "spread"))
    assert alone["readings"] == spread["readings"]
    assert alone["samples"]["ok"] == 2
    assert not list(one.home.rglob("records.jsonl"))


def test_a_host_that_would_make_another_run_refuses_and_says_why(hosts, project):
    one, two, three = hosts
    (project.path / "rows.csv").write_text("".join(ROWS))
    (two.project / "rows.csv").write_text("".join(ROWS[:-1]))
    (three.project / "rows.csv").write_text("".join(ROWS))
    (three.project / "agent.py").write_text(f"{AGENT}\n# changed")
    (three.project / "pytest.ini").write_text("[pytest]\nagentbench_seed = 7\n")
    result = project.pytest(
        "--dist=load", *(machine.ssh() for machine in hosts),
        "--benchmark=humob", "--agent", "agent.py", "--dataset=rows.csv",
    )  # fmt: skip
    assert result.ret == pytest.ExitCode.INTERRUPTED
    digest = path_digest(project.path / "rows.csv")
    result.stdout.fnmatch_lines_random(
        [
            f"{one.address}: --dataset: expected 'rows.csv' of digest {digest}, which the "
            f"controller has; looked in {one.project} and in {one.cache}/data/{digest}; copy it to "
            "one of them",
            f"{two.address}: it would not make the same run",
            "  data: expected digest *, which the controller has, got digest * from "
            f"{two.project}/rows.csv; copy the controller's data there",
            f"{three.address}: it would not make the same run",
            "  agent source: expected digest *; copy the controller's agent there",
            "  seed: expected 0, which the controller has, got 7; its ini file, *",
            "*Interrupted: * cannot take part*",
        ]
    )
    assert not any(asked(machine) for machine in hosts)
    assert not project.runs()


def test_a_host_that_cannot_run_the_plugin_ends_the_session(hosts, project):
    result = toysum(project, f"{hosts[0].ssh()}//env:PYTEST_ADDOPTS=-p no:agentbench")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            f"{hosts[0].address}: its worker could not start (is pytest-agentbench installed there*",
            "*unrecognized arguments: --benchmark=toysum --agent=agent.py*",
        ]
    )


def test_a_host_that_is_not_there_is_named(hosts, project):
    hosts[0].host.cut_off()
    result = toysum(project, hosts[0].ssh())
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*--tx: expected a host that can be reached and has Python*{hosts[0].address}*"]
    )


def test_a_host_cut_off_costs_what_it_was_asked_last_and_the_others_do_the_rest(hosts, project):
    one, lost, three = hosts
    (lost.home / "stuck").touch()
    for machine in (one, three):
        (machine.home / "wait").touch()

    def cut() -> None:
        lost.host.cut_off()
        for machine in (one, three):
            (machine.home / "wait").unlink()

    meanwhile(lambda: len(asked(lost)) == 2 and asked(one) and asked(three), cut)
    result = toysum(project, *(machine.ssh(*NOTICE) for machine in hosts))
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{lost.address} is lost: it cannot be reached again"])
    records = {record["sample"]: record for record in project.records()}
    answered, unanswered = asked(lost)
    failed = [record["sample"] for record in records.values() if record["status"] != "ok"]
    assert [int(name.partition("[s")[2][:-1]) for name in failed] == [unanswered]
    assert "crashed while running" in records[failed[0]]["error"]
    assert len(records) == len(project.records()) == 12
    # Nothing was asked twice: neither what the lost host had answered nor anything else.
    assert answered in range(12)
    assert sorted(a for machine in hosts for a in asked(machine)) == list(range(12))


def test_a_killed_worker_is_replaced_on_its_host_while_others_ask_ahead(hosts, project):
    one, two, _ = hosts
    for machine in (one, two):
        (machine.home / "wait").touch()

    def kill() -> None:
        for pid in two.host.processes():
            if "python" in Path(f"/proc/{pid}/comm").read_text():
                os.kill(pid, signal.SIGKILL)
        for machine in (one, two):
            (machine.home / "wait").unlink()

    meanwhile(lambda: len(asked(one)) == len(asked(two)) == 2, kill)
    result = toysum(project, one.ssh(), two.ssh(), "--concurrency=2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert project.scores()["samples"]["ok"] == 11
    assert project.scores()["samples"]["error"] == 1
    assert len(project.records()) == 12
    assert len(asked(one)) == len(set(asked(one)))
    # Two were under way when it was killed: one is marked, the other is asked again.
    assert len(asked(one)) + len(asked(two)) == 13


def test_when_the_last_host_is_lost_the_run_ends_and_can_be_resumed(hosts, project):
    only = hosts[0]
    (only.home / "stuck").touch()
    meanwhile(lambda: len(asked(only)) == 2, only.host.cut_off)
    result = toysum(project, only.ssh(*NOTICE), "--run-dir=run")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            f"{only.address}: lost, and nobody is there to go on: --resume asks what is left",
            f"*Interrupted: {only.address} is lost*",
        ]
    )
    [first, last] = asked(only)
    records = {
        r["sample"].partition("[s")[2]: r["status"] for r in project.records(project.path / "run")
    }
    assert records == {f"{first}]": "ok", f"{last}]": "error"}

    resumed = project.pytest(
        "--benchmark=toysum", "--agent=builtin:right", "--resume=run", "--resume-anyway"
    )
    assert resumed.ret == 1  # another agent gave one of the answers
    assert project.scores(project.path / "run")["samples"]["ok"] == 12


def test_a_silent_host_behind_a_socket_is_lost_too(hosts, project):
    one, lost, _ = hosts
    for machine in (one, lost):
        machine.serve(8888, "python", "-m", "execnet.script.socketserver", ":8888")
    (lost.home / "stuck").touch()
    (one.home / "wait").touch()
    project.write(
        conftest__py="from pytest_agentbench.plugin import workers as d\n"
        "d.ASK_EVERY_SECONDS, d.ASK_TIMES = 1, 1\n"
    )
    log = project.path / "run" / "records.jsonl"

    def noticed() -> bool:
        return log.exists() and "crashed" in log.read_text()

    meanwhile(lambda: len(asked(lost)) == 2 and asked(one), lost.host.cut_off)
    meanwhile(noticed, (one.home / "wait").unlink)
    sockets = (f"--tx=socket={m.address}:8888//chdir={m.project}" for m in (one, lost))
    result = toysum(project, *sockets, "--run-dir=run")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"{lost.address}:8888 is lost: *"])
    assert project.scores(project.path / "run")["samples"]["ok"] == 11
    assert sorted(asked(one) + asked(lost)) == list(range(12))
