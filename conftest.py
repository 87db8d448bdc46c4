"""Shared by all tests: real runs of pytest and agentbench, beside an installed third-party benchmark."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import pkgutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pytest_agentbench

pytest_plugins = ["pytester"]

TOY = Path(__file__).parent / "tests" / "toy"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # The README's commands load this file too, where the tests' own packages are not installed.
    if config.pluginmanager.has_plugin("hypothesispytest"):
        import hypothesis

        # No test asserts a time: an example may take long beside other work.
        hypothesis.settings.register_profile("untimed", deadline=None)
        hypothesis.settings.load_profile("untimed")
        # More examples than fit CI: pytest tests/faults/test_bad_answers.py --hypothesis-profile=campaign
        hypothesis.settings.register_profile("campaign", max_examples=5_000, deadline=None)
    # Tests start hundreds of processes. Each would compile the package again where bytecode is not kept.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # A job that a shell started in the background ignores Ctrl-C, and so would all that tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Project:
    """A user's project in a temporary folder, in which real commands are run."""

    def __init__(self, pytester: pytest.Pytester, libraries: Libraries) -> None:
        self._pytester = pytester
        self._libraries = libraries
        self.path = pytester.path

    def write(self, **files: str) -> None:
        """Files by name, with ``__`` for the dot and ``___`` for the slash in keyword names."""
        for name, text in files.items():
            path = self.path / name.replace("___", "/").replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def pytest(self, *args: str) -> pytest.RunResult:
        """pytest in this process: for tests that look at output and files, 0.7 s of processor cheaper.

        With ``-n`` this process is the controller. Whatever ends or changes its process needs
        :meth:`pytest_process`; what goes to other hosts gets it here, and what asks ahead in threads, whose
        output is kept from the process's own streams, which are not there within a test.
        """
        workers = any(arg.startswith("-n") for arg in args)
        ahead = any(arg.startswith("--concurrency") for arg in args)
        if (ahead and not workers) or any(arg.startswith("--tx") for arg in args):
            return self.pytest_process(*args)
        with _left_as_found():
            result = self._pytester.runpytest_inprocess(*args, plugins=[self._libraries])
            self._libraries.keep()
            return result

    def pytest_process(self, *args: str) -> pytest.RunResult:
        """pytest in a process of its own: for signals, crashes, imports and other plugins."""
        return self._pytester.runpytest_subprocess(*args)

    def agentbench(self, *args: str) -> pytest.RunResult:
        """The command ``agentbench``, in this process."""
        from pytest_agentbench.cli import main

        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        started = time.perf_counter()
        with (
            _left_as_found(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                code = main(list(args))
            except SystemExit as ended:
                code = int(ended.code or 0)
            self._libraries.remember()
        lines = (file.buffer.getvalue().decode("utf-8").splitlines() for file in (out, err))
        return pytest.RunResult(code, *lines, time.perf_counter() - started)

    def agentbench_process(self, *args: str) -> pytest.RunResult:
        """The command ``agentbench`` in a process of its own."""
        return self.run(str(Path(sys.executable).with_name("agentbench")), *args)

    def python(self, *args: str) -> pytest.RunResult:
        return self.run(sys.executable, *args)

    def run(self, *command: str) -> pytest.RunResult:
        return self._pytester.run(*command)

    def runs(self) -> list[Path]:
        """The folders of the runs made so far, oldest first."""
        return sorted((self.path / ".agentbench" / "runs").glob("*"))

    def scores(self, run: Path | None = None) -> dict[str, Any]:
        """The scores.json of a run; of the newest one unless it is named."""
        folder = run or max(self.runs(), key=lambda path: path.stat().st_mtime_ns)
        result: dict[str, Any] = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
        return result

    def records(self, run: Path | None = None) -> list[dict[str, Any]]:
        folder = run or max(self.runs(), key=lambda path: path.stat().st_mtime_ns)
        lines = (folder / "records.jsonl").read_text(encoding="ascii").splitlines()
        return [json.loads(line) for line in lines]


def _threads() -> set[threading.Thread]:
    kept = ("tqdm_monitor", "agentbench-http")  # one in a process, until its end
    return {thread for thread in threading.enumerate() if thread.name not in kept}


@contextlib.contextmanager
def _left_as_found() -> Iterator[None]:
    """What runs in this process imports the toy afresh, and leaves no thread and no handler behind."""
    threads, handler = _threads(), signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.resetwarnings()  # to us each is an error, to a user's project not
        patch.delitem(sys.modules, "toybench", raising=False)
        patch.syspath_prepend(str(TOY))
        # xdist keeps the path of the process that imported it, and gives it to workers.
        with contextlib.suppress(ImportError):
            patch.setattr("xdist.workermanage._sys_path", [str(Path.cwd()), *sys.path])
        yield
    deadline = time.monotonic() + 90
    while left := _threads() - threads:
        assert time.monotonic() < deadline, f"needs a process of its own, for it leaves {left}"
        time.sleep(0.01)
    assert signal.getsignal(signal.SIGINT) is handler, "needs a process of its own"


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of one test, empty at first."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("AGENTBENCH_CACHE", str(folder))
    return folder


class Libraries:
    """What runs in this process have imported, for the next ones: C code cannot be loaded twice.

    pytester forgets all modules that were imported after it was made. It is told to forget only the project's.
    """

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}

    def pytest_unconfigure(self) -> None:
        self.remember()

    def remember(self) -> None:
        from pytest_agentbench.agents import (
            framework_imports,
        )  # the README's commands need none of it

        theirs = (str(TOY), str(Path.cwd()))
        for name, module in list(sys.modules.items()):
            # None forbids an import (without_plots.py): that is the run's, not the next test's.
            if name.partition(".")[0] in framework_imports.ROOTS:
                continue  # a stand-in of one run, or a test's own
            if module is not None and not str(getattr(module, "__file__", None)).startswith(theirs):
                self._modules[name] = module

    def keep(self) -> None:
        for name, module in self._modules.items():
            sys.modules.setdefault(name, module)


@pytest.fixture
def libraries() -> Iterator[Libraries]:
    """Made before pytester and so ended after it.

    All of our modules are imported here first. A run that ends before it is configured forgets those
    that it was the first to import, but their package keeps them, and the next run would have two of each.
    """
    for module in pkgutil.walk_packages(pytest_agentbench.__path__, "pytest_agentbench."):
        importlib.import_module(module.name)
    with contextlib.suppress(ImportError):  # runs in this process make plots, the first one too
        importlib.import_module("vl_convert")
    found = Libraries()
    yield found
    found.keep()


@pytest.fixture
def pytester(
    libraries: Libraries,  # noqa: ARG001 -- it is to be there first
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> pytest.Pytester:
    """pytest's own, which forgets what was imported while it was there: not our libraries.

    These two plugins keep what they were told before, and pytest inside this process loads them again.
    """
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:flaky -p no:pytest-retry")
    return pytester


@pytest.fixture
def project(
    libraries: Libraries, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Project:
    import lean  # beside the tests, which are not on the path of the README's commands

    monkeypatch.setenv("PYTHONPATH", str(TOY))
    monkeypatch.setenv("PYTEST_ADDOPTS", lean.OPTIONS)
    monkeypatch.setenv("COLUMNS", "80")
    for name in (
        "CI",
        "GITHUB_ACTIONS",
        "GITHUB_STEP_SUMMARY",
        "PYTEST_XDIST_WORKER",
        "PYTEST_XDIST_WORKER_COUNT",
        "PYTEST_XDIST_TESTRUNUID",
    ):
        monkeypatch.delenv(name, raising=False)
    return Project(pytester, libraries)
