"""Which function a debugger stops in."""

from __future__ import annotations

import functools

from pytest_agentbench.agents import debugging


def function(context):
    return context


@functools.wraps(function)
def wrapped(context):
    return function(context)


class Agent:
    def forward(self, context):
        return context

    def workflow(self):
        return None


class Called:
    def __call__(self, context):
        return context


def test_the_code_is_that_of_the_function_that_is_asked():
    plain = function.__code__
    for given in (function, wrapped, functools.partial(function), functools.partial(wrapped, 1)):
        assert debugging.code_of(given) is plain
    for given in (Agent, Agent(), Agent().forward):
        assert debugging.code_of(given) is Agent.forward.__code__
    for given in (Called, Called()):
        assert debugging.code_of(given) is Called.__call__.__code__


def test_what_is_written_in_c_or_is_no_agent_has_none():
    assert debugging.code_of(len) is None
    assert debugging.code_of(object()) is None
    assert debugging.code_of(functools.partial(len)) is None


class Noting:
    """A debugger that stops nowhere."""

    def __init__(self, refused=None):
        self.skip, self.did, self.refused = {"before"}, [], refused

    def set_break(self, filename, lineno, temporary=False, cond=None, funcname=None):
        self.did.append((lineno, temporary, funcname))
        return self.refused

    def set_continue(self):
        self.did.append("continue")

    def runcall(self, func):
        return func()


def test_it_goes_on_to_the_function_and_skips_no_module_then():
    debugger = Noting()
    assert debugging.stopping(debugger, function, lambda: (debugger.skip, 7)) == ({"before"}, 7)
    assert debugger.did == [(function.__code__.co_firstlineno, True, "function"), "continue"]


def test_without_a_source_file_it_stops_as_early_as_it_can():
    debugger = Noting(refused="no such line")
    assert debugging.stopping(debugger, function, lambda: 7) == 7
    assert "continue" not in debugger.did


def test_what_has_no_code_is_just_called():
    debugger = Noting()
    assert debugging.stopping(debugger, len, lambda: 7) == 7
    assert debugger.did == []


def test_the_state_is_of_the_process():
    debugger = Noting()
    try:
        assert (debugging.is_used(), debugging.tracer()) == (False, None)
        debugging.enter(debugger)
        assert (debugging.is_used(), debugging.tracer()) == (True, debugger)
        debugging.enter()
        assert (debugging.is_used(), debugging.tracer()) == (True, None)
    finally:
        debugging.end()
    assert not debugging.is_used()
