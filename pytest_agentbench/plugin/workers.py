"""xdist's workers on other hosts, seen from the controller: reached, watched, replaced when lost."""

from __future__ import annotations

import copy
import functools
import json
import socket
import subprocess
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_agentbench.plugin import compat, hosts, rootdir
from pytest_agentbench.plugin.controller import Controller
from pytest_agentbench.plugin.option_parser import known, with_values
from pytest_agentbench.plugin.progress_line import write_line
from pytest_agentbench.runs.collector import Collector
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.settings.options import Option
from pytest_agentbench.settings.settings import OPTIONS

# Keepalive of ssh and TCP: a host that leaves so many probes in a row unanswered is lost.
ASK_EVERY_SECONDS = 15
ASK_TIMES = 4
# So many workers of a host may die before they have collected; the next one ends the session.
_MOST_EARLY_DEATHS = 3


class Distribution:
    """Hooks of the controller that matter only where xdist distributes."""

    def __init__(self, config: pytest.Config, controller: Controller) -> None:
        self._config = config
        self._controller = controller
        self._specs: list[Any] = []
        self._started = 0  # workers, in the order of the specs
        self._collected: set[str] = set()  # ids of workers that have collected
        self._unreachable: set[str] = set()  # hosts
        self._early_deaths: Counter[str] = Counter()  # by host
        self._problems: list[str] = []
        self._mistake: str | None = None  # why workers on this host cannot begin
        self._notes: dict[str, None] = {}  # what the user should know of how the agent was loaded

    @functools.cached_property
    def _told(self) -> str:
        return hosts.to_host(
            [one.plan for one in self._controller.collectors.values()], self._config
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionstart(self) -> Generator[None, None, None]:
        """Makes a host that cannot be reached a usage error; to xdist it is an internal error."""
        distributed = compat.distributed_session(self._config)
        if distributed is None:
            return (yield)
        compat.replace_cloning(distributed, self._replace)
        try:
            return (yield)
        except ValueError as error:
            if not compat.is_about_rsync(error):
                raise
            raise pytest.UsageError(
                f"--tx: {error}: xdist takes it for a path on the hosts; write an option and its "
                "value in one word (--option=VALUE), and a scenario file as --benchmark=FILE"
            ) from None
        except _lost_errors() as error:
            if self._started >= len(self._specs):  # all workers are there: another plugin's error
                raise
            raise pytest.UsageError(
                "--tx: expected a host that can be reached and has Python (python=…), got none at "
                f"{_host(self._specs[self._started])} ({type(error).__name__}: {error})"
            ) from None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: pytest.Config, specs: Sequence[Any]) -> None:
        self._specs = list(specs)
        if any(_is_elsewhere(spec) for spec in specs):
            # If VALUE of "--option VALUE" exists as a path here, xdist rewrites it for the host. It
            # leaves "--option=VALUE" alone.
            args = _joined(list(map(str, config.invocation_params.args)), known(config))
            compat.set_invocation_args(config, args)
        for spec in specs:
            if spec.ssh:
                spec.ssh = f"{_patience(spec)}{spec.ssh}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_newgateway(self, gateway: Any) -> None:
        connection = compat.connection_of(gateway) if gateway.spec.socket else None
        if connection is not None:
            _keep_alive(connection)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        self._started += 1
        node.workerinput["agentbench_resume"] = _answered_before(
            self._controller.collectors.values()
        )
        if _is_elsewhere(node.gateway.spec):
            node.workerinput["agentbench_host"] = self._told
        else:
            node.workerinput[rootdir.TOLD] = str(rootdir.house(node.config))
        compat.ignore_lost_connection(node)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any) -> None:
        self._collected.add(node.gateway.id)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Ends the session if a worker cannot even begin; xdist would restart it for ever."""
        host = _host(node.gateway.spec)
        output = getattr(node, "workeroutput", {})
        self._notes |= dict.fromkeys(output.get("agentbench_notes", ()))
        refusal = output.get("agentbench_refusal")
        if refusal is not None and not _is_elsewhere(node.gateway.spec):
            self._mistake = refusal
            self._controller.stop("the agent cannot be asked")
            return
        if refusal is None and (error is None or node.gateway.id in self._collected):
            return
        if isinstance(error, str):  # no exception: killed, or its connection is lost
            self._early_deaths[host] += 1
            if self._early_deaths[host] <= _MOST_EARLY_DEATHS:
                return
        why = refusal or (
            f"its worker could not start (is pytest-agentbench installed there, for that Python?)\n"
            f"{_message(str(error))}"
        )
        self._problems.append(f"{host}: {why}".replace("\n", "\n  "))
        self._controller.stop(f"{host} cannot take part")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Makes a mistake that a worker here has found (in the agent, which only workers import) a usage error."""
        try:
            return (yield)
        except KeyboardInterrupt:  # xdist's own, after Controller.stop
            if self._mistake is None:
                raise
            raise pytest.UsageError(self._mistake) from None

    def _replace(self, clone: Any, node: Any) -> None:
        """Replaces a lost worker: on the same host, or else on another."""
        if self._problems or self._mistake:
            return
        lost = node.gateway.spec
        others = [spec for spec in self._specs if _host(spec) != _host(lost)]
        # A new worker here may be killed as it starts; a host that cannot be reached stays so.
        for spec in (*[lost] * (_MOST_EARLY_DEATHS if lost.popen else 1), *others):
            if spec.socket or _host(spec) in self._unreachable:
                continue  # a socket server has one worker at a time; a second would wait for ever
            spare = copy.copy(spec)  # clone() changes its id
            try:
                clone(SimpleNamespace(gateway=SimpleNamespace(spec=spare)))
                return
            except _lost_errors():
                if not spec.popen:
                    self._lose(_host(spec))
        self._lose(_host(lost))
        # xdist waits for ever for the collection of a worker that it counts on.
        began = node.gateway.id in self._collected
        if not began or all(other.shutting_down for other in self._controller.workers):
            self._problems.append(
                f"{_host(lost)}: lost, and nobody is there to go on: --resume asks what is left"
            )
            self._controller.stop(f"{_host(lost)} is lost")

    def _lose(self, host: str) -> None:
        if host not in self._unreachable:
            self._unreachable.add(host)
            write_line(self._config, f"{host} is lost: it cannot be reached again")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for note in self._notes:
            terminalreporter.write_line(f"note: {note}")
        if self._problems:
            terminalreporter.section("hosts")
            for problem in dict.fromkeys(self._problems):
                terminalreporter.write_line(problem, red=True)


