"""Files that come with a package, in a folder and in a zip file."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pytest_agentbench.base import own_files

PACKAGE = "filesof"  # a package that no other test has
FILES = {
    "__init__.py": "",
    "b.py": "B = 1\n",
    "a.txt": "a",
    "demo/one.txt": "1",
    "demo/deep/two.txt": "2",
    "deep/__init__.py": "",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "src" / PACKAGE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
    return tmp_path / "src"


@pytest.fixture
def archive(folder, tmp_path):
    made = tmp_path / "library.zip"
    with zipfile.ZipFile(made, "w") as zipped:
        for path in folder.rglob("*"):
            zipped.write(path, path.relative_to(folder))
    return made


def run(code, place):
    """What code prints that finds the package there."""
    environment = {**os.environ, "PYTHONPATH": str(place)}
    code = f"from pytest_agentbench.base.own_files import *\n{code}"
    return subprocess.check_output([sys.executable, "-c", code], env=environment, text=True).strip()


def test_in_a_folder_the_files_themselves_are_given(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    assert own_files.on_disk(PACKAGE, "demo") == folder / PACKAGE / "demo"


def test_of_a_zip_file_copies_are_there_until_the_process_ends(archive):
    code = f"""
import os
place = on_disk({PACKAGE!r}, "demo")
assert place is on_disk({PACKAGE!r}, "demo")
assert (place / "one.txt").read_text() + (place / "deep" / "two.txt").read_text() == "12"
file = on_disk({PACKAGE!r}, "a.txt")
assert file.read_text() == "a"
if hasattr(os, "fork"):  # a fork that ends leaves them
    if os.fork() == 0:
        raise SystemExit
    os.wait()
assert file.exists() and place.exists()
print(place, file, sep=os.pathsep)
"""
    places = [Path(one) for one in run(code, archive).split(os.pathsep)]
    assert len(places) == 2
    assert not [one for one in places if one.exists() or one.parent.exists()]


def test_sources_are_the_same_in_both(folder, archive):
    code = f"print(list(sources({PACKAGE!r})))"
    assert run(code, folder) == run(code, archive)
    assert run(code, folder) == str(
        [("__init__.py", b""), ("b.py", b"B = 1\n"), ("deep/__init__.py", b"")]
    )


def test_the_zip_file_around_a_path_is_found(folder, archive):
    assert own_files.archive_of(archive / PACKAGE / "__init__.py") == archive
    assert own_files.archive_of(folder / PACKAGE / "__init__.py") is None
