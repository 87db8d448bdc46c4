"""What calling an agent may raise beyond the agent's own exceptions.

Those that pytest shows with the agent's traceback name ``builtins`` as their module, as pytest's own do: a line
of its summary has no room for a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


def _reduced(error: BaseException) -> Any:
    """For pickle, which would look for the class in ``builtins``."""
    return _again, (type(error).__name__, error.args, vars(error))


def _again(name: str, args: tuple[Any, ...], state: dict[str, Any]) -> Any:
    error = globals()[name](*args)
    vars(error).update(state)
    return error


class TransientError(Exception):
    """An error that a retry may cure. Agents may raise it, too, to be asked again.

    ``retry_after``: the seconds that the other side asked us to wait, if it did.
    """

    transient = True

    def __init__(
        self, message: str, *, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.status = status


class LoopBlocked(TransientError):
    """Another call of the agent blocked the event loop on which this one was to go on."""


class AgentTimeout(Exception):
    """The agent did not answer in the time it had."""


class DayEnded(Exception):
    """What an agent raised while it lived tick by tick: the message says at which tick and in which call.

    Its cause is the agent's own exception. ``transient``, ``status`` and ``retry_after`` are those of the cause.
    """

    __module__ = "builtins"
    __reduce__ = _reduced

    def __init__(
        self,
        message: str,
        *,
        transient: bool = False,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.transient = transient
        self.status = status
        self.retry_after = retry_after


class BudgetExceeded(BaseException):
    """The run has spent its budget.

    Not an Exception: agents answer something else after ``except Exception``, and a run that goes on
    with such answers would be scored as if they were the agent's.
    """


class NotProvided(BaseException):
    """The agent asked for what this run does not have: a model, or a part of a framework.

    Not an Exception: published agents answer a constant after ``except Exception``, and a run would score
    that as if it were the agent's answer. See :mod:`pytest_agentbench.agents.missing`.
    """

    __module__ = "builtins"
    __reduce__ = _reduced

    transient = False


def is_test_outcome(error: BaseException) -> bool:
    """Whether this is what ``pytest.skip()``, ``xfail()``, ``fail()`` or unittest's ``SkipTest`` raise.

    An agent that raises one has not answered; raised by a test, it would be no failure. Told by the
    names of classes, as only plugin/ imports pytest.
    """
    names = {f"{kind.__module__}.{kind.__name__}" for kind in type(error).__mro__}
    return bool(names & {"_pytest.outcomes.OutcomeException", "unittest.case.SkipTest"})


class EndedByAgent(SystemExit):
    """The agent tried to end the process or the session that it shares with the run.

    As with ``sys.exit``, ``except Exception`` in the agent does not catch it.
    """

    __module__ = "builtins"
    __reduce__ = _reduced

    transient = False


class AgentCrashed(Exception):
    """The agent's process ended, or broke the protocol, instead of answering."""

    transient = False


@dataclass(eq=False, repr=False)
class RemoteAgentError(Exception):
    """An exception that the agent raised in a process of its own, as text.

    ``types`` are the names of its class and of the classes that it derives from, nearest first
    (``("json.decoder.JSONDecodeError", "ValueError", "Exception")``), so that an error can still be told by
    its type; ``status`` is its HTTP status, where it has one; ``transient`` is what
    :func:`pytest_agentbench.agents.retry.is_transient` said of it there.
    """

    types: tuple[str, ...]
    message: str
    traceback: str
    status: int | None = None
    retry_after: float | None = None
    transient: bool = False

    def __post_init__(self) -> None:
        self.type_name = self.types[0].rpartition(".")[2] if self.types else "Exception"
        super().__init__(f"{self.type_name}: {self.message}" if self.message else self.type_name)
