"""A real scheduler and real workers, on hosts of their own: what they compute and how they fail."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import socket
import sys
import time

import namespaces
import pytest
from humob_parts import without_answers, write_tables

from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Portion, Scored
from pytest_agentbench.metrics import geobleu
from pytest_agentbench.runs import cluster

pytest.importorskip("distributed", reason="needs the extra dask")
VALID = ["--submission=given", "--dataset=data", "--users=80010-80059"]


class Cluster:
    """A scheduler on the first host; workers are started on the others when a test wants them."""

    def __init__(self, hosts, folder):
        self.hosts = hosts
        self.folder = folder
        self.address = f"tcp://{hosts[0].address}:8786"
        self._number = 0
        self.process, _ = self._start(
            hosts[0], "scheduler", "--no-dashboard", "--host", hosts[0].address
        )
        wait_until(lambda: is_open(hosts[0].address, 8786))

    def _start(self, host, *arguments, shell="", **environment):
        self._number += 1
        log = self.folder / f"{self._number}.log"
        command = [sys.executable, "-m", "dask", *arguments]
        if shell:
            command = ["sh", "-c", f'{shell}; exec "$@"', "sh", *command]
        with log.open("wb") as file:
            process = host.start(
                *command,
                stdout=file,
                stderr=file,
                cwd=self.folder,
                env={**os.environ, **environment},
            )
        return process, log

    @contextlib.contextmanager
    def workers(self, *how):
        """Workers on the hosts after the first, each with its shell command and environment."""
        started = [
            self._start(
                host, "worker", self.address, "--no-nanny", "--no-dashboard", "--nthreads=1",
                "--host", host.address, **one,
            )
            for host, one in zip(self.hosts[1:], how, strict=False)
        ]  # fmt: skip
        try:
            for process, log in started:
                wait_for_worker(process, log)
            yield [process for process, _ in started]
        finally:
            for process, _ in started:
                process.kill()
                process.wait()


def wait_for_worker(process, log):
    wait_until(lambda: "Registered to" in log.read_text() or process.poll() is not None)
    assert process.poll() is None, log.read_text()


def is_open(host, port):
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
        return True
    return False


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    reason = namespaces.why_not()
    if reason is not None:
        pytest.skip(reason)
    with namespaces.hosts(3) as hosts:
        yield Cluster(hosts, tmp_path_factory.mktemp("cluster"))


@pytest.fixture
def score(project, scheduler, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(project.path / "cache"))
    write_tables(project.path)
    there = ["--engine=dask", f"--scheduler={scheduler.address}"]
    return lambda *args: project.agentbench_process("score", "humob", *VALID, *there, *args)


def altered(project, **code):
    """The environment of a worker whose Python begins with this code."""
    ((name, text),) = code.items()
    project.write(**{f"{name}___sitecustomize__py": text})
    return {"PYTHONPATH": str(project.path / name)}


@pytest.mark.slow
def test_workers_on_two_hosts_give_the_bits_of_pytest_though_one_dies(project, scheduler, score):
    dying = altered(
        project,
        dying="import os, polars, signal\n"
        "polars.scan_parquet = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)",
    )
    with scheduler.workers({}, dying) as (_, second):
        result = score("--run-dir=there")
        assert second.wait() == -9  # it had begun to score
    assert result.ret == 0, result.stderr.str()
    project.write(
        users__yaml="benchmark: humob\nusers: 80010-80059\nsubmission: given\ndataset: data\nchunk: 25"
    )
    tested = project.pytest("--benchmark=users.yaml", "--run-dir=tested", "-q")
    assert tested.ret == 0
    there, here = (project.scores(project.path / name) for name in ("there", "tested"))
    assert there["readings"] == here["readings"]
    assert there["readings"]["2025"]["dtw"]["low"] > 0
    assert there["samples"]["ok"] == 50
    assert (there["dataset"], there["agent"]) == (here["dataset"], here["agent"])
    records = [
        sorted(without_answers(project, project.path / name), key=str)
        for name in ("there", "tested")
    ]
    assert records[0] == records[1]


def refusal(result, scheduler):
    """The only line of the errors, which names the worker."""
    assert (result.ret, len(result.errlines)) == (2, 1)
    assert f"worker tcp://{scheduler.hosts[1].address}:" in result.errlines[0]
    return result.errlines[0]


def test_a_worker_that_would_compute_something_else_is_refused(project, scheduler, score):
    old = altered(project, old="import pytest_agentbench\npytest_agentbench.__version__ = '0.0.1'")
    with scheduler.workers(old):
        result = score()
    said = refusal(result, scheduler)
    assert "got pytest-agentbench 0.0.1; scores are the same bits only where" in said
    assert project.runs() == []


def test_a_worker_without_the_package_or_the_files_is_named(project, scheduler, score):
    lacking = altered(project, lacking="import sys\nsys.modules['pytest_agentbench'] = None")
    with scheduler.workers(lacking):
        result = score()
    assert "ModuleNotFoundError" in refusal(result, scheduler)
    with scheduler.workers({"shell": f"mount -t tmpfs none {project.path / 'given'}"}):
        result = score()
    said = refusal(result, scheduler)
    assert f"{project.path / 'given' / 'part-'}" in said
    assert "No such file or directory; every worker must find the files" in said


def test_a_scheduler_that_is_lost_is_an_error_of_one_line(project, scheduler, score, tmp_path):
    other = Cluster(scheduler.hosts[1:], tmp_path)
    killing = altered(
        project,
        killing="import os, polars, time\n"
        f"polars.scan_parquet = lambda *a, **k: (os.kill({other.process.pid}, 9), time.sleep(60))",
    )
    with other.workers(killing):
        result = score(f"--scheduler={other.address}")
    assert result.ret == 2
    assert "the connection to the scheduler was lost" in result.errlines[-1]
    assert "Traceback" not in result.stderr.str()


@pytest.mark.slow
def test_an_address_without_scheduler_is_said_within_seconds(project, score):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        free = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
    for address in (free, "nonsense://x"):
        result = score(f"--scheduler={address}")
        assert (result.ret, len(result.errlines)) == (2, 1)
        assert f"--scheduler: expected the address of a Dask scheduler (tcp://host:8786), got {address}" in result.errlines[0]  # fmt: skip


def test_a_worker_takes_as_many_threads_as_it_was_given(scheduler):
    import distributed

    kind = type(registry.get("humob"))
    ask = functools.partial(cluster.call, os.getenv, kind=kind, expected=cluster.identity(kind))
    with scheduler.workers({}), distributed.Client(scheduler.address, timeout=20) as client:
        assert client.submit(ask, "POLARS_MAX_THREADS").result(timeout=60) == "1"
    with (
        scheduler.workers({"POLARS_MAX_THREADS": "3"}),
        distributed.Client(scheduler.address, timeout=20) as client,
    ):
        assert client.submit(ask, "POLARS_MAX_THREADS").result(timeout=60) == "3"


def test_no_search_for_cycles_while_a_portion_is_scored():
    def read(argument):
        assert not gc.isenabled()
        return Portion(Scored(["uid[1]"], {"2023": {"dtw": [argument]}}), (), {}, {1: "no"})

    assert gc.isenabled()
    scored, others, wrong = cluster._score(2.5, read, registry.get("humob"))
    assert gc.isenabled()
    assert (others, wrong) == ([], {1: "no"})
    (record,) = cluster._records("humob", scored)
    assert (record.sample, record.status, record.epoch) == ("uid[1]", "ok", 1)
    assert record.metrics == {"2023": {"dtw": 2.5}}
    assert not record.has_answer


def test_the_identity_of_a_process_follows_its_arithmetic(monkeypatch):
    kind = type(registry.get("humob"))
    here = cluster.identity.__wrapped__(kind)
    assert here == cluster.identity(kind)
    exp = geobleu._exp
    geobleu._proximity_table.cache_clear()
    monkeypatch.setattr(geobleu, "_exp", lambda values: exp(values) * (1 + 2**-52))
    try:
        there = cluster.identity.__wrapped__(kind)
    finally:
        geobleu._proximity_table.cache_clear()
    assert {name for name in here if here[name] != there[name]} == {"arithmetic"}
