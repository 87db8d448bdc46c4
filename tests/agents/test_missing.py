"""What an agent asks for and a run does not have: who asked is named, and the call is marked."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pytest_agentbench.agents.ask import ask
from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.missing import refuse, shown_place
from pytest_agentbench.agents.usage import Usage, counting, current


def test_it_names_what_what_to_do_and_the_line_that_asked():
    usage = Usage()
    with counting(usage), pytest.raises(NotProvided, match="asked for a map: install one; asked"):
        refuse("a map", "install one")
    (missing,) = usage.missing
    assert missing.at.partition(":")[0].endswith("test_missing.py")
    assert not issubclass(NotProvided, Exception)


@pytest.mark.parametrize("how", ["caught", "raised", "replaced"])
def test_whatever_the_agent_makes_of_it_the_outcome_is_the_error(how):
    def agent(context):
        try:
            refuse("a map", "install one")
        except BaseException:
            if how == "raised":
                raise
            if how == "replaced":
                raise KeyError("something else") from None
        return "made up"

    outcome = ask(agent, None, retries=2)
    assert isinstance(outcome.error, NotProvided)
    assert "a map: install one; asked at" in str(outcome.error)
    assert len(outcome.usage.missing) == 1


def test_a_plain_thread_marks_the_only_call_and_all_where_there_are_several():
    def agent(context):
        def work():
            with pytest.raises(NotProvided):
                refuse("a map", "x")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return "made up"

    assert isinstance(ask(agent, None).error, NotProvided)
    other = Usage()
    with counting(other):
        assert isinstance(ask(agent, None).error, NotProvided)
    assert [one.what for one in other.missing] == ["a map"]
    assert current() is None


def test_an_honest_answer_beside_it_is_not_marked():
    assert ask(lambda context: 1, None).error is None


def test_places_are_shown_from_here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert shown_place(f"{tmp_path / 'a' / 'agent.py'}:3") == f"{Path('a', 'agent.py')}:3"
    assert shown_place("/elsewhere/agent.py:3") == "/elsewhere/agent.py:3"
    assert shown_place("") == ""


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_file_that_asks_while_it_is_imported_is_refused_though_it_catches_all(project, isolation):
    project.write(
        agent__py="from websocietysimulator.llm import InfinigenceLLM\n"
        "try:\n"
        "    STYLE = InfinigenceLLM(api_key='x')(messages=[{'role': 'user', 'content': 'How?'}])\n"
        "except:\n"
        "    STYLE = 'plain'\n"
        "def agent(context):\n"
        "    return context['a'] + context['b']\n"
    )
    options = ("--benchmark=toysum", "--agent=agent.py", f"--agent-isolation={isolation}")
    result = project.pytest(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = result.stderr.str()
    assert "importing" in said
    assert "the agent asked for a model" in said
    assert "agent.py:3" in said
    assert not project.runs()
