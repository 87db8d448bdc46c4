"""pytest's ini file, found and read without pytest: what it sets holds for `agentbench score`, too."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import iniconfig

from pytest_agentbench.settings.options import Option, SettingsError
from pytest_agentbench.settings.resolve import Layer

Keys = Mapping[str, Any]

_TRUE = ("y", "yes", "t", "true", "on", "1")
_FALSE = ("n", "no", "f", "false", "off", "0")


def layer(start: Path, options: Iterable[Option]) -> Layer:
    """The values of these options in the ini file of a folder."""
    found = find(start)
    if found is None:
        return Layer(str, {}, start, for_all=True)
    file, keys = found
    given = {o.key: o for o in options if o.ini is not None and o.dest in keys}
    values = {key: _value(option, keys[option.dest]) for key, option in given.items()}
    return Layer(lambda key: f"{file}: {given[key].dest}", values, file.parent, for_all=True)


def find(start: Path) -> tuple[Path, Keys] | None:
    """The file that pytest takes when it is started in a folder, and what it sets."""
    project: Path | None = None
    for folder in (start, *start.parents):
        for name, read in _READERS.items():
            file = folder / name
            if not file.is_file():
                continue
            try:
                keys = read(file)
            except (iniconfig.ParseError, OSError, ValueError) as error:
                raise SettingsError(
                    f"{file}: expected a file that pytest reads, got {error}"
                ) from None
            if keys is not None:
                return file, keys
            if name == "pyproject.toml":
                project = project or file
    return None if project is None else (project, {})


def _value(option: Option, value: Any) -> Any:
    """A text from an ini file by the type of its option; TOML has types of its own."""
    if option.ini == "linelist" and isinstance(value, str):
        return [line for line in map(str.strip, value.split("\n")) if line]
    if option.ini == "bool" and str(value).lower() in (*_TRUE, *_FALSE):
        return str(value).lower() in _TRUE
    return value


def _of_pytest_toml(file: Path) -> Keys:
    keys: Keys = _toml(file).get("pytest", {})
    return keys


def _of_pyproject(file: Path) -> Keys | None:
    table = _toml(file).get("tool", {}).get("pytest", {})
    keys: Keys | None = {key: value for key, value in table.items() if key != "ini_options"}
    if keys and "ini_options" in table:  # pytest refuses it, too
        raise ValueError("both tables, [tool.pytest] and [tool.pytest.ini_options]: keep one")
    return keys or table.get("ini_options")


def _toml(file: Path) -> dict[str, Any]:
    # Imported where there is such a file: a run without one should start without it.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

    tables: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    return tables


def _section(file: Path, name: str) -> Keys | None:
    config = iniconfig.IniConfig(str(file))
    return dict(config[name].items()) if name in config else None


# In the order in which pytest looks for them in a folder.
_READERS: Mapping[str, Callable[[Path], Keys | None]] = {
    "pytest.toml": _of_pytest_toml,
    ".pytest.toml": _of_pytest_toml,
    "pytest.ini": lambda file: _section(file, "pytest") or {},
    ".pytest.ini": lambda file: _section(file, "pytest") or {},
    "pyproject.toml": _of_pyproject,
    "tox.ini": lambda file: _section(file, "pytest"),
    "setup.cfg": lambda file: _section(file, "tool:pytest"),
}
