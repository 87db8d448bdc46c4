"""Private names of pytest and xdist: in one module, each there today, each missed with clear words."""

from __future__ import annotations

import ast
import configparser
import queue
import re
import socket
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
import xdist.dsession
import xdist.remote
import xdist.workermanage
from docs_blocks import ROOT
from execnet.gateway_base import get_execmodel
from execnet.gateway_socket import SocketIO
from xdist.scheduler import LoadScheduling

from pytest_agentbench import plugin
from pytest_agentbench.plugin import compat

FOLDER = Path(plugin.__file__).parent
# Names without an underscore that are private all the same: documented nowhere.
UNDOCUMENTED = {
    "_pytest", "add_global_property", "caplog_handler", "callspec", "currentfspath",
    "global_and_fixture_disabled", "known_args_namespace", "send_runtest_some", "sendcommand",
    "showfspath", "shutdown", "testscollected", "torun", "worker_testreport",
}  # fmt: skip


def sources():
    files = {file.name: file.read_text() for file in FOLDER.glob("*.py")}
    return {name: text for name, text in files.items() if not name.endswith("compat.py")}


def foreign_private(tree):
    """Uses of private names of other objects, as (line, name)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            private = node.attr.startswith("_") and not node.attr.endswith("__")
            if (private and not own) or node.attr in UNDOCUMENTED:
                yield node.lineno, node.attr
            changed = isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
            if changed and node.value.id in ("config", "gateway", "node", "parser"):
                yield node.lineno, f"{node.value.id}.{node.attr} ="
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            modules = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            yield from ((node.lineno, m) for m in modules if m.split(".")[0] == "_pytest")
        elif isinstance(node, ast.Constant) and node.value in UNDOCUMENTED:
            yield node.lineno, node.value


@pytest.mark.parametrize("name", sorted(sources()))
def test_only_compat_uses_private_names_of_others(name):
    assert list(foreign_private(ast.parse(sources()[name]))) == []


@pytest.mark.parametrize(
    "code",
    ["session._fixturemanager", "self.node._down", "from _pytest.junitxml import xml_key",
     "import _pytest", "config.args = []", "getattr(plugin, 'torun')", "x.showfspath"],
)  # fmt: skip
def test_a_private_name_would_be_found(code):
    assert list(foreign_private(ast.parse(code)))


def test_subclasses_of_foreign_classes_use_no_private_name_of_theirs():
    from pytest_agentbench.plugin import collection, scheduler

    ours = [collection.BenchmarkModule, collection.InvocationDirectory, scheduler.SharedOut]
    for cls in ours:
        tree = ast.parse((FOLDER / f"{cls.__module__.rpartition('.')[2]}.py").read_text())
        body = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == cls.__name__)
        names = {n.attr for n in ast.walk(body) if isinstance(n, ast.Attribute)}
        names |= {n.name for n in ast.walk(body) if isinstance(n, ast.FunctionDef)}
        private = {n for n in names if n.startswith("_") and not n.endswith("__")}
        assert private <= set(vars(cls)), cls
        assert not [n for n in private if any(n in vars(base) for base in cls.__mro__[1:])], cls


def numbers(version):
    return tuple(map(int, version.split(".")[:2]))


@pytest.mark.parametrize("package", ["pytest", "pytest-xdist", "execnet"])
def test_the_version_to_pin_is_no_older_than_the_one_that_passes_here(package):
    assert numbers(metadata.version(package)) <= numbers(compat._TESTED[package])


def test_the_matrix_has_the_lowest_versions_and_its_paths_exist():
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini")
    paths = tox["light"]["tests"].split()
    assert "tests/plugin" in paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for package in ("pytest", "pytest-xdist"):
        lowest = re.findall(rf'"{package}>=([\d.]+)', project)
        assert lowest
        deps = [line.partition(": ")[2] for line in tox["testenv"]["deps"].split("\n")]
        for version in lowest:  # the first release of it, whatever mended it later
            assert re.search(rf"^{package}=={version}\.[01]$", "\n".join(deps), re.MULTILINE)


# Against the pytest and xdist that are installed: fails where one of them has changed.


@pytest.fixture
def in_hook(pytester):
    """What a function gives inside a hook of a pytest session."""

    def run(plugin, *args, files=("test_a.py", "def test_a():\n    pass\n")):
        pytester.path.joinpath(files[0]).write_text(files[1])
        pytester.inline_run("-p", "no:cacheprovider", *args, plugins=[plugin])
        return plugin.found

    return run


class Probe:
    """A plugin that keeps what it found inside a hook."""

    found = None

    def __init__(self, function=None):
        self.function = function


class AtCall(Probe):
    def pytest_runtest_call(self, item):
        self.found = self.function(item)


class AtEnd(Probe):
    def pytest_sessionfinish(self, session):
        self.found = self.function(session)


def test_option_names(pytester):
    config = pytester.parseconfig()
    names = compat.option_names(config._parser)
    assert {"-k", "--numprocesses", "--agentbench-benchmark"} <= names
    assert "--benchmark" not in names


def test_option_names_of_a_conftest_and_of_no_group(pytester):
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--agent')")
    assert "--agent" in compat.option_names(pytester.parseconfig()._parser)


def test_help_is_asked(pytester):
    assert not compat.help_is_asked(pytester.parseconfig())
    assert compat.help_is_asked(pytester.parseconfig("-qh"))


def test_set_paths(pytester):
    class Elsewhere:
        def pytest_configure(self, config):
            compat.set_paths(config, ["test_b.py"])

    pytester.makepyfile(test_a="def test_a(): pass", test_b="def test_b(): pass")
    reprec = pytester.inline_run("test_a.py", plugins=[Elsewhere()])
    [passed] = reprec.listoutcomes()[0]
    assert passed.nodeid == "test_b.py::test_b"


def test_set_invocation_args(pytester):
    config = pytester.parseconfig("-k", "x")
    compat.set_invocation_args(config, ["-k=x"])
    assert config.invocation_params.args == ("-k=x",)
    assert config.invocation_params.dir == pytester.path


@pytest.mark.parametrize("imported", ["true", "false"])
def test_memory_module(project, imported):
    project.write(pytest__ini=f"[pytest]\ncollect_imported_tests = {imported}\n")
    result = project.pytest("--benchmark=toysum", "--limit=2", "--co", "-q")
    assert sum("toysum::" in line for line in result.outlines) == 2


def test_fail_session(pytester):
    pytester.makepyfile("def test_one(): pass\n")
    pytester.makeconftest(
        "from pytest_agentbench.plugin import compat\n"
        "def pytest_runtest_teardown(item):\n    compat.fail_session(item.session)\n"
    )
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_log_handlers(in_hook, tmp_path):
    args = ("--log-cli-level=INFO", f"--log-file={tmp_path / 'log'}")
    found = in_hook(AtCall(lambda item: compat.log_handlers(item.config)), *args)
    assert len(found) == len(set(found)) == 4
    assert compat.log_handlers(FakeConfig()) == []


def test_capture_disabled(pytester):
    pytester.makeconftest(
        "from pytest_agentbench.plugin import compat\n"
        "def pytest_runtest_call(item):\n"
        "    print('captured')\n"
        "    with compat.capture_disabled(item.config):\n"
        "        print('shown')\n"
    )
    pytester.makepyfile("def test_a(): pass")
    text = pytester.runpytest_subprocess().stdout.str()
    assert "shown" in text
    assert "captured" not in text


@pytest.mark.parametrize(("args", "shown"), [((), True), (("-q",), False), (("-n1",), False)])
def test_shows_paths(in_hook, args, shown):
    def at_end(session):
        return compat.shows_paths(session.config.pluginmanager.getplugin("terminalreporter"))

    assert in_hook(AtEnd(at_end), *args) is shown


def test_count_more_tests(in_hook):
    def at_end(session):
        compat.count_more_tests(session, 2)
        return session.testscollected

    assert in_hook(AtEnd(at_end)) == 3


def test_suite_property(in_hook, tmp_path):
    file = tmp_path / "j.xml"

    def add(item):
        compat.suite_property(item.config)("mine", "1")
        return True

    assert in_hook(AtCall(add), f"--junitxml={file}")
    assert '<property name="mine" value="1"' in file.read_text()
    assert in_hook(AtCall(lambda item: compat.suite_property(item.config))) is None


def test_distributed_session(in_hook):
    assert in_hook(AtCall(lambda item: compat.distributed_session(item.config))) is None
    found = in_hook(AtEnd(lambda session: compat.distributed_session(session.config)), "-n1")
    assert isinstance(found, xdist.dsession.DSession)


FEW = (
    "test_a.py",
    "import pytest\n@pytest.mark.parametrize('n', range(20))\ndef test_a(n): pass\n",
)


def test_stop(in_hook):
    class AtReport(Probe):
        def pytest_runtest_logreport(self, report):
            compat.stop(compat.distributed_session(self.config), "enough")

        def pytest_configure(self, config):
            self.config = config

        def pytest_keyboard_interrupt(self, excinfo):
            self.found = str(excinfo.value)

    assert in_hook(AtReport(), "-n1", files=FEW) == "enough"


def test_next_event_and_deliver_report(in_hook):
    class AtReady(Probe):
        """Reads xdist's queue in its place, from the moment that a worker has collected."""

        def pytest_configure(self, config):
            self.config, self.found, self.delivered = config, [], []

        def pytest_runtest_logreport(self, report):
            self.delivered.append(report.when)
            if len(self.delivered) == 1:
                session = compat.distributed_session(self.config)
                for _ in range(2):
                    event, message = compat.next_event(session, 10)
                    self.found.append(event)
                    compat.deliver_report(session, message)

    probe = AtReady()
    assert in_hook(probe, "-n1") == ["testreport", "testreport"]
    assert sorted(probe.delivered) == ["call", "setup", "teardown"]


