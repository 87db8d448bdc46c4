"""The code blocks of README and docs: found, and done in the order in which a reader would do them.

A block is run, parsed, or marked ``<!-- not run: reason -->`` in the line above it:

- ``sh``: every line is run, and has to succeed or to end with the ``# exit code`` behind it;
- ``text``: what the command before it printed, these lines in this order (``...`` stands for others);
- ``python``: with prompts (``>>>``) a doctest, of all such blocks together; with a name in its first
  line (``# my_agent.py``) a file of that name; otherwise ``my_agent.py``, with a command to use it;
- ``yaml``: a scenario is written (``s.yaml``, unless its first line names it), and run at the end if
  no command of the page has run it; a config of asbench is written; a workflow is parsed;
- ``toml``: parsed.

``<!-- run: COMMAND -->`` above a block says what to run once it is written, where the page does not.
"""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Importing Hypothesis takes a second of every run; a slow machine would print lines of progress.
WHOLE = "[pytest]\naddopts = -p no:hypothesispytest\nagentbench_progress = 0\n"
# For commands whose output is not shown: ini keys give way to what a command or scenario says itself.
QUICK = WHOLE + "agentbench_limit = 4\nagentbench_text_models = none\n"

_BLOCK = re.compile(
    r"^(?:<!-- (?P<how>not run|run): (?P<what>[^\n]+?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_NAME = re.compile(r"# ([\w./-]+\.(?:py|ya?ml))\n")
_SET_UP = re.compile(r"python3 -m venv .* && pip install [^&]* && ")
# Times, the names of runs and the numbers of workers' lines: true when written, other each time.
_PASSING = re.compile(r"\d{8}-\d{6}|\d+\.\d+s\b(?: \(\d+:\d\d:\d\d\))?|=+")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str
    line: int
    not_run: str | None
    command: str | None

    @property
    def name(self) -> str | None:
        """The file that its first line says it is."""
        named = _NAME.match(self.text)
        return named[1] if named else None


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            found["language"],
            found["text"],
            text.count("\n", 0, found.start("text")),
            found["what"] if found["how"] == "not run" else None,
            found["what"] if found["how"] == "run" else None,
        )
        for found in _BLOCK.finditer(text)
    ]


def unfenced(page: Path) -> list[str]:
    """Lines of code that no block holds: nothing would run them."""
    prose = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [line for line in prose.splitlines() if line.startswith(("    ", "```"))]


class Reader:
    """Does what a page says, in one project."""

    def __init__(self, project: Any, model: str) -> None:
        self._project = project
        self._model = model  # the address that stands in for every model's
        self._output: list[str] = []
        self._examples: list[str] = []
        self._scenarios: set[str] = set()  # written, and not yet run
        self._ini = project.path / "pytest.ini"

    def read(self, page: Path) -> None:
        done = [block for block in blocks(page) if block.not_run is None]
        for block, after in itertools.zip_longest(done, done[1:]):
            self._where = f"{page.name}, line {block.line}"
            shown = after is not None and after.language == "text"
            getattr(self, f"_{block.language}", self._unknown)(block, shown)
        for name in sorted(self._scenarios):
            self._run(f"pytest {name}")
        if self._examples:
            self._write("examples.txt", "\n".join(self._examples))
            self._run("python -m doctest examples.txt")

    def _unknown(self, block: Block, shown: bool) -> None:
        raise AssertionError(f"{self._where}: nobody knows how to run {block.language!r}")

    def _sh(self, block: Block, shown: bool) -> None:
        for line in block.text.splitlines():
            self._run(_SET_UP.sub("", line), whole=shown)

    def _text(self, block: Block, shown: bool) -> None:
        output = iter([_PASSING.sub("#", line).rstrip() for line in self._output])
        for line in block.text.splitlines():
            wanted = _PASSING.sub("#", line).rstrip()
            if wanted not in ("", "..."):
                assert wanted in output, f"{self._where}: not printed: {line}\n" + "\n".join(
                    self._output
                )

    def _python(self, block: Block, shown: bool) -> None:
        if block.text.startswith(">>>"):
            self._examples.append(block.text)
            return
        self._write(block.name or "my_agent.py", block.text)
        assert block.name or block.command, f"{self._where}: neither a file nor used"
        if block.command:
            self._run(block.command)

    def _yaml(self, block: Block, shown: bool) -> None:
        data = yaml.safe_load(block.text)
        is_scenario = isinstance(data.get("benchmark"), str)
        if is_scenario or (block.name and "llm" in data):
            name = block.name or "s.yaml"
            self._write(name, re.sub(r"(?<=base_url: )\S+", self._model, block.text))
            self._scenarios |= {name} if is_scenario else set()
            return
        jobs = data.get("jobs", data)
        assert any("script" in job or "steps" in job for job in jobs.values()), self._where

    def _toml(self, block: Block, shown: bool) -> None:
        if sys.version_info >= (3, 11):
            import tomllib

            assert tomllib.loads(block.text), self._where

    def _write(self, name: str, text: str) -> None:
        path = self._project.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _run(self, command: str, whole: bool = False) -> None:
        self._ini.write_text(WHOLE if whole else QUICK, encoding="utf-8")
        self._scenarios -= {name for name in self._scenarios if name in command}
        asked, _, code = command.partition("  # exit code ")
        fewer = re.sub(r"-n (8|auto)\b", "-n 2", asked)
        fewer = re.sub(r"(?<=--base-url )\S+", self._model, fewer)
        result = self._project.run("bash", "-c", fewer)
        assert result.ret == int(code or 0), f"{self._where}: {command}"
        self._output = result.outlines
