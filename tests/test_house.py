"""The order of the house: few rooms that say what they are for, small modules, names of their own.

What imports what is held by the contracts in pyproject.toml (``lint-imports``).
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PACKAGE = Path(__file__).parents[1] / "pytest_agentbench"
TESTS = Path(__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
# What every benchmark has; errors; GEO-BLEU as a metric and as a drop-in for the package of that name.
ROLES = {
    "answers", "baselines", "benchmark", "data", "diagnostics", "errors", "figures", "geobleu",
    "scoring", "submission",
}  # fmt: skip


def where(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def test_the_root_has_at_most_13_entries():
    entries = {path.name for path in PACKAGE.iterdir()} - {"__pycache__", "py.typed"}
    assert len(entries) <= 13, sorted(entries)


def test_every_room_says_in_one_or_two_sentences_what_lives_there():
    for path in MODULES:
        if path.name == "__init__.py" and path.parent != PACKAGE:
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            text = text.split("\n\n")[0]
            sentences = re.findall(r"[.!?](?=\s|$)", text)
            assert 1 <= len(sentences) <= 2, (where(path), text)


def test_no_module_has_more_than_400_lines():
    lengths = {where(path): path.read_bytes().count(b"\n") for path in MODULES}
    assert not {name: lines for name, lines in lengths.items() if lines > 400}


def test_no_module_has_the_name_of_one_of_pythons_own():
    assert not [where(path) for path in MODULES if path.stem in sys.stdlib_module_names]


def test_the_import_contracts_list_every_benchmark_and_every_room():
    config = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {one["name"]: one for one in config["tool"]["importlinter"]["contracts"]}
    folders = {
        f"pytest_agentbench.benchmarks.{path.parent.name}"
        for path in (PACKAGE / "benchmarks").glob("*/benchmark.py")
    }
    assert folders == set(contracts["Benchmarks do not know each other"]["modules"])
    nobody = contracts["Nothing outside benchmarks/ names one benchmark"]
    assert folders == set(nobody["forbidden_modules"])
    rooms = {f"pytest_agentbench.{path.stem}" for path in PACKAGE.iterdir() if path.stem[0] != "_"}
    rooms -= {"pytest_agentbench.py"}  # py.typed
    without_pytest = contracts["Only the plugin knows pytest"]["source_modules"]
    assert rooms - {"pytest_agentbench.plugin"} == set(without_pytest)
    assert rooms - {"pytest_agentbench.benchmarks"} <= set(nobody["source_modules"])


def test_no_two_modules_have_one_name_for_different_things():
    names = [path.stem for path in MODULES if path.stem not in {"__init__", *ROLES}]
    assert not sorted({name for name in names if names.count(name) > 1})


def test_every_module_has_tests_of_its_name_in_the_same_place():
    """``a/b.py`` has ``tests/a/test_b.py``, or files with longer names: ``tests/a/test_b_faults.py``."""
    modules = [path.relative_to(PACKAGE) for path in MODULES if path.name != "__init__.py"]
    own = {TESTS / path.parent / f"test_{path.name}" for path in modules}
    lacking = []
    for path in modules:
        exact = TESTS / path.parent / f"test_{path.name}"
        # Without those of another module: test_hub_cache.py is no test of hub.py.
        longer = set(exact.parent.glob(f"test_{path.stem}_*.py")) - own
        if not exact.exists() and not longer:
            lacking.append(f"{path}: expected {exact.relative_to(TESTS.parent)}")
    assert not lacking, "\n".join(lacking)
