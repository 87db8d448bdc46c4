"""pytest's ini file, read without pytest as pytest reads it."""

from __future__ import annotations

import pytest

from pytest_agentbench.settings import ini
from pytest_agentbench.settings.options import SettingsError, options_of
from pytest_agentbench.settings.settings import Settings

INI = "agentbench_limit = 5\nagentbench_gate =\n    accuracy >= 0.5\n    coverage >= 0.9\n"
TOML = "agentbench_limit = 5\nagentbench_gate = ['accuracy >= 0.5', 'coverage >= 0.9']\n"
OTHER = "[pytest]\nagentbench_limit = 7\n"


def values(start):
    options = options_of(Settings)
    layer = ini.layer(start, options)
    keys = {option.key: option for option in options}
    return {key: keys[key].read(value, layer.where(key)) for key, value in layer.values.items()}


@pytest.mark.parametrize(
    "files",
    [
        {"pytest.ini": f"[pytest]\n{INI}", "tox.ini": OTHER},
        {".pytest.ini": f"[pytest]\n{INI}"},
        {"pytest.ini": "", "pyproject.toml": f"[tool.pytest.ini_options]\n{TOML}"},
        {"pyproject.toml": f"[tool.pytest.ini_options]\n{TOML}", "tox.ini": OTHER},
        {"pyproject.toml": "[project]\nname = 'x'\n", "tox.ini": f"[pytest]\n{INI}"},
        {"pyproject.toml": "[project]\nname = 'x'\n", "../pytest.ini": f"[pytest]\n{INI}"},
        {"pyproject.toml": "[project]\nname = 'x'\n"},
        {"setup.cfg": f"[tool:pytest]\n{INI}"},
        {"tox.ini": "[tox]\n", "../setup.cfg": f"[tool:pytest]\n{INI}"},
        pytest.param({"pytest.toml": f"[pytest]\n{TOML}", "pytest.ini": OTHER}, id="pytest.toml"),
        pytest.param({"pyproject.toml": f"[tool.pytest]\n{TOML}"}, id="tool.pytest"),
        {},
    ],
    ids=lambda files: "+".join(files) or "none",
)
def test_the_file_and_its_values_are_those_that_pytest_takes(pytester, files, request):
    if request.node.callspec.id in ("pytest.toml", "tool.pytest") and pytest.version_tuple < (9,):
        pytest.skip("pytest before 9 does not know it")
    place = pytester.path / "project"
    place.mkdir()
    pytester.chdir()
    for name, text in files.items():
        (place / name).write_text(text)
    config = pytester.parseconfig("--rootdir", place, place)
    found = ini.find(place)
    if config.inipath is None:
        # No file above the temporary folders is a project's.
        assert found is None
    else:
        assert found is not None
        assert found[0] == config.inipath
    taken = {
        option.key: option.read(config.getini(option.dest), option.dest)
        for option in options_of(Settings)
        if option.ini and config.getini(option.dest) not in (None, [])
    }
    assert values(place) == taken
    if any("gate" in text for text in files.values()) and files.get("pytest.ini") != "":
        assert taken["limit"] == 5
        assert [gate.text for gate in taken["gates"]] == ["accuracy >= 0.5", "coverage >= 0.9"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool"),
        ("pyproject.toml", "[tool.pytest]\na = 1\n[tool.pytest.ini_options]\na = 1\n"),
        ("pytest.ini", "[pytest\nx"),
        ("tox.ini", "= 3"),
    ],
)
def test_a_broken_file_is_named(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(SettingsError, match=f"{name}: expected a file that pytest reads, got"):
        ini.find(tmp_path)
