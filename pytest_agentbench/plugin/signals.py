"""SIGTERM and SIGHUP end a run like Ctrl-C: docker stop, a cancelled CI job, a closed terminal."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

import pytest

_NAMES = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP


class Signals:
    """Handlers for the time of one session. A signal that is ignored (nohup) or handled by others stays so."""

    def __init__(self) -> None:
        self.received: str | None = None
        self.finishing = (
            False  # from here on what is there is written, and no second signal may stop that
        )
        self._session: pytest.Session | None = None
        self._installed: dict[int, Any] = {}

    def install(self, session: pytest.Session) -> None:
        self._session = session
        if threading.current_thread() is not threading.main_thread():
            return  # Python allows handlers there alone
        for name in _NAMES:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                self._installed[number] = signal.signal(number, self._handle)

    def restore(self) -> None:
        for number, before in self._installed.items():
            signal.signal(number, before)
        self._installed.clear()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.finishing:
            return
        self.received = signal.Signals(number).name
        assert self._session is not None
        # Beside the exception, which the agent may catch.
        self._session.shouldstop = self.received
        raise KeyboardInterrupt(self.received)
