"""Every name of pytest, xdist and execnet that they do not promise to keep; nothing else in plugin/ uses one.

Each function says why no public name serves. Where one of these names is gone, a function either
refuses with a message that says what to do, or does without it: its docstring says which.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import queue
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import metadata
from types import ModuleType
from typing import Any

import pytest

from pytest_agentbench import __version__

# The newest versions that the test suite has passed with.
_TESTED = {"pytest": "9.2", "pytest-xdist": "3.8", "execnet": "2.1"}


def _get(owner: Any, name: str, package: str) -> Any:
    """An attribute of a foreign object; refuses where it is gone."""
    try:
        return getattr(owner, name)
    except AttributeError:
        kind = owner if isinstance(owner, type) else type(owner)
        raise pytest.UsageError(
            f"pytest-agentbench {__version__} needs {kind.__name__}.{name} of {package}, which "
            f"{package} {metadata.version(package)} does not have: upgrade pytest-agentbench, or "
            f"pin {package} (pip install '{package}=={_TESTED[package]}.*')"
        ) from None


# pytest: configuration


def option_names(parser: pytest.Parser) -> set[str]:
    """Every option on the command line so far, so that a project's own ``--agent`` stays its own.

    Adding the option and catching the error does not work: pytest 8 finds the clash only when it parses.
    Parsing ``--agent`` does not work either: it fails for other reasons, such as a required option.
    Raises if it is gone.
    """
    groups = [*_get(parser, "_groups", "pytest"), _get(parser, "_anonymous", "pytest")]
    return {name for group in groups for option in group.options for name in option.names()}


def explain_unknown_options(parser: pytest.Parser, text: str) -> None:
    """Adds a line to pytest's message about options that nobody knows. It has no hook for that.

    Without it, the message says no more than that they are unknown.
    """
    lines = getattr(parser, "extra_info", None)
    if isinstance(lines, dict):
        lines["agentbench"] = text


def help_is_asked(early_config: pytest.Config) -> bool:
    """Whether ``--help`` was given, before the command line is parsed as a whole.

    ``getoption`` does not know yet. Without it, ``--help`` shows only the prefixed options.
    """
    return bool(getattr(getattr(early_config, "known_args_namespace", None), "help", False))


def set_paths(config: pytest.Config, paths: list[str]) -> None:
    """Changes which paths and node ids pytest collects. No hook can take a path away. Raises if it is gone."""
    _get(config, "args", "pytest")
    config.args = paths


def set_invocation_args(config: pytest.Config, args: Sequence[str]) -> None:
    """Changes the command line that xdist sends to workers elsewhere. It has no hook for that."""
    given = _get(config, "invocation_params", "pytest")
    config.invocation_params = dataclasses.replace(given, args=tuple(args))


# pytest: collection


class MemoryModule(pytest.Module):
    """A test module that was made in memory, and is not imported from a file.

    To set ``obj`` is not enough: with ``collect_imported_tests = false`` pytest calls ``_getobj``.
    Where pytest has no such method, ``make`` refuses.
    """

    @classmethod
    def make(cls, parent: pytest.Collector, module: ModuleType, **fields: Any) -> Any:
        _get(pytest.Module, "_getobj", "pytest")
        made = cls.from_parent(parent, **fields)
        made.obj = module
        return made

    def _getobj(self) -> Any:
        return self.obj


# pytest: output


def log_handlers(config: pytest.Config) -> list[logging.Handler]:
    """pytest's own log handlers, to keep the logs of overlapping calls apart.

    The fixture ``caplog`` has one of them, in one test. Without them, an item's log may hold lines
    of another item's call.
    """
    plugin = config.pluginmanager.getplugin("logging-plugin")
    names = ("caplog_handler", "report_handler", "log_cli_handler", "log_file_handler")
    handlers = [getattr(plugin, name, None) for name in names]
    return [handler for handler in handlers if handler is not None]


def capture_disabled(config: pytest.Config) -> AbstractContextManager[None]:
    """Lets a line through to the terminal while pytest captures.

    The public way, ``capsys.disabled()``, needs a test. Without it, the line is captured.
    """
    manager = config.pluginmanager.getplugin("capturemanager")
    disabled = getattr(manager, "global_and_fixture_disabled", contextlib.nullcontext)
    context: AbstractContextManager[None] = disabled()
    return context


def is_quit_of_debugger(error: BaseException) -> bool:
    """Whether somebody has typed ``q`` in pytest's debugger: no agent's own ``pytest.exit()``.

    pytest raises the same exception for both, so only the words tell. Without them, ``q`` fails one sample.
    """
    return str(error) == "Quitting debugger"


def shows_paths(reporter: pytest.TerminalReporter) -> bool:
    """Whether dots follow the path of a test file (not with ``-q``, nor under xdist).

    If they do not, ``ensure_newline`` does not know that a line is open. xdist and others set this
    attribute, so verbosity alone does not tell. Without it: yes.
    """
    return bool(getattr(reporter, "showfspath", True))


def count_more_tests(session: pytest.Session, number: int) -> None:
    """Counts reports that have no item among the collected tests; percentages use the sum. Raises if it is gone."""
    session.testscollected = _get(session, "testscollected", "pytest") + number


def fail_session(session: pytest.Session) -> None:
    """Lets the session fail although no test did, from inside its loop. Raises if it is gone.

    ``session.exitstatus`` is public, and pytest sets it after the loop.
    """
    session.testsfailed = _get(session, "testsfailed", "pytest") + 1


def suite_property(config: pytest.Config) -> Callable[[str, str], None] | None:
    """Adds a property to the suite in ``--junitxml``'s file; None if that was not asked for.

    The public way, ``record_testsuite_property``, is a fixture, which a hook cannot use. Without it:
    None, and the file has no properties of ours.
    """
    found = (getattr(p, "add_global_property", None) for p in config.pluginmanager.get_plugins())
    return next((one for one in found if one is not None), None)


# xdist: the controller


def distributed_session(config: pytest.Config) -> Any:
    """xdist's session on the controller; None where xdist distributes nothing.

    It is a plugin with a name, and xdist has no function that gives it.
    """
    return config.pluginmanager.getplugin("dsession")


def will_distribute(config: pytest.Config) -> bool:
    """Whether xdist will distribute, asked before :func:`distributed_session` is there. Without its options: no."""
    option = config.option
    given = getattr(option, "dist", "no") != "no" and bool(getattr(option, "tx", None))
    return given and not option.collectonly and not hasattr(config, "workerinput")


def stop(session: Any, reason: str) -> None:
    """Ends xdist's session, which does not look at ``shouldstop`` of pytest's session. Raises if it is gone."""
    _get(session, "shouldstop", "pytest-xdist")
    session.shouldstop = reason


def next_event(session: Any, seconds: float) -> tuple[str, dict[str, Any]]:
    """The next message of a worker; raises ``queue.Empty`` if none comes in time.

    xdist reads its queue only in its own loop, which Ctrl-C ends while workers still report. Raises if it is gone.
    """
    events = _get(session, "queue", "pytest-xdist")
    event: tuple[str, dict[str, Any]] = events.get(seconds > 0, max(seconds, 0))
    return event


def deliver_report(session: Any, message: dict[str, Any]) -> None:
    """Handles a worker's report as xdist's own loop does. Raises if it is gone."""
    _get(session, "worker_testreport", "pytest-xdist")(**message)


def hear_event(node: Any, name: str, hear: Callable[..., None]) -> None:
    """Calls ``hear(**message)`` for each event that :func:`confirmed_sender` sends, and confirms it then.

    It is called in the thread that receives, whatever the main thread does. To xdist an unknown event is an internal
    error. A report is the public way to send something, and every plugin would count it as a test. Raises
    if it is gone.
    """
    process = _get(node, "process_from_remote", "pytest-xdist")
    _get(node, "gateway", "pytest-xdist")
    _write_one_at_a_time(node.gateway)

    def process_or_hear(event: Any) -> None:
        if not isinstance(event, tuple) or event[0] != name:
            process(event)
            return
        number = event[1].pop("number")
        try:
            hear(**event[1])
        finally:
            if number is not None:
                with contextlib.suppress(OSError):  # the worker is gone
                    node.channel.send((name, {"number": number}))

    node.process_from_remote = process_or_hear


def _write_one_at_a_time(gateway: Any) -> None:
    """Lets several threads send: over a socket, execnet does not keep their messages apart."""
    io = _get(gateway, "_io", "execnet")
    write, lock = _get(io, "write", "execnet"), threading.Lock()

    def write_alone(data: bytes) -> None:
        with lock:
            write(data)

    io.write = write_alone


def end_all_workers(session: Any, seconds: float) -> None:
    """Ends xdist's workers now, and kills those that take longer than this. Raises if it is gone.

    xdist does so after its session, and waits 10 s.
    """
    manager = _get(session, "nodemanager", "pytest-xdist")
    manager.EXIT_TIMEOUT = seconds
    _get(manager, "teardown_nodes", "pytest-xdist")()


def replace_cloning(session: Any, replace: Callable[[Callable[[Any], Any], Any], None]) -> None:
    """Lets ``replace(clone, node)`` start the worker that takes the place of a dead one.

    xdist starts it on the same host, and ends with an internal error if the host is gone; it has no
    hook for that. Raises if it is gone.
    """
    clone = _get(session, "_clone_node", "pytest-xdist")
    session._clone_node = lambda node: replace(clone, node)


def ignore_lost_connection(node: Any) -> None:
    """Lets a command to a worker vanish if its connection is lost; xdist would end with an error.

    The news of the worker's death waits in xdist's queue, and the tests that were sent go to another
    worker when xdist reads it. xdist has no hook before it sends. Raises if it is gone.
    """
    send = _get(node, "sendcommand", "pytest-xdist")

    def send_if_connected(name: str, **kwargs: object) -> None:
        with contextlib.suppress(OSError):
            send(name, **kwargs)

    node.sendcommand = send_if_connected


def send_items(node: Any, indices: Sequence[int]) -> None:
    """Sends a worker the items to run next, as xdist's schedulers do. Raises if it is gone."""
    _get(node, "send_runtest_some", "pytest-xdist")(indices)