def test_no_event_in_time():
    with pytest.raises(queue.Empty):
        compat.next_event(SimpleNamespace(queue=queue.Queue()), -1)


def test_replace_cloning(in_hook):
    class Counting(Probe):
        def pytest_configure(self, config):
            self.config, self.found = config, 0

        def pytest_testnodeready(self, node):
            if not self.found:
                compat.replace_cloning(compat.distributed_session(self.config), self.replace)

        def replace(self, clone, node):
            self.found += 1
            return clone(node)

    dying = (
        "test_a.py",
        "import os\ndef test_a():\n    os._exit(1)\ndef test_b():\n    pass\n",
    )
    assert in_hook(Counting(), "-n1", files=dying) == 1


def test_ignore_lost_connection(in_hook):
    class AtReady(Probe):
        def pytest_configure_node(self, node):
            compat.ignore_lost_connection(node)

        def pytest_testnodeready(self, node):
            sent = node.channel.send
            node.channel.send = lost
            node.send_runtest_some([0])
            node.channel.send = sent
            self.found = True

    def lost(message):
        raise OSError("connection lost")

    assert in_hook(AtReady(), "-n1") is True


def test_connection_of():
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    accepted, _ = server.accept()
    io = SocketIO(client, get_execmodel("thread"))
    assert compat.connection_of(SimpleNamespace(_io=io)) is client
    for one in (server, client, accepted):
        one.close()
    assert compat.connection_of(SimpleNamespace()) is None


