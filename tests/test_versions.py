"""The Pythons that we say we support are the same ones wherever we say it, and the matrix runs each of them."""

from __future__ import annotations

import configparser
import re
import sys

import pytest
from docs_blocks import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
         for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]}  # fmt: skip
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
DECLARED = [
    f"3.{minor}"
    for minor in re.findall(
        r"Python :: 3\.(\d+)$", "\n".join(CONFIG["project"]["classifiers"]), re.MULTILINE
    )
]
OLDEST, NEWEST = DECLARED[0], DECLARED[-1]


def cells(env_list):
    """The names that tox makes of ``py3{10,11}-{a,b}``."""
    braces = re.search(r"\{([^}]*)\}", env_list)
    if braces is None:
        return [env_list]
    start, end = env_list[: braces.start()], env_list[braces.end() :]
    return [name for one in braces[1].split(",") for name in cells(start + one + end)]


def matrix():
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini")
    return [name for line in tox["tox"]["env_list"].split() for name in cells(line)]


def said(pattern):
    """What the pages say, as (page, match)."""
    found = [(page, match) for page in TEXTS for match in re.findall(pattern, TEXTS[page])]
    return [(page, match) for page, match in found if page != "CHANGELOG.md"]


def test_the_declared_pythons_follow_each_other_without_a_gap():
    minors = [int(version.partition(".")[2]) for version in DECLARED]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert len(minors) >= 5


def test_the_oldest_python_is_the_same_for_pip_and_for_the_tools():
    assert CONFIG["project"]["requires-python"] == f">={OLDEST}"
    assert CONFIG["tool"]["mypy"]["python_version"] == OLDEST
    assert CONFIG["tool"]["ruff"]["target-version"] == f"py{OLDEST.replace('.', '')}"


@pytest.mark.parametrize("pair", ["pytest84-xdist36", "pytest9-xdist3"])
def test_the_matrix_runs_every_declared_python(pair):
    rows = [name.removesuffix(f"-{pair}") for name in matrix() if name.endswith(f"-{pair}")]
    assert rows == [f"py{version.replace('.', '')}" for version in DECLARED]


@pytest.mark.parametrize("pair", ["pytest84-xdist3", "pytest9-xdist36"])
def test_the_matrix_mixes_oldest_and_newest_at_its_ends(pair):
    rows = [name.removesuffix(f"-{pair}") for name in matrix() if name.endswith(f"-{pair}")]
    assert rows == [f"py{version.replace('.', '')}" for version in (OLDEST, NEWEST)]


def test_the_pages_name_the_same_range():
    ranges = said(r"Python (3\.\d+) to (3\.\d+)")
    assert {"README.md", "CONTRIBUTING.md"} <= {page for page, _ in ranges}
    assert {versions for _, versions in ranges} == {(OLDEST, NEWEST)}
    assert said(r"pyenv local ((?: ?3\.\d+)+)") == [("CONTRIBUTING.md", " ".join(DECLARED))]


def test_examples_of_ci_use_a_declared_python():
    used = said(r'(?:python-version: "|image: python:)(3\.\d+)')
    assert len(used) >= 3
    assert {version for _, version in used} <= set(DECLARED)


def test_tox_names_are_made_as_tox_makes_them():
    assert cells("py3{10,11}-{a,b}") == ["py310-a", "py310-b", "py311-a", "py311-b"]