def end_worker(node: Any) -> None:
    """Asks a worker to end after its item, before xdist's own loop would. Raises if it is gone."""
    _get(node, "shutdown", "pytest-xdist")()


def connection_of(gateway: Any) -> socket.socket | None:
    """The socket behind ``--tx socket=…``, to set TCP keepalive; execnet has no option for that.

    Without it, a silent host is noticed only when the system's own timeout has passed.
    """
    connection = getattr(getattr(gateway, "_io", None), "sock", None)
    return connection if isinstance(connection, socket.socket) else None


def is_about_rsync(error: ValueError) -> bool:
    """Whether xdist took a value on the command line for a path that it should copy to a host.

    It raises a plain ValueError, so only the words tell. Without them, the error stays as it is.
    xdist 4 will copy nothing.
    """
    return "rsync root" in str(error)


def check_scheduler(scheduler: Any) -> None:
    """Refuses a LoadScheduling that has not all that our scheduler, a subclass, builds on.

    To write a scheduler from nothing, on xdist's public protocol, would repeat how a dead worker's
    items are handed on.
    """
    for name in (
        "check_schedule", "collection", "maxschedchunk", "node2collection", "node2pending", "nodes",
        "numnodes", "pending",
    ):  # fmt: skip
        _get(scheduler, name, "pytest-xdist")


