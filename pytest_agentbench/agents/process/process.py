"""A program that answers messages over pipes or a socket."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from pytest_agentbench.agents.process import landlock, supervisor
from pytest_agentbench.base.errors import BenchmarkError

_CHUNK = 1 << 18
_KEPT = 1 << 16  # bytes of captured output; the last ones hold the reason of a crash
GRACE = 2.0  # seconds a program has to end by itself
_PATIENCE = 15.0  # seconds a supervisor has to kill everything


class Ended(Exception):
    """The program closed its side: it has ended, or is about to."""


class TimeUp(Exception):
    """The deadline passed before a whole message came."""


class Process:
    """One running program, with its output captured, under a supervisor that ends what it started.

    Messages go over its standard input and output. With ``over_socket`` they go over a socket, which it
    finds as its standard input, and standard output is captured like standard error. One thread reads and
    writes all of it, so nothing can deadlock: neither a program that writes before it reads, nor one that
    floods us.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        over_socket: bool = False,
        policy: landlock.Policy | None = None,
        folder: Path | None = None,
    ) -> None:
        """``policy`` is enforced by Landlock; ``folder`` is removed if this process is killed."""
        if os.name != "posix":
            raise BenchmarkError(
                "--agent: expected Linux or macOS for an agent in a process of its own, got "
                f"{os.name}; use an HTTP endpoint or --agent-isolation none"
            )
        ours, theirs = socket.socketpair() if over_socket else (None, None)
        self._post_lock = threading.Lock()
        lifeline, self._lifeline = os.pipe()
        try:
            self._popen = subprocess.Popen(  # noqa: S603 -- what the user named, and no shell
                supervisor.supervised(command, lifeline),
                pass_fds=(lifeline,),
                cwd=cwd,
                env=env,
                stdin=subprocess.PIPE if theirs is None else theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is ours to handle
                bufsize=0,
            )
        except BaseException:
            os.close(self._lifeline)
            if ours is not None:
                ours.close()
            raise
        finally:
            os.close(lifeline)
            if theirs is not None:
                theirs.close()
        self._instruct(supervisor.orders(policy, folder))
        popen = self._popen
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._files: list[IO[bytes] | socket.socket] = [popen.stdout, popen.stderr]
        talk_in, talk_out = (ours.dup(), ours) if ours else (popen.stdin, popen.stdout)
        assert talk_in is not None
        self._files += [talk_in, talk_out]
        self._in, self._out = talk_in.fileno(), talk_out.fileno()
        self._tails = (_Tail(), _Tail())
        self._captured = {popen.stderr.fileno(): self._tails[1]}
        if over_socket:
            self._captured[popen.stdout.fileno()] = self._tails[0]
        self._outgoing = bytearray()
        self.waiting = bytearray()  # what the program has sent and nobody has received yet
        self._ended = False
        self.unread = False  # it ended before it had read all that was sent
        self._posted: deque[bytes | BaseException] = deque()
        self._bell, self._ear = socket.socketpair()
        self._files += [self._bell, self._ear]
        self._selector = selectors.DefaultSelector()
        for fd in {self._in, self._out, self._bell.fileno(), self._ear.fileno(), *self._captured}:
            os.set_blocking(fd, False)
        for fd in {self._out, self._ear.fileno(), *self._captured}:
            self._selector.register(fd, selectors.EVENT_READ)

    def alive(self) -> bool:
        """Whether it can still be asked; reads what it has sent meanwhile."""
        self._listen(0)
        return not self._ended

    def send(self, data: bytes) -> None:
        """Sends as much as fits; :meth:`receive` sends the rest."""
        self._outgoing += data
        self._push()

    def post(self, data: bytes | BaseException) -> None:
        """From any thread: lets the thread in :meth:`receive` send this, or raise it."""
        self._posted.append(data)
        with self._post_lock, contextlib.suppress(OSError):  # it may have ended meanwhile
            self._bell.send(b".")

    def receive(
        self, take: Callable[[bytearray], bytes | None], deadline: float | None = None
    ) -> bytes:
        """The next message, which ``take`` takes out of the bytes that have come.

        Raises :class:`TimeUp` at the deadline (of ``time.monotonic``) and :class:`Ended` at the end.
        """
        while True:
            message = take(self.waiting)
            if message is not None:
                return message
            if self._ended:
                raise Ended
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimeUp
            self._listen(left)

    def output(self) -> tuple[str, str]:
        """Standard output and error captured since the last time."""
        for fd, tail in list(self._captured.items()):
            for _ in range(16):  # bounded, for a thread that prints without end
                if not self._hear(fd, tail):
                    break
        out, err = self._tails
        return out.taken(), err.taken()

    def ending(self) -> str:
        """How it ended, for error messages; waits a moment for the end."""
        try:
            code = self._popen.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            return "closed its side of the connection"
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = "a signal"
        hint = "; is the machine out of memory?" if -code == signal.SIGKILL else ""
        return f"was killed by {name} (signal {-code}{hint})"

    @property
    def exit_code(self) -> int | None:
        return self._popen.poll()

    def hang_up(self, last: bytes | None = None) -> None:
        """Asks it to end: by a last message, or else by the end of its input."""
        if last is not None:
            self.send(last)
        elif self._popen.stdin is not None:
            with contextlib.suppress(OSError):
                self._popen.stdin.close()

    def wait(self, deadline: float) -> None:
        """Waits for its end, and reads meanwhile: a program that cannot write cannot end."""
        while self._popen.poll() is None and (left := deadline - time.monotonic()) > 0:
            self._listen(min(left, 0.02))

    def strike(self) -> None:
        """Has it killed with whatever it started, without waiting."""
        with self._post_lock:
            lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            with contextlib.suppress(OSError):
                os.write(lifeline, supervisor.FAREWELL)
            os.close(lifeline)

    def kill(self) -> None:
        """Kills it, waits for its end and closes our side."""
        self.strike()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(timeout=_PATIENCE)
        # Where the supervisor is killed itself, its group is left.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        self._selector.close()
        with self._post_lock:
            for file in self._files:
                with contextlib.suppress(OSError):
                    file.close()
        self._captured.clear()

    def _instruct(self, orders: bytes) -> None:
        left = memoryview(orders)
        with contextlib.suppress(BrokenPipeError):  # it ended at once: that is found out later
            while left:
                left = left[os.write(self._lifeline, left) :]

    def _listen(self, seconds: float | None) -> None:
        for key, _ in self._selector.select(seconds):
            if key.fd == self._ear.fileno():
                self._deliver()
            elif key.fd == self._out:
                self._hear_message()
            elif key.fd == self._in:
                self._push()
            else:
                self._hear(key.fd, self._captured[key.fd])

    def _deliver(self) -> None:
        _read(self._ear.fileno())
        while self._posted:
            data = self._posted.popleft()
            if isinstance(data, BaseException):
                raise data
            self.send(data)

    def _hear(self, fd: int, tail: _Tail) -> bool:
        data = _read(fd)
        if data:
            tail.add(data)
        elif data is not None:
            self._selector.unregister(fd)
            del self._captured[fd]
        return bool(data)

    def _hear_message(self) -> None:
        try:
            data = _read(self._out)
        except OSError:  # reset: that is how a socket tells of data that nobody has read
            self.unread, data = True, b""
        if data:
            self.waiting += data
        elif data is not None:
            self._ended = True
            self._selector.unregister(self._out)
            self._watch_input(False)

    def _push(self) -> None:
        while self._outgoing:
            try:
                sent = os.write(self._in, memoryview(self._outgoing)[:_CHUNK])
            except BlockingIOError:
                break
            except OSError:  # it has ended; what it said before is still to be read
                self.unread = True
                self._outgoing.clear()
                break
            del self._outgoing[:sent]
        self._watch_input(bool(self._outgoing))

    def _watch_input(self, wanted: bool) -> None:
        if wanted == (self._in in self._selector.get_map()):
            return
        if not wanted:
            self._selector.unregister(self._in)
        elif not self._ended:
            self._selector.register(self._in, selectors.EVENT_WRITE)


def _read(fd: int) -> bytes | None:
    """What there is to read: empty at the end, None if there is nothing yet."""
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        return None


class _Tail:
    """The last bytes of a stream."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._total = 0

    def add(self, data: bytes) -> None:
        self._bytes += data
        self._total += len(data)
        if len(self._bytes) > 2 * _KEPT:  # rarely, because cutting copies
            del self._bytes[:-_KEPT]

    def taken(self) -> str:
        kept = self._bytes[-_KEPT:]
        dropped = self._total - len(kept)
        self._bytes.clear()
        self._total = 0
        before = f"... ({dropped} bytes before this)\n" if dropped else ""
        return before + kept.decode("utf-8", "backslashreplace")


def last_lines(text: str, count: int = 10, longest: int = 2000) -> str:
    """The end of a program's stderr, for an error message; empty if it said nothing."""
    lines = text[-longest:].rstrip().splitlines()[-count:]
    return "; the last lines of its stderr:\n" + "\n".join(lines) if lines else ""