def test_an_event_is_heard_and_confirmed(in_hook, pytester):
    """In a worker: two threads send at once, and go on when the controller has heard them."""
    pytester.makeconftest(
        "import threading\n"
        "from pytest_agentbench.plugin import compat\n"
        "def pytest_configure(config):\n"
        "    if hasattr(config, 'workerinput'):\n"
        "        config.send = compat.confirmed_sender(config, 'mine')\n"
        "def pytest_runtest_call(item):\n"
        "    threads = [threading.Thread(target=lambda t=t: item.config.send(text=t * 10**6)()) for t in 'ab']\n"
        "    for thread in threads: thread.start()\n"
        "    for thread in threads: thread.join(60)\n"
        "    assert not any(thread.is_alive() for thread in threads)\n"
    )

    class Hearing(Probe):
        def pytest_configure(self, config):
            self.found, self.distributes = [], compat.will_distribute(config)

        def pytest_configure_node(self, node):
            compat.hear_event(node, "mine", lambda text: self.found.append((text[0], len(text))))

        def pytest_runtest_logreport(self, report):
            self.found.append(report.outcome)

    plugin = Hearing()
    assert sorted(in_hook(plugin, "-n1"), key=str) == [("a", 10**6), ("b", 10**6), *["passed"] * 3]
    assert plugin.distributes


