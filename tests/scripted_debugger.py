"""A debugger into which a variable types: ``--pdbcls=scripted_debugger:Scripted``, in this process."""

from __future__ import annotations

import io
import os
import pdb
import sys
import time
from typing import Any

VARIABLE = "AGENTBENCH_TEST_TYPED"


class Scripted(pdb.Pdb):
    """Each one is typed the same lines; ``wait SECONDS`` is somebody who thinks."""

    def __init__(self, **options: Any) -> None:
        # Without a handler of Ctrl-C, which it would leave to the next test.
        super().__init__(stdin=io.StringIO(os.environ[VARIABLE]), nosigint=True, **options)
        self.use_rawinput = False
        self.stdout = self

    def write(self, text: str) -> None:
        sys.stdout.write(text)  # whatever it is now: pytest changes it

    def flush(self) -> None:
        sys.stdout.flush()

    def do_wait(self, seconds: str) -> None:
        time.sleep(float(seconds))
