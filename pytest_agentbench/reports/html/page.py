"""HTML pages by Jinja2: one family of templates, one style sheet, and all that a run says is escaped."""

from __future__ import annotations

import contextlib
import functools
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest_agentbench
from pytest_agentbench.base.files import cache_folder
from pytest_agentbench.reports import rows, text

if TYPE_CHECKING:
    import jinja2


def render(template: str, **values: Any) -> str:
    """The page that a template of this folder makes of the values."""
    css, version = file("style.css"), pytest_agentbench.__version__
    return _environment().get_template(template).render(css=css, version=version, **values)


def file(name: str) -> str:
    """A file of this folder, also where the package lies in a zip file."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _environment() -> jinja2.Environment:
    # Imported when the first page is made: a run that makes none should start without it.
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(file),
        bytecode_cache=_compiled(),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(number=text.number, thousands="{:,}".format)
    made.globals["verdict_marks"] = rows.VERDICT_MARKS
    return made


def _compiled() -> jinja2.BytecodeCache | None:
    """The templates as Python code, kept between runs (30 ms); None where nothing can be kept."""
    import jinja2

    class Kept(jinja2.FileSystemBytecodeCache):
        def dump_bytecode(self, bucket: Any) -> None:
            with contextlib.suppress(OSError):  # it cannot be written, or the disk is full
                super().dump_bytecode(bucket)

    try:
        folder = cache_folder() / "templates"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no cache, or no home folder
        return None
    return Kept(str(folder))