def test_a_sender_without_a_controller_is_told():
    sent = []

    class Interactor:
        channel = SimpleNamespace(gateway=SimpleNamespace(_io=SimpleNamespace(write=print)))

        def sendevent(self, name, **message):
            sent.append(name)
            self.handle_command(None)  # the mark at the end of the connection

        def handle_command(self, command):
            sent.append(command)

    config = SimpleNamespace(pluginmanager=SimpleNamespace(get_plugins=lambda: [Interactor()]))
    send = compat.confirmed_sender(config, "mine")
    for _ in range(2):  # the second one knows at once
        with pytest.raises(OSError, match="the connection to the controller is lost"):
            send(text="x")()
    assert sent == ["mine", None] * 2


def test_end_all_workers(in_hook):
    class Ending(Probe):
        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionfinish(self, session):
            compat.end_all_workers(compat.distributed_session(session.config), 20)
            self.found = True

    assert in_hook(Ending(), "-n1")


def test_send_items_and_end_worker(in_hook):
    class AtReady(Probe):
        """Hands out the second of two tests alone, and ends the worker, in xdist's place."""

        def pytest_configure(self, config):
            self.found = []

        def pytest_xdist_make_scheduler(self, config, log):
            class Second(LoadScheduling):
                def schedule(self):
                    self.collection = next(iter(self.node2collection.values()))
                    for node in self.nodes:
                        self.node2pending[node].append(1)
                        compat.send_items(node, [1])
                        compat.end_worker(node)

            return Second(config, log)

        def pytest_runtest_logreport(self, report):
            if report.when == "call":
                self.found.append(report.nodeid)

    assert in_hook(AtReady(), "-n1", files=FEW) == ["test_a.py::test_a[1]"]


def test_is_about_rsync(tmp_path):
    with pytest.raises(ValueError, match="arg") as caught:
        xdist.workermanage.make_reltoroot([tmp_path / "root"], [str(tmp_path)])
    assert compat.is_about_rsync(caught.value)
    assert not compat.is_about_rsync(ValueError("other"))


def test_check_scheduler(pytester):
    config = pytester.parseconfig("-n2")
    config.option.tx = ["popen"]
    compat.check_scheduler(LoadScheduling(config, xdist.remote.Producer("x", enabled=False)))


def test_queued(pytester):
    pytester.makeconftest(
        "import time\n"
        "from pytest_agentbench.plugin import compat\n"
        "def pytest_runtest_call(item):\n"
        "    deadline = time.monotonic() + 60\n"
        "    while item.name == 'test_a[0]' and time.monotonic() < deadline:\n"
        "        if compat.queued(item.config)[:2] == [2, 3]:\n"
        "            return\n"
        "        time.sleep(0.01)\n"
        "    assert item.name != 'test_a[0]'\n"
    )
    pytester.makepyfile(
        "import pytest\n@pytest.mark.parametrize('n', range(20))\ndef test_a(n): pass"
    )
    pytester.runpytest_inprocess("-n1").assert_outcomes(passed=20)


# Without the name.


class FakeConfig:
    """A configuration without any plugin, and without private attributes."""

    class pluginmanager:
        getplugin = staticmethod(lambda name: None)
        get_plugins = staticmethod(list)


class Bare:
    """An object that has none of the names."""

    def __init__(self, **given):
        self.__dict__.update(given)


