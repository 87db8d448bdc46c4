"""An agent that is a command: one line of JSON in, one out, whatever else it does."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from processes import asked_at_once, gone, happens

from pytest_agentbench.agents.errors import AgentCrashed, AgentTimeout
from pytest_agentbench.agents.process.command import CommandAgent
from pytest_agentbench.base.errors import BenchmarkError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

# Every program below is given the same beginning, and says what to do with one context.
LOOP = """
import json, os, signal, subprocess, sys, time
def say(value): print(json.dumps(value), flush=True)
for line in sys.stdin:
    context = json.loads(line)
"""


@pytest.fixture
def command(tmp_path):
    """Makes agents of programs in ``tmp_path``, and closes them."""
    made = []

    def command(body, timeout=20.0, start=LOOP):
        path = tmp_path / "program.py"
        path.write_text(start + "".join(f"    {line}\n" for line in body.splitlines()))
        agent = CommandAgent(f"{shlex.quote(sys.executable)} program.py", tmp_path, timeout)
        made.append(agent)
        return agent

    yield command
    for agent in made:
        agent.close()


def test_one_process_answers_every_context(command):
    agent = command("say([context, os.getpid()])")
    first, second = agent({"a": "é\u2028\ud800"}), agent([1, None])
    assert [first[0], second[0]] == [{"a": "é\u2028\ud800"}, [1, None]]
    assert first[1] == second[1]


def test_nothing_is_started_before_the_first_context(command, tmp_path):
    agent = command("say(1)", start="open('started', 'w').close()\n" + LOOP)
    assert not (tmp_path / "started").exists()
    agent(0)
    assert (tmp_path / "started").exists()


def test_no_shell_reads_the_command(tmp_path):
    (tmp_path / "show.py").write_text(
        "import sys, json\ninput()\nprint(json.dumps(sys.argv[1:]))\n"
    )
    agent = CommandAgent(f"{sys.executable} show.py 'a b' $HOME ; echo", tmp_path, 20)
    assert agent(1) == ["a b", "$HOME", ";", "echo"]
    agent.close()


def test_a_context_larger_than_every_pipe_passes_while_the_command_writes(command):
    agent = command("sys.stderr.write('x' * 300_000)\nsay(context)")
    context = ["y" * 1_000_000]
    assert agent(context) == context
    assert agent.last_output[1].endswith("x" * 1000)
    assert len(agent.last_output[1]) < 70_000


def test_stderr_is_kept_for_each_call(command):
    agent = command("print('about', context, file=sys.stderr, flush=True)\nsay(context)")
    agent(1)
    assert agent.last_output == ("", "about 1\n")
    agent(2)
    assert agent.last_output == ("", "about 2\n")


@pytest.mark.parametrize(
    ("act", "ending"),
    [
        ("sys.exit(3)", "ended with exit code 3"),
        ("os.kill(os.getpid(), signal.SIGKILL)", r"was killed by SIGKILL \(signal 9"),
        ("sys.exit(0)", "ended with exit code 0 instead of answering: expected one line of JSON"),
    ],
)
def test_a_crash_fails_one_sample_with_its_reason_and_the_next_gets_a_new_process(
    command, act, ending
):
    agent = command(
        f"if context == 'crash':\n    print('the reason', file=sys.stderr, flush=True)\n    {act}\n"
        "say(context)"
    )
    with pytest.raises(
        AgentCrashed, match=rf"{ending}[\s\S]*the last lines of its stderr:\nthe reason"
    ):
        agent("crash")
    assert agent.last_output[1] == "the reason\n"
    assert agent("fine") == "fine"


def test_a_hang_is_killed_with_all_that_it_started(command, tmp_path):
    agent = command(
        "if context == 'hang':\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    helper = subprocess.Popen(['sleep', '600'])\n"
        "    open('pids', 'w').write(f'{os.getpid()} {helper.pid}')\n"
        "    print('halfway', flush=True, end='')\n"
        "    time.sleep(600)\n"
        "say(context)"
    )
    agent("started")
    with pytest.raises(AgentTimeout, match=r"no answer within 1 s"):
        agent("hang", timeout=1.0)
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
    assert agent.last_output[0] == "halfway"
    assert agent("fine") == "fine"


def test_a_command_that_never_reads_runs_out_of_time(command):
    agent = command("", start="import time\nif True:\n    time.sleep(600)\n")
    with pytest.raises(AgentTimeout):
        agent("x" * 1_000_000, timeout=0.3)


def test_a_line_that_is_not_json_is_quoted_and_the_next_call_is_in_step(command):
    agent = command("if context == 1: print('Loading model...', flush=True)\nsay(context)")
    with pytest.raises(
        AgentCrashed, match=r"expected JSON, got 'Loading model\.\.\.'.*standard error"
    ):
        agent(1)
    assert agent(2) == 2


def test_a_long_line_that_is_not_json_is_cut(command):
    agent = command("print('x' * 100_000, flush=True)")
    with pytest.raises(AgentCrashed) as caught:
        agent(1)
    assert len(str(caught.value)) < 1000
    assert "(100000 bytes)" in str(caught.value)


def test_two_lines_at_once_are_an_error(command):
    agent = command("sys.stdout.write(json.dumps(context) + '\\n\"more\"\\n')\nsys.stdout.flush()")
    with pytest.raises(
        AgentCrashed, match="expected one line for one context, got '1' and after it '\"more\"'"
    ):
        agent(1)


def test_a_late_second_line_is_not_taken_for_the_next_answer(command, tmp_path):
    agent = command(
        "say(context)\n"
        "while context == 1 and not os.path.exists('answered'): time.sleep(0.01)\n"
        "if context == 1:\n"
        "    say('late')\n"
        "    open('said', 'w').close()"
    )
    assert agent(1) == 1
    (tmp_path / "answered").touch()
    assert happens((tmp_path / "said").exists)
    assert agent(2) == 2


def test_blank_lines_do_not_count(command):
    agent = command("print()\nsay(context)\nprint('', flush=True)")
    assert [agent(1), agent(2)] == [1, 2]


@pytest.mark.parametrize("end", ["", "\\n"])
def test_a_command_that_answers_once_and_ends_is_started_for_each_context(command, end):
    agent = command(f"print(json.dumps(context), end='{end}', flush=True)\nbreak")
    assert [agent(n) for n in range(8)] == list(range(8))


class Store:
    agentbench_methods = ("get_item",)
    secret = "hidden"

    def get_item(self, item_id, *, with_name=False):
        if item_id == "none":
            raise KeyError("no such item")
        return {"id": item_id, "name": "lamp" if with_name else None}


def test_tools_are_asked_by_line(command):
    agent = command(
        "say({'call': 'uir.get_item', 'args': [context['item']], 'kwargs': {'with_name': True}})\n"
        "say([context['uir'], json.loads(sys.stdin.readline())])"
    )
    uir = Store()
    assert agent({"uir": uir, "item": "i7"}) == [None, {"result": {"id": "i7", "name": "lamp"}}]
    assert agent({"uir": uir, "item": "none"})[1] == {
        "error": {"type": "KeyError", "args": ["no such item"]}
    }


@pytest.mark.parametrize("call", ["uir.secret", "uir.__class__", "other.get_item", "get_item"])
def test_only_listed_methods_of_tools_are_called(command, call):
    agent = command("say({'call': context['call']})\nsay(json.loads(sys.stdin.readline()))")
    error = agent({"uir": Store(), "call": call})["error"]
    assert error["type"] == "AttributeError"
    assert "expected a call of uir.get_item" in error["args"][0]


def test_without_tools_an_object_with_a_call_is_an_answer(command):
    assert command("say({'call': 'me'})")({}) == {"call": "me"}


def test_threads_have_a_process_each(command):
    agent = command(
        "open(f'asked-{os.getpid()}', 'w').close()\n"
        "while sum(name.startswith('asked-') for name in os.listdir()) < 3: time.sleep(0.01)\n"
        "say(os.getpid())"
    )
    assert len(set(asked_at_once(agent, 3))) == 3


def test_close_lets_the_command_end_by_itself(command, tmp_path):
    agent = command("say(os.getpid())", start=LOOP)
    path = tmp_path / "program.py"
    path.write_text(path.read_text() + "open('ended', 'w').close()\n")
    pid = agent(1)
    agent.close()
    assert (tmp_path / "ended").exists()
    assert gone(pid)
    with pytest.raises(RuntimeError, match="the agent was closed"):
        agent(1)


def test_close_ends_a_command_that_will_not(command, monkeypatch):
    monkeypatch.setattr("pytest_agentbench.agents.process.agent.GRACE", 0.2)
    agent = command("say(os.getpid())\ntime.sleep(600)")
    pid = agent(1)
    agent.close()
    assert gone(pid)


def test_the_digest_is_of_the_command_and_its_files(tmp_path):
    program = tmp_path / "agent.py"
    program.write_text("1")
    first = CommandAgent(f"{sys.executable} agent.py", tmp_path).digest
    assert CommandAgent(f"{sys.executable} agent.py", tmp_path).digest == first
    assert CommandAgent(f"{sys.executable} agent.py -v", tmp_path).digest != first
    program.write_text("2")
    assert CommandAgent(f"{sys.executable} agent.py", tmp_path).digest != first


@pytest.mark.parametrize(
    ("command_line", "message"),
    [
        ("", "expected a command, such as cmd:./agent --json; got none"),
        ("./a 'b", r"expected a command as a shell would read it \(No closing quotation\)"),
        ("no-such-program-here x", "expected a program in PATH, got 'no-such-program-here'"),
        ("./missing", "expected a program, got no such file: .*missing"),
        ("./plain.txt", "got a file that is not executable: .*plain.txt"),
    ],
)
def test_a_command_that_cannot_be_started_is_refused_at_once(tmp_path, command_line, message):
    (tmp_path / "plain.txt").write_text("")
    with pytest.raises(BenchmarkError, match=message):
        CommandAgent(command_line, tmp_path)


def test_the_example_answers():
    agent = CommandAgent(f"{sys.executable} command_agent.py", EXAMPLES, timeout=20)
    context = {
        "uid": 3,
        "history": [[0, 5, 7, 8], [1, 5, 7, 8], [1, 6, 1, 2]],
        "targets": [[2, 5], [2, 9]],
    }
    assert agent(context) == [[2, 5, 7, 8], [2, 9, 7, 8]]
    assert agent.last_output[1] == "asked about 3\n"
    agent.close()
