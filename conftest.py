"""Shared by all tests: a real pytest in a subprocess, beside an installed third-party benchmark."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]

TOY = Path(__file__).parent / "tests" / "toy"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # The README's commands load this file too, where the tests' own packages are not installed.
    if config.pluginmanager.has_plugin("hypothesispytest"):
        import hypothesis

        # More examples than fit CI: pytest tests/faults/test_bad_answers.py --hypothesis-profile=campaign
        hypothesis.settings.register_profile("campaign", max_examples=5_000, deadline=None)
    # A job that a shell started in the background ignores Ctrl-C, and so would all that tests start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Project:
    """A user's project in a temporary folder, in which real commands are run."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.path = pytester.path

    def write(self, **files: str) -> None:
        """Files by name, with ``__`` for the dot and ``___`` for the slash in keyword names."""
        for name, text in files.items():
            path = self.path / name.replace("___", "/").replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def pytest(self, *args: str) -> pytest.RunResult:
        return self._pytester.runpytest_subprocess(*args)

    def python(self, *args: str) -> pytest.RunResult:
        import sys

        return self._pytester.run(sys.executable, *args)

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


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("PYTHONPATH", str(TOY))
    # Its import takes a second in every subprocess, and no test in there uses it.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
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
    return Project(pytester)