@pytest.mark.parametrize(
    ("call", "missing", "package"),
    [
        (lambda: compat.option_names(Bare()), "Bare._groups", "pytest"),
        (lambda: compat.option_names(Bare(_groups=[])), "Bare._anonymous", "pytest"),
        (lambda: compat.set_paths(Bare(), []), "Bare.args", "pytest"),
        (lambda: compat.set_invocation_args(Bare(), []), "Bare.invocation_params", "pytest"),
        (lambda: compat.count_more_tests(Bare(), 1), "Bare.testscollected", "pytest"),
        (lambda: compat.stop(Bare(), "x"), "Bare.shouldstop", "pytest-xdist"),
        (lambda: compat.next_event(Bare(), 1), "Bare.queue", "pytest-xdist"),
        (lambda: compat.deliver_report(Bare(), {}), "Bare.worker_testreport", "pytest-xdist"),
        (lambda: compat.replace_cloning(Bare(), print), "Bare._clone_node", "pytest-xdist"),
        (lambda: compat.ignore_lost_connection(Bare()), "Bare.sendcommand", "pytest-xdist"),
        (lambda: compat.send_items(Bare(), []), "Bare.send_runtest_some", "pytest-xdist"),
        (lambda: compat.end_worker(Bare()), "Bare.shutdown", "pytest-xdist"),
        (lambda: compat.check_scheduler(Bare()), "Bare.check_schedule", "pytest-xdist"),
        (lambda: compat.hear_event(Bare(), "x", print), "Bare.process_from_remote", "pytest-xdist"),
        (lambda: compat.hear_event(Bare(process_from_remote=1), "x", print), "Bare.gateway", "pytest-xdist"),
        (lambda: compat.hear_event(Bare(process_from_remote=1, gateway=Bare()), "x", print), "Bare._io", "execnet"),
        (lambda: compat.end_all_workers(Bare(), 1), "Bare.nodemanager", "pytest-xdist"),
        (lambda: compat.confirmed_sender(FakeConfig(), "x"), "NoneType.sendevent", "pytest-xdist"),
    ],
)  # fmt: skip
def test_a_name_that_is_gone_is_refused_with_what_to_do(call, missing, package):
    with pytest.raises(pytest.UsageError) as caught:
        call()
    text = str(caught.value)
    assert f"needs {missing} of {package}, which {package} {metadata.version(package)}" in text
    assert f"upgrade pytest-agentbench, or pin {package} (pip install '{package}==" in text


def test_a_module_without_getobj_is_refused(monkeypatch):
    with monkeypatch.context() as patch:
        patch.delattr(pytest.Module, "_getobj")
        patch.delattr("_pytest.python.PyobjMixin._getobj")
        with pytest.raises(pytest.UsageError, match=r"needs Module\._getobj of pytest"):
            compat.MemoryModule.make(None, None)


@pytest.mark.parametrize(
    ("call", "without"),
    [
        (lambda: compat.help_is_asked(Bare()), False),
        (lambda: compat.explain_unknown_options(Bare(), "x"), None),
        (lambda: compat.log_handlers(FakeConfig()), []),
        (lambda: compat.shows_paths(Bare()), True),
        (lambda: compat.suite_property(FakeConfig()), None),
        (lambda: compat.distributed_session(FakeConfig()), None),
        (lambda: compat.connection_of(Bare()), None),
        (lambda: compat.queued(FakeConfig()), []),
        (lambda: compat.will_distribute(Bare(option=Bare(collectonly=False))), False),
    ],
)
def test_a_name_that_is_gone_is_done_without(call, without):
    assert call() == without


def test_without_a_way_to_stop_capturing_a_line_is_captured(capsys):
    with compat.capture_disabled(FakeConfig()):
        sys.stdout.write("a line\n")
    assert capsys.readouterr().out == "a line\n"


def test_a_session_says_what_is_missing(project):
    """A refusal ends a session as a usage error does, with a message and without a traceback."""
    project.write(conftest__py="import xdist.dsession\ndel xdist.dsession.DSession._clone_node\n")
    result = project.pytest_process("--benchmark=toysum", "-n1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "needs DSession._clone_node of pytest-xdist" in result.stderr.str()
    assert "Traceback" not in result.stderr.str()