def _answered_before(collectors: Iterable[Collector]) -> str:
    """What a resumed run has answered and what it leaves alone, as text for a worker."""
    plans = [collector.plan for collector in collectors]
    return json.dumps({p.settings.nodeid: [sorted(p.answered), sorted(p.unasked)] for p in plans})


def take_up_resumed(text: str, plans: Mapping[str, Plan]) -> None:
    """On a worker: takes up what the controller knows of a resumed run."""
    for nodeid, (answered, unasked) in json.loads(text).items():
        plans[nodeid].answered = frozenset(Question(*question) for question in answered)
        plans[nodeid].unasked = frozenset(Question(*question) for question in unasked)


def _lost_errors() -> tuple[type[BaseException], ...]:
    from execnet import HostNotFound  # only where xdist is in use

    return (HostNotFound, OSError, EOFError)


def _is_elsewhere(spec: Any) -> bool:
    """Whether a worker has another host, folder or Python than the controller."""
    return bool(not spec.popen or spec.via or spec.chdir or spec.python)


def _host(spec: Any) -> str:
    """The name of a host, as the user wrote it."""
    if spec.ssh:
        return str(spec.ssh.split()[-1])
    return str(spec.socket or spec.vagrant_ssh or spec.via or "localhost")


def _message(traceback: str) -> str:
    """The exception's message: what stands below the last frame of a traceback."""
    lines = traceback.strip().splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith("  File ")]
    after = lines[frames[-1] + 1 :] if frames else lines
    while after[1:] and after[0].startswith("    "):
        after = after[1:]
    return "\n".join(after)


def _joined(args: Sequence[str], options: Iterable[Option] = OPTIONS) -> list[str]:
    """The command line with each of our options and its value in one word."""
    names = with_values(options)
    joined: list[str] = []
    for arg in args:
        if joined and joined[-1] in names and not arg.startswith("-"):
            joined[-1] += f"={arg}"
        else:
            joined.append(arg)
    return joined


def _patience(spec: Any) -> str:
    """Keepalive and timeout options for ssh, as far as the user's configuration has none."""
    config = ["-F", spec.ssh_config] if spec.ssh_config else []
    command = ["ssh", "-G", *config, *spec.ssh.split()]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=10)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ""  # ssh will say what is wrong when the worker is started
    configured = shown.stdout.splitlines()
    options = ""
    if "serveraliveinterval 0" in configured:
        options += f"-o ServerAliveInterval={ASK_EVERY_SECONDS} -o ServerAliveCountMax={ASK_TIMES} "
    if "connecttimeout none" in configured:
        options += f"-o ConnectTimeout={ASK_EVERY_SECONDS} "
    return options


def _keep_alive(connection: socket.socket) -> None:
    """Turns on TCP keepalive, with our intervals where the system can set them."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {
        "TCP_KEEPIDLE": ASK_EVERY_SECONDS,
        "TCP_KEEPINTVL": ASK_EVERY_SECONDS,
        "TCP_KEEPCNT": ASK_TIMES,
        # Milliseconds until sent data that is not acknowledged counts as lost.
        "TCP_USER_TIMEOUT": ASK_EVERY_SECONDS * ASK_TIMES * 1000,
    }
    for name, value in options.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Notes:
    """On a worker: sends the controller, which does not import the agent, what came of importing it."""

    def __init__(self, notes: Iterable[str | None]) -> None:
        self._notes = [note for note in notes if note is not None]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        session.config.workeroutput["agentbench_notes"] = self._notes  # type: ignore[attr-defined]


class Refusal:
    """On a worker that cannot take part: ends its session and sends the reason to the controller.

    If the worker failed while pytest is configured, xdist would restart it for ever.
    """

    def __init__(self, why: str) -> None:
        self._why = why

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        session.config.workeroutput["agentbench_refusal"] = self._why  # type: ignore[attr-defined]
        raise session.Failed(self._why)