# xdist: a worker


def confirmed_sender(config: pytest.Config, name: str) -> Callable[..., Callable[[], None]]:
    """``wait = send(**message)``, for any thread: ``wait()`` comes back when the controller has handled it (:func:`hear_event`).

    It raises ``OSError`` if the controller is lost. With ``confirmed=False`` nobody confirms: before a worker runs
    its items, it hears nothing. xdist itself sends reports only, and hears of nothing that came of them. Raises if
    it is gone.
    """
    plugins = config.pluginmanager.get_plugins()
    interactor: Any = next((one for one in plugins if hasattr(one, "sendevent")), None)
    send = _get(interactor, "sendevent", "pytest-xdist")
    handle = _get(interactor, "handle_command", "pytest-xdist")
    _write_one_at_a_time(interactor.channel.gateway)
    numbers = itertools.count()
    waiting: dict[int, threading.Event] = {}
    lost = threading.Event()

    def handle_or_confirm(command: Any) -> None:
        if isinstance(command, tuple) and command[0] == name:
            waiting.pop(command[1]["number"]).set()
            return
        if not isinstance(command, tuple):  # the mark at the end of the connection
            lost.set()
            for event in list(waiting.values()):
                event.set()
        handle(command)

    interactor.handle_command = handle_or_confirm

    def send_numbered(confirmed: bool = True, **message: Any) -> Callable[[], None]:
        if not confirmed:
            send(name, number=None, **message)
            return lambda: None
        number, event = next(numbers), threading.Event()
        waiting[number] = event
        send(name, number=number, **message)

        def wait() -> None:
            if not lost.is_set():
                event.wait()
            if number in waiting:
                raise OSError("the connection to the controller is lost")

        return wait

    return send_numbered


def queued(config: pytest.Config) -> list[object]:
    """What waits in this worker's queue: indices of items, and a mark where the worker must end.

    xdist tells a worker its next item only. Without the queue: nothing, and ``-x`` ends a worker
    only after the last item of its share.
    """
    for plugin in config.pluginmanager.get_plugins():
        items: Any = getattr(plugin, "torun", None)
        if isinstance(items, queue.Queue):  # xdist 3.6
            with items.mutex:
                return list(items.queue)
        if hasattr(items, "lock"):
            with items.lock() as waiting:
                return list(waiting)
    return []
