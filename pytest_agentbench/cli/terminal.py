"""Plain lines on standard output, where pytest has its reporter."""

from __future__ import annotations

import shutil
import sys
from typing import Any


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
