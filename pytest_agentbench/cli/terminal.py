"""What the command line takes and shows: options as arguments, plain lines on standard output."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import Any

from pytest_agentbench.settings.options import Option


def add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    kind: dict[str, Any] = {"metavar": option.metavar}
    if option.flag:
        kind = {"action": "store_true", "default": None}
    elif option.repeatable:
        kind["action"] = "append"
    text = option.help.replace("%", "%%")
    parser.add_argument(f"--{option.name}", dest=option.key, help=text, **kind)


class Lines:
    """Plain lines on standard output, where pytest has its reporter."""

    def __init__(self) -> None:
        # A run's own text may hold what the terminal's encoding does not.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]

    def section(self, title: str, sep: str) -> None:
        sys.stdout.write(f" {title} ".center(shutil.get_terminal_size().columns, sep) + "\n")

    def write_line(self, line: str, **_markup: Any) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
