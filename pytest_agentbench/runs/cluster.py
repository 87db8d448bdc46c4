"""Samples scored on a Dask cluster: its workers found and checked, and its failures in words.

Dask sends functions and results with pickle. Ours are functions of this package, by name; what comes
back are numbers and records. Whoever can reach a scheduler can run code on it: a cluster is for
people who trust each other.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import logging
import os
import pkgutil
import socket
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

import pytest_agentbench
from pytest_agentbench.base import own_files
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Benchmark, Each, Partitioned, Portion, Scored
from pytest_agentbench.runs.evaluate import evaluate, held_off
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.submissions import look_up

CONNECT_SECONDS = 5
WORKER_SECONDS = 20  # until the first worker must be there
IN_FLIGHT = 4  # tasks for each core that are given to the scheduler at a time
RETRIES = 2  # of a task whose host could not read a file; Dask itself replaces lost workers


def records(
    benchmark: Benchmark, pieces: Partitioned, indices: Sequence[int], each: Each, cores: int
) -> Generator[Sequence[Record], None, tuple[str, ...]]:
    """The records of these samples without the answers, some at a time and in any order.

    At the end it returns the problems of the submission as a whole.
    """
    read, portions = pieces.portions(indices, cores)
    wrong: dict[int, str] = {}
    work = functools.partial(_score, read=read, benchmark=benchmark)
    for scored, others, unfit in each(work, portions):
        wrong.update(unfit)
        yield [*_records(benchmark.name, scored), *others]
    return pieces.problems(wrong)


def _score(
    argument: Any, read: Callable[[Any], Portion], benchmark: Benchmark
) -> tuple[Scored, list[Record], Mapping[int, str]]:
    """On the worker: the scores of one portion, the records of the others in it, what does not fit."""
    with held_off():
        portion = read(argument)
        others: list[Record] = []
        for samples in portion.samples:
            outcomes = [look_up(portion.answers, sample) for sample in samples]
            found, _ = evaluate(benchmark, samples, outcomes)
            others += [record.changed(answer=None) for record in found]
    return portion.scored, others, portion.wrong


def _records(benchmark: str, scored: Scored) -> Iterator[Record]:
    """The records that evaluate() makes of valid answers, without these."""
    for index, sample in enumerate(scored.samples):
        metrics = {
            reading: {name: column[index] for name, column in columns.items()}
            for reading, columns in scored.metrics.items()
        }
        yield Record(benchmark=benchmark, sample=sample, status="ok", answer=None, metrics=metrics)


@contextlib.contextmanager
def connected(benchmark: Benchmark, scheduler: str | None) -> Iterator[tuple[Each, int]]:
    """What hands work to the cluster, and its number of cores; without address, a cluster here."""
    kind = type(benchmark)
    distributed = _distributed()
    # What it logs with a traceback, it also raises.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        if scheduler is None:
            cluster: Any = distributed.LocalCluster(
                n_workers=os.cpu_count(),
                threads_per_worker=1,
                dashboard_address=None,
                # A worker's last heartbeat may find the scheduler gone. What fails in a task is raised here.
                silence_logs=logging.CRITICAL,
            )
            stack.enter_context(cluster)
            client = stack.enter_context(distributed.Client(cluster))
        else:
            client = stack.enter_context(_client(distributed, scheduler))
        _check_workers(client, scheduler or "this machine", kind)
        cores = max(1, sum(client.nthreads().values()))
        yield functools.partial(_each, distributed, client, kind, IN_FLIGHT * cores), cores


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise BenchmarkError(
            f'--engine dask: it is not installed: pip install "pytest-agentbench[dask]" ({error})'
        ) from None


def _client(distributed: Any, scheduler: str) -> Any:
    try:
        return distributed.Client(scheduler, timeout=CONNECT_SECONDS)
    except Exception as error:  # any program may listen there and send anything
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if not isinstance(error, (OSError, ValueError)):
            said = f"what answers there is no Dask scheduler ({type(error).__name__})"
        raise BenchmarkError(
            f"--scheduler: expected the address of a Dask scheduler (tcp://host:8786), got {scheduler}: "
            f"{said}. `dask scheduler` starts one and prints its address"
        ) from None


def _check_workers(client: Any, where: str, kind: type[Benchmark]) -> None:
    """Refuses a cluster that is empty or would not compute what this process would."""
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        raise BenchmarkError(
            f"--scheduler: expected workers at {where}, got none within {WORKER_SECONDS} s; "
            "`dask worker ADDRESS` starts one"
        ) from None
    # By a function that any Python has: a worker without our package cannot load one of ours.
    name = "pytest_agentbench:__version__"
    here = pytest_agentbench.__version__
    for worker, found in client.run(pkgutil.resolve_name, name, on_error="return").items():
        if found != here:
            _refuse(worker, _said(found, "pytest-agentbench "), f"pytest-agentbench {here}")
    ours = identity(kind)
    for worker, found in client.run(identity, kind, on_error="return").items():
        if found != ours:
            _refuse(worker, _said(found), _said(ours))


def _said(found: Any, before: str = "") -> str:
    if isinstance(found, Mapping):
        return ", ".join(f"{name} {value}" for name, value in found.items())
    if isinstance(found, BaseException):
        return f"{type(found).__name__}: {found}"
    return f"{before}{found}"


def _refuse(worker: str, found: str, ours: str) -> None:
    raise BenchmarkError(
        f"worker {worker}: expected what is installed here ({ours}), got {found}; scores are the same "
        "bits only where the same code computes them: install the same version there"
    )


@functools.cache
def identity(kind: type[Benchmark]) -> dict[str, str]:
    """What decides the bits of a score: this package's code, and the benchmark's arithmetic here."""
    code = hashlib.sha256()
    for path, text in own_files.sources("pytest_agentbench"):
        code.update(path.encode())
        code.update(text.replace(b"\r\n", b"\n"))
    return {
        "pytest-agentbench": pytest_agentbench.__version__,
        "code": code.hexdigest()[:12],
        "arithmetic": kind.fingerprint(),
    }


def call(
    function: Callable[[Any], Any],
    argument: Any,
    kind: type[Benchmark],
    expected: Mapping[str, str],
) -> Any:
    """On the worker: the function's result, if this is the code that the client has."""
    there = _distributed().get_worker()
    worker = f"{there.address} ({socket.gethostname()})"
    # Its share of the machine; polars would take all cores, in each process. It looks when it is imported.
    os.environ.setdefault("POLARS_MAX_THREADS", str(there.state.nthreads))
    if identity(kind) != expected:  # one that joined later
        _refuse(worker, _said(identity(kind)), _said(expected))
    try:
        return function(argument)
    except OSError as error:
        raise WorkerProblem(
            f"worker {worker}: {error.filename}: {error.strerror or error}; every worker must find the "
            "files at the paths that they have here"
        ) from None


class WorkerProblem(BenchmarkError):
    """What this worker cannot do; another one perhaps can."""


def _each(
    distributed: Any,
    client: Any,
    kind: type[Benchmark],
    most: int,
    function: Callable[[Any], Any],
    arguments: Sequence[Any],
) -> Iterator[Any]:
    """The results as they come; at most ``most`` tasks are with the scheduler at a time."""
    work = functools.partial(call, function, kind=kind, expected=identity(kind))
    waiting = iter(arguments)
    done = distributed.as_completed(with_results=True, raise_errors=True)

    def give() -> None:
        for argument in waiting:
            # Not pure: the files may have changed since an earlier task with the same arguments.
            done.add(client.submit(work, argument, pure=False, retries=RETRIES))
            return

    for _ in range(min(most, len(arguments))):
        give()
    try:
        for future, result in done:
            if future.cancelled():  # only the loss of the scheduler does that
                raise BenchmarkError(
                    "the connection to the scheduler was lost; what was scored is in the run's records"
                )
            yield result
            give()
    except distributed.KilledWorker as error:
        raise BenchmarkError(
            f"a task ended {error.allowed_failures + 1} workers, the last one "
            f"{error.last_worker.address}: have they too little memory? Their logs say more"
        ) from None
    except ModuleNotFoundError as error:  # on a worker that joined later
        raise BenchmarkError(f"a worker lacks what this process has: {error}") from None
