"""An agent in a process of its own: what it cannot see, and what it can do without harm."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import date
from pathlib import Path

import pytest

from pytest_agentbench.agents import wire
from pytest_agentbench.agents.calling import AgentTimeout
from pytest_agentbench.agents.errors import AgentCrashed, RemoteAgentError
from pytest_agentbench.agents.isolation import IsolatedAgent
from pytest_agentbench.agents.surroundings import IsolationOptions, allowed
from pytest_agentbench.agents.usage import CURRENT, Usage
from pytest_agentbench.benchmarks.protocol import BenchmarkError, Sample, SampleKey

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process isolation needs POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def isolated(tmp_path):
    """Makes agents of source text, and closes them."""
    made = []

    def isolated(source, spec="agent.py", timeout=20.0, llm=None, **options):
        (tmp_path / "agent.py").write_text(textwrap.dedent(source), encoding="utf-8")
        made.append(IsolatedAgent(spec, [tmp_path], IsolationOptions(**options), timeout, llm))
        return made[-1]

    yield isolated
    for agent in made:
        agent.close()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One agent for many tests: runs the statements in the context, and answers with ``answer``."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "agent.py").write_text(
        "import ctypes, os, re, signal, stat, struct, sys, time\n"
        "def agent(context):\n"
        "    scope = {**globals(), 'context': context, 'answer': os.getpid()}\n"
        "    exec(context['do'], scope)\n"
        "    return scope['answer']\n"
    )
    agent = IsolatedAgent("agent.py", [folder], timeout=20.0)

    def runs(do, timeout=None, **context):
        return agent({"do": textwrap.dedent(do), **context}, timeout)

    runs.agent = agent
    yield runs
    agent.close()


def gone(pid):
    """Whether a process ends within a few seconds; a zombie has ended."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


# The shapes of agents, and what travels.

SHAPES = {
    "function": "def agent(context): return context + 1",
    "coroutine": """
        import asyncio
        async def agent(context):
            await asyncio.sleep(0)
            return context + 1
    """,
    "forward": """
        class Mine:
            def forward(self, context): return context + 1
    """,
    "async forward": """
        class Mine:
            async def forward(self, context): return context + 1
        mine = Mine()
    """,
}


@pytest.mark.parametrize("source", SHAPES.values(), ids=SHAPES)
def test_every_shape_answers(isolated, source):
    agent = isolated(source)
    assert [agent(1), agent(2)] == [2, 3]


def test_one_child_answers_all_calls_of_a_thread_and_it_is_not_this_process(isolated):
    agent = isolated("import os\ndef agent(context): return os.getpid()")
    pids = {agent(n) for n in range(5)}
    assert len(pids) == 1
    assert pids != {os.getpid()}


def test_threads_have_a_child_each(isolated):
    agent = isolated("import os, time\ndef agent(context): time.sleep(0.5); return os.getpid()")
    pids = []
    threads = [threading.Thread(target=lambda: pids.append(agent(0))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(pids)) == 3


CONTEXTS = [None, {}, [1, 2.5, "é\ud800\u2028"], {"a": {"b": [None, True]}}, ["x" * 3_000_000]]


@pytest.mark.parametrize("context", CONTEXTS, ids=["none", "empty", "list", "nested", "3 MB"])
def test_json_arrives_as_it_was_sent(runs, context):
    assert runs("answer = context['it']", it=context) == context


def test_numpy_and_dates_arrive_as_plain_values(runs):
    np = pytest.importorskip("numpy")
    sent = {"a": np.arange(3), "b": np.int64(7), "c": date(2020, 1, 2), "d": (1, 2)}
    assert runs("answer = context['it']", it=sent) == {
        "a": [0, 1, 2],
        "b": 7,
        "c": "2020-01-02",
        "d": [1, 2],
    }


def test_a_context_that_cannot_travel_is_an_error_here(isolated):
    with pytest.raises(
        TypeError,
        match=r"expected JSON or, as the value of a dict's key, a tool .* got builtins.object",
    ):
        isolated("def agent(context): return 1")({"a": object()})


ODD_ANSWERS = {
    "import numpy; answer = numpy.arange(3)": [0, 1, 2],
    "answer = {(1, 2): {3}}": {"(1, 2)": {"<set>": [3]}},
    "answer = float('inf')": float("inf"),
    "answer = b'x'": {"<bytes>": "b'x'"},
    "answer = [10 ** 5000, '\\ud800']": [{"<int>": hex(10**5000)}, "\ud800"],
}


@pytest.mark.parametrize("do", ODD_ANSWERS)
def test_odd_answers_arrive_as_a_record_would_keep_them(runs, do):
    assert runs(do) == ODD_ANSWERS[do]


@pytest.mark.parametrize(
    "do", ["answer.append(answer)", "for _ in range(99999): answer = [answer]"]
)
def test_an_answer_without_a_bottom_does_no_harm(runs, do):
    assert "too deep" in str(runs(f"answer = []\n{do}"))
    assert runs("answer = 'fine'") == "fine"


# Tools.


class Store:
    agentbench_methods = ("get_user", "get_reviews")

    def __init__(self, truth="the truth"):
        self.truth = truth
        self.asked = []

    def get_user(self, user_id):
        self.asked.append(user_id)
        if user_id == "nobody":
            raise KeyError(f"no user {user_id}")
        return {"user_id": user_id}

    def get_reviews(self, item_id=None, *, before=None):
        return [item_id, before]

    def forget(self):
        self.truth = None


class City(dict):
    agentbench_methods = ("place",)

    def place(self, number):
        return {"id": number, "home": self["home"]}


ALL_OF_THEM = """
import datetime
def agent(context):
    uir, city = context["uir"], context["deep"]["city"]
    return [uir.get_user("u1"), uir.get_reviews("i1", before=datetime.date(2020, 1, 2)),
            city["home"], city.place(4), isinstance(city, dict), sorted(city)]
"""


def test_tools_stay_here_and_are_asked_from_there(isolated):
    agent = isolated(ALL_OF_THEM)
    store = Store()
    context = {"uir": store, "deep": {"city": City(home=9)}}
    assert agent(context) == [
        {"user_id": "u1"}, ["i1", "2020-01-02"], 9, {"id": 4, "home": 9}, True, ["home"],
    ]  # fmt: skip
    assert store.asked == ["u1"]
    assert context["uir"] is store


def test_the_same_agent_works_with_and_without_isolation(isolated):
    agent = isolated(ALL_OF_THEM.replace("datetime.date(2020, 1, 2)", "'2020-01-02'"))
    namespace = {}
    exec(ALL_OF_THEM.replace("datetime.date(2020, 1, 2)", "'2020-01-02'"), namespace)

    def context():
        return {"uir": Store(), "deep": {"city": City(home=9)}}

    assert agent(context()) == namespace["agent"](context())


def test_an_error_of_a_tool_is_raised_in_the_agent(isolated):
    agent = isolated(
        """
        def agent(context):
            try: context["uir"].get_user("nobody")
            except KeyError as error: return error.args
        """
    )
    assert agent({"uir": Store()}) == ["no user nobody"]


@pytest.mark.parametrize("name", ["truth", "forget", "_truth", "asked", "__self__"])
def test_a_stub_offers_exactly_the_listed_methods(runs, name):
    store = Store()
    with pytest.raises(
        RemoteAgentError, match=r"expected a method of uir \(get_user, get_reviews\)"
    ):
        runs(f"answer = context['uir'].{name}", uir=store)
    assert store.truth == "the truth"


@pytest.mark.parametrize(
    "call", ["uir.truth", "uir.forget", "uir.__init__", "uir.get_user.__globals__", "x.y", ""]
)
def test_a_forged_call_reaches_only_listed_methods(runs, call):
    expected = r"expected a call of uir.get_user, uir.get_reviews; got"
    with pytest.raises(RemoteAgentError, match=expected):
        runs(f"context['uir']._ask({call!r}, (), {{}})", uir=Store())


def test_a_tool_asked_after_its_call_is_refused_and_later_calls_are_in_step(isolated):
    agent = isolated(
        """
        kept = []
        def agent(context):
            kept.append(context["uir"])
            return kept[0].get_user("u")
        """
    )
    assert agent({"uir": Store()}) == {"user_id": "u"}
    for _ in range(2):
        with pytest.raises(RemoteAgentError, match="take the tool from each context anew"):
            agent({"uir": Store()})


def test_tools_can_be_asked_from_many_threads_of_the_agent(isolated):
    agent = isolated(
        """
        from concurrent.futures import ThreadPoolExecutor
        def agent(context):
            with ThreadPoolExecutor(8) as threads:
                users = list(threads.map(context["uir"].get_user, range(200)))
            return users == [{"user_id": n} for n in range(200)]
        """
    )
    assert agent({"uir": Store()}) is True


def test_a_context_with_tools_can_be_copied(isolated):
    agent = isolated(
        """
        import copy
        def agent(context):
            other = copy.deepcopy(context)
            other["city"]["home"] = 0
            return [other["uir"].get_user(1), other["city"].place(2), context["city"]["home"]]
        """
    )
    assert agent({"uir": Store(), "city": City(home=5)}) == [
        {"user_id": 1}, {"id": 2, "home": 5}, 5,
    ]  # fmt: skip


# The model.


class Model:
    """Stands for agents.llm.LLM, which is tested by itself."""

    agentbench_methods = ("texts",)

    def __init__(self, texts):
        self.texts = texts


ASKS = """
import asyncio
async def agent(context, llm):
    asked = (llm.atext_request([{"role": "user", "content": str(n)}]) for n in range(context))
    return await asyncio.gather(*asked)
"""


def test_the_model_is_asked_here_as_often_at_once_as_the_agent_asks(isolated):
    together = threading.Barrier(3)

    def texts(messages, options, defaults):
        together.wait(10)
        CURRENT.get().add(input_tokens=5)
        return [f"about {messages[0]['content']}"]

    agent = isolated(ASKS, llm=Model(texts))
    usage = Usage()
    token = CURRENT.set(usage)
    try:
        assert agent(3) == ["about 0", "about 1", "about 2"]
    finally:
        CURRENT.reset(token)
    assert usage.counts == {"input_tokens": 15}


def test_without_a_model_the_agent_is_told_so(isolated):
    with pytest.raises(RemoteAgentError, match="the agent asks a model, and none is configured"):
        isolated(ASKS)(1)


def test_an_error_of_the_model_is_raised_in_the_agent_and_still_known_as_transient(isolated):
    class TooMany(Exception):
        status, transient = 429, True

    def texts(messages, options, defaults):
        raise TooMany("slow down")

    with pytest.raises(RemoteAgentError, match="slow down") as caught:
        isolated(ASKS, llm=Model(texts))(1)
    assert (caught.value.transient, caught.value.status) == (True, 429)


def test_a_slow_model_does_not_hold_up_the_timeout(isolated):
    answer = threading.Event()
    agent = isolated(ASKS, llm=Model(lambda *_: [str(answer.wait(20))]))
    with pytest.raises(AgentTimeout):
        agent(1, timeout=0.3)
    answer.set()
    assert agent(1) == ["True"]


def test_what_ends_the_run_there_ends_it_here(isolated):
    class Spent(BaseException):
        pass

    def texts(messages, options, defaults):
        raise Spent("the budget")

    with pytest.raises(Spent, match="the budget"):
        isolated(ASKS, llm=Model(texts))(1)


def test_a_question_to_the_model_that_nobody_waits_for_disturbs_no_later_call(isolated):
    answer = threading.Event()
    agent = isolated(
        """
        import threading
        def agent(context, llm):
            if context == "leave":
                threading.Thread(target=llm.text_request, args=("hello",), daemon=True).start()
            elif context == "ask":
                return llm.text_request("hello")
            return context
        """,
        llm=Model(lambda *_: [str(answer.wait(20))]),
    )
    assert agent("leave") == "leave"
    assert [agent(n) for n in range(3)] == [0, 1, 2]
    answer.set()
    assert agent("ask") == "True"
    assert agent(3) == 3


def test_an_agent_of_asbench_works_in_the_child():
    example = Path(__file__).resolve().parents[2] / "examples" / "asbench_agent.py"
    agent = IsolatedAgent(str(example), [Path.cwd()], timeout=20)

    class Reviews:
        agentbench_methods = ("get_reviews",)

        def get_reviews(self, item_id=None, user_id=None):
            return [{"stars": 2}] * (item_id == "b")

    context = {"target": "recommendation", "candidate_list": ["a", "b"], "uir": Reviews()}
    assert agent(context) == {"item_list": ["b", "a"]}
    agent.close()


# Errors, crashes and hangs.


def test_an_exception_comes_back_with_its_type_message_and_traceback(isolated):
    agent = isolated(
        """
        import json
        def _helper(text): return json.loads(text)
        async def agent(context): return _helper(context)
        """
    )
    with pytest.raises(RemoteAgentError) as caught:
        agent("{")
    error = caught.value
    assert str(error).startswith("JSONDecodeError: Expecting property name")
    assert error.types[:2] == ("json.decoder.JSONDecodeError", "ValueError")
    assert 'agent.py", line 3, in _helper' in error.traceback
    assert "pytest_agentbench" not in error.traceback
    assert not error.transient
    assert agent("[1]") == [1]


RAISES = """
from pytest_agentbench.agents.errors import TransientError
class Status(Exception):
    status_code = 429
raise """


@pytest.mark.parametrize(
    ("kind", "transient", "status", "retry_after"),
    [
        ("TransientError('later', retry_after=3)", True, None, 3),
        ("ConnectionResetError()", True, None, None),
        ("Status('slow down')", True, 429, None),
        ("ValueError('no')", False, None, None),
    ],
)
def test_an_error_that_may_pass_is_known_as_such(runs, kind, transient, status, retry_after):
    with pytest.raises(RemoteAgentError) as caught:
        runs(RAISES + kind)
    error = caught.value
    assert (error.transient, error.status, error.retry_after) == (transient, status, retry_after)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("sys.exit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise Odd", "Odd: <its text could not be made: ZeroDivisionError>"),
        ("_deep(1)", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_whatever_is_raised_the_child_lives_on(runs, act, said):
    pid = runs("")
    with pytest.raises(RemoteAgentError) as caught:
        runs(
            f"""
            class Odd(Exception):
                def __str__(self): return 1 / 0
            def _deep(n): return _deep(n + 1) + 1
            {act}
            """
        )
    assert str(caught.value).startswith(said)
    assert runs("") == pid


CRASHES = {
    "segfault": (
        "ctypes.string_at(1)",
        r"killed by SIGSEGV \(signal 11\)[\s\S]*in string_at",
    ),
    "exit": (
        "print('bye', file=sys.stderr); os._exit(7)",
        r"ended with exit code 7 instead of answering[\s\S]*bye",
    ),
    "exit 0": ("os._exit(0)", "ended with exit code 0 instead of answering"),
    "kill": (
        "os.kill(os.getpid(), 9)",
        r"killed by SIGKILL \(signal 9; is the machine out of memory",
    ),
    "abort": ("os.abort()", r"killed by SIGABRT"),
    "closed": (
        "os.closerange(3, 99)",
        r"ended with exit code 1 instead of answering[\s\S]*Bad file descriptor",
    ),
}


@pytest.mark.parametrize(("act", "said"), CRASHES.values(), ids=CRASHES)
def test_a_crash_fails_one_call_and_the_next_has_a_new_child(runs, act, said):
    pid = runs("")
    with pytest.raises(AgentCrashed, match=rf"the agent's process (was |){said}"):
        runs(f"print('working'); {act}")
    assert runs.agent.last_output[0] == "working\n"
    assert gone(pid)
    assert runs("") != pid


def test_a_child_that_died_between_calls_is_replaced_unnoticed(isolated):
    agent = isolated("import os\ndef agent(context): return os.getpid()")
    pid = agent(0)
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    assert agent(0) != pid


@linux
def test_memory_is_limited_and_a_child_that_ran_out_is_replaced(isolated):
    agent = isolated(
        """
        import os
        def agent(context):
            return len(bytearray(context)) and os.getpid()
        """,
        memory=400 << 20,
    )
    pid = agent(1 << 20)
    with pytest.raises(RemoteAgentError, match="MemoryError"):
        agent(600 << 20)
    other = agent(1 << 20)
    assert other != pid


@linux
def test_memory_that_runs_out_little_by_little_is_contained_too(isolated):
    agent = isolated(
        """
        kept = []
        def agent(context):
            while context: kept.append(bytes(100_000)); kept.append([0] * 50)
            return len(kept)
        """,
        memory=300 << 20,
    )
    with pytest.raises((RemoteAgentError, AgentCrashed)):
        agent(1)
    assert agent(0) == 0


HANGS = {
    "regex": "re.match(r'(a+)+$', 'a' * 64 + 'b')",  # C code that holds the interpreter's lock
    "sleep": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); time.sleep(600)",
    "python": "while True: pass",
    "catches": "while True:\n  try: time.sleep(1)\n  except BaseException: pass",
}


@pytest.mark.parametrize("act", HANGS.values(), ids=HANGS)
def test_a_hang_is_killed_and_the_next_call_has_a_new_child(runs, act):
    pid = runs("")
    with pytest.raises(AgentTimeout, match=r"no answer within 0.3 s"):
        runs(f"print('before')\n{act}", timeout=0.3)
    assert runs.agent.last_output == ("before\n", "")
    assert gone(pid)
    assert runs("") != pid


def test_what_the_agent_started_ends_with_it(isolated):
    agent = isolated(
        """
        import os, subprocess
        def agent(context):
            helper = subprocess.Popen(["sleep", "600"])
            if context: os._exit(1)
            return helper.pid
        """
    )
    pid = agent(0)
    with pytest.raises(AgentCrashed):
        agent(1)
    assert gone(pid)


@linux
def test_the_child_ends_when_its_parent_is_killed_and_leaves_no_files(tmp_path):
    (tmp_path / "agent.py").write_text(
        "import os, time\n"
        "def agent(context):\n"
        "    open('left', 'w').close()\n"
        "    time.sleep(context)\n"
        "    return [os.getpid(), os.getcwd()]\n"
    )
    script = (
        "import sys; from pathlib import Path\n"
        "from pytest_agentbench.agents.isolation import IsolatedAgent\n"
        "agent = IsolatedAgent('agent.py', [Path(sys.argv[1])])\n"
        "print(*agent(0), flush=True)\n"
        "agent(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    pid, folder = parent.stdout.readline().split()
    parent.kill()
    parent.communicate()
    assert gone(int(pid))
    # A confined child may not remove the folder itself, which is an entry of the one above.
    assert not any(Path(folder).glob("*"))


FORGERIES = {
    "not a frame": "b'hello, this is not a frame at all'",
    "not JSON": "b'\\x00\\x00\\x00\\x03{{{'",
    "not an object": "b'\\x00\\x00\\x00\\x02[]'",
    "huge": "b'\\xff\\xff\\xff\\xff'",
    "nested": "struct.pack('>I', 200_000) + b'[' * 200_000",
}


@pytest.mark.parametrize("data", FORGERIES.values(), ids=FORGERIES)
def test_bytes_that_an_agent_forges_end_its_child_only(runs, data):
    with pytest.raises(
        AgentCrashed, match="the agent's process wrote to the connection of its parent"
    ):
        runs(
            f"""
            for fd in os.listdir("/dev/fd"):
                try:
                    if stat.S_ISSOCK(os.fstat(int(fd)).st_mode): os.write(int(fd), {data})
                except OSError: pass
            time.sleep(60)
            """
        )
    assert runs("answer = 'fine'") == "fine"


# Output.


def test_output_is_kept_for_each_call_and_does_not_disturb_the_answers(isolated):
    agent = isolated(
        """
        import ctypes, os, sys
        print("at import")
        def agent(context):
            print("printed", context, "é")
            os.write(1, b"raw\\n")
            ctypes.CDLL(None).write(1, b"from C\\n", 7)
            sys.stderr.write("partial")
            os.system("echo from a shell")
            return context
        """
    )
    assert agent(1) == 1
    assert agent.last_output == ("at import\nprinted 1 é\nraw\nfrom C\nfrom a shell\n", "partial")
    assert agent(2) == 2
    assert agent.last_output == ("printed 2 é\nraw\nfrom C\nfrom a shell\n", "partial")


def test_a_flood_of_output_is_cut_to_its_end(isolated):
    agent = isolated("def agent(context): print('x' * 5_000_000); print('end'); return 1")
    assert agent(0) == 1
    out = agent.last_output[0]
    assert out.endswith("xxx\nend\n")
    assert out.startswith("... (")
    assert len(out) < 70_000


def test_an_agent_that_closes_its_streams_still_answers(isolated):
    agent = isolated(
        """
        import os, sys
        def agent(context):
            sys.stdout.close(); sys.stderr = None; os.close(0)
            return "still here"
        """
    )
    assert agent(0) == "still here"


def test_reading_standard_input_finds_nothing(isolated):
    assert isolated("import sys\ndef agent(context): return sys.stdin.read()")(0) == ""


def test_usage_is_counted_here(isolated):
    agent = isolated(
        """
        from pytest_agentbench.agents.usage import CURRENT
        async def agent(context):
            CURRENT.get().add(input_tokens=context, cost=0.5)
            CURRENT.get().said("user", "hello")
            return 1
        """
    )
    usage = Usage()
    token = CURRENT.set(usage)
    try:
        agent(10)
        agent(5)
    finally:
        CURRENT.reset(token)
    assert usage.counts == {"input_tokens": 15, "cost": 1.0}
    assert usage.messages == [{"role": "user", "content": "hello"}] * 2


# Loading, place and environment.


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def agent(context: return 1", r"importing .*agent.py failed: SyntaxError"),
        (
            "import no_such_module\ndef agent(c): ...",
            r"importing .*agent.py failed: ModuleNotFoundError",
        ),
        ("x = 1", "expected a function .* in agent.py, got none"),
    ],
)
def test_an_agent_that_cannot_be_loaded_says_why_before_any_question(isolated, source, message):
    with pytest.raises(BenchmarkError, match=message):
        isolated(source).start()


def test_a_crash_while_importing_is_told_as_such(isolated):
    agent = isolated("import os, sys\nprint('no luck', file=sys.stderr)\nos._exit(4)")
    with pytest.raises(
        AgentCrashed, match=r"ended with exit code 4 while it imported agent.py[\s\S]*no luck"
    ):
        agent(0)


def test_an_import_without_end_is_given_up(isolated):
    agent = isolated("import time\ntime.sleep(600)", start_timeout=0.5)
    with pytest.raises(AgentCrashed, match=r"importing agent.py took longer than 0.5 s"):
        agent(0)


def test_the_time_of_imports_is_not_the_agents(isolated):
    agent = isolated("import time\ntime.sleep(0.6)\ndef agent(context): return 1", timeout=0.4)
    assert agent(0) == 1


def test_builtin_agents_are_refused():
    with pytest.raises(
        BenchmarkError, match="expected an agent of the user's own, got 'builtin:x'"
    ):
        IsolatedAgent("builtin:x", [])


def test_a_module_is_found_as_it_is_here(isolated, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mod_of_agent.py").write_text("def answer(context): return 'mod'\n")
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    assert isolated("", spec="mod_of_agent:answer")(0) == "mod"


def test_the_digest_comes_from_the_child_and_the_agent_is_not_imported_here(isolated, tmp_path):
    import hashlib

    agent = isolated("def agent(context): return 1")
    assert agent.digest == hashlib.sha256((tmp_path / "agent.py").read_bytes()).hexdigest()
    assert not [
        name
        for name in sys.modules
        if name.startswith("agentbench_agent_agent_") and str(tmp_path) in str(sys.modules[name])
    ]


def test_the_working_directory_is_empty_its_own_and_removed(isolated):
    agent = isolated(
        """
        import os
        def agent(context):
            before = os.listdir()
            open("left", "w").close()
            return [os.getcwd(), before]
        """
    )
    place, before = agent(0)
    assert before == []
    assert Path(place) != Path.cwd()
    agent.close()
    assert not Path(place).exists()


def test_a_working_directory_of_the_users_stays(isolated, tmp_path):
    agent = isolated("import os\ndef agent(context): return os.getcwd()", cwd=tmp_path)
    assert agent(0) == str(tmp_path.resolve())
    agent.close()
    assert tmp_path.exists()


def test_the_environment_is_what_is_allowed(isolated, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OTHER_TOKEN", "secret")
    monkeypatch.setenv("LC_TIME", "C")
    agent = isolated(
        "import os\ndef agent(context): return dict(os.environ)", environment=("OPENAI_API_KEY",)
    )
    environment = agent(0)
    assert environment["OPENAI_API_KEY"] == "sk-secret"
    assert environment["PATH"] == os.environ["PATH"]
    assert environment["LC_TIME"] == "C"
    assert "OTHER_TOKEN" not in environment
    assert "PYTEST_CURRENT_TEST" not in environment


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "HF_TOKEN", "HTTPS_PROXY", "AWS_SECRET_ACCESS_KEY"]
)
def test_keys_are_not_given_unless_listed(name):
    assert allowed({name: "x", "PATH": "p"}) == {"PATH": "p"}
    assert allowed({name: "x"}, [name]) == {name: "x"}


# The truth.

SEARCH = '''
"""Looks for texts such as TRUTH-0123456789abcdef... wherever this process can reach."""
import gc, os, re, sys
from pathlib import Path

# In two parts, so that no text here looks like one.
PATTERN = re.compile("(?:TRUTH|BAIT)" + "-[0-9a-f]{32}")
RAW = re.compile(PATTERN.pattern.encode())

def _texts():
    """Every str and bytes that can be reached from any object."""
    seen, queue = set(), gc.get_objects()
    while queue:
        thing = queue.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, str):
            yield thing.encode("utf-8", "replace")
        elif isinstance(thing, (bytes, bytearray)):
            yield bytes(thing)
        else:
            queue.extend(gc.get_referents(thing))

def _files():
    yield from map(os.fsencode, sys.argv)
    yield repr(dict(os.environ)).encode()
    for name in os.listdir():
        if os.path.isfile(name):
            yield Path(name).read_bytes()
    if not os.path.isdir("/proc/self"):
        return
    for name in ("cmdline", "environ"):
        yield Path(f"/proc/self/{name}").read_bytes()
    for fd in os.listdir("/proc/self/fd"):
        try:
            where = os.readlink(f"/proc/self/fd/{fd}")
            yield where.encode()
            if where.startswith("/") and os.path.isfile(where):
                yield Path(where).read_bytes()
        except OSError:
            pass

def _memory():
    """Every byte of this process, reachable or not."""
    if not os.path.exists("/proc/self/mem"):
        return
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as mem:
        for line in list(maps):
            span, rights = line.split()[:2]
            if "r" in rights and "[v" not in line:
                start, end = (int(part, 16) for part in span.split("-"))
                try:
                    mem.seek(start)
                    yield mem.read(end - start)
                except (OSError, ValueError, OverflowError):
                    pass

def agent(context):
    for tool in ("uir",):
        context[tool].get_user("u1")
    found = {}
    for place in (_texts, _files, _memory):
        kinds = {match.split(b'-')[0] for text in place() for match in RAW.findall(text)}
        found[place.__name__.strip('_')] = sorted(kind.decode() for kind in kinds)
    return found
'''


@linux
def test_the_truth_is_nowhere_in_the_child(isolated, monkeypatch):
    truth, bait = (f"{kind}-{secrets.token_hex(16)}" for kind in ("TRUTH", "BAIT"))
    monkeypatch.setenv("AGENTBENCH_TEST_TRUTH", truth)
    context = {"uir": Store(truth), "profile": {"name": bait}}
    sample = Sample(SampleKey("uid", "1"), context, {"answer": truth})
    found = isolated(SEARCH)(sample.context)
    # The bait is there to show that the search finds what is to be found.
    assert found == {"texts": ["BAIT"], "files": [], "memory": ["BAIT"]}


@linux
def test_the_same_search_finds_the_truth_in_a_process_that_holds_it(tmp_path):
    truth = f"TRUTH-{secrets.token_hex(16)}"
    (tmp_path / "search.py").write_text(SEARCH)
    script = (
        "import os; from types import SimpleNamespace; from search import agent\n"
        "store = SimpleNamespace(truth=os.environ['HELD'], get_user=print)\n"
        "print(agent({'uir': store}))"
    )
    environment = {**os.environ, "HELD": truth, "PYTHONPATH": str(tmp_path)}
    found = subprocess.check_output(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, text=True
    )
    assert found == "u1\n{'texts': ['TRUTH'], 'files': ['TRUTH'], 'memory': ['TRUTH']}\n"


def test_what_one_call_was_told_is_gone_in_the_next(isolated):
    agent = isolated(
        """
        import gc
        def agent(context):
            gc.collect()
            return sum(1 for thing in gc.get_objects() if type(thing) is dict and "marked" in thing)
        """
    )
    assert agent({"marked": 1, "n": [1]}) == 1
    assert agent({"n": [2]}) == 0


def test_a_child_is_no_fork_and_knows_no_benchmark(isolated):
    agent = isolated(
        "import sys\ndef agent(context): return [m for m in sys.modules if 'agentbench' in m or m == 'pytest']"
    )
    modules = agent(0)
    assert "pytest_agentbench.agents.child" in modules
    assert "pytest" not in modules
    assert [m for m in modules if ".benchmarks." in m] == ["pytest_agentbench.benchmarks.protocol"]


def test_close_lets_the_agent_end_by_itself(isolated, tmp_path):
    agent = isolated(
        f"""
        import atexit, os
        atexit.register(lambda: open({str(tmp_path / "ended")!r}, "w").close())
        def agent(context): return os.getpid()
        """,
        cwd=tmp_path,
    )
    pid = agent(0)
    agent.close()
    assert (tmp_path / "ended").exists()
    assert gone(pid)
    agent.close()
    with pytest.raises(RuntimeError, match="the agent was closed"):
        agent(0)


def test_close_ends_a_call_that_is_under_way(isolated):
    agent = isolated("import time\ndef agent(context): time.sleep(600)", timeout=None)
    errors = []

    def ask():
        try:
            agent(0)
        except AgentCrashed as error:
            errors.append(error)

    agent.start()
    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    agent.close()
    thread.join(10)
    assert not thread.is_alive()
    assert len(errors) == 1


def test_an_interrupted_call_leaves_no_answer_for_the_next(isolated):
    source = "import time\ndef agent(context): time.sleep(5 * (context == 'first')); return context"
    agent = isolated(source)
    agent.start()
    timer = threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        agent("first")
    timer.join()
    assert agent("second") == "second"


# What travels, by itself.


def test_frames_come_out_as_they_went_in_however_they_are_cut():
    payloads = [b"", b"{}", b"x" * 70_000]
    stream = b"".join(wire.framed(payload) for payload in payloads)
    buffer, found = bytearray(), []
    for start in range(0, len(stream), 7):
        buffer += stream[start : start + 7]
        while (payload := wire.take_frame(buffer)) is not None:
            found.append(payload)
    assert found == payloads
    assert not buffer


PLAIN = [
    None,
    True,
    1,
    1.5,
    "é\ud800",
    [],
    {},
    [[1, 2], [3, 4]],
    {"a": [{"b": [None, 1]}], "c": {}},
]


@pytest.mark.parametrize("message", PLAIN, ids=str)
def test_plain_messages_to_a_child_take_the_short_way_and_arrive_the_same(message):
    packed = wire.packed(message)
    assert packed[:1] == b"\0"
    assert wire.unpacked(packed) == message


def test_messages_that_only_json_makes_plain_go_as_json():
    np = pytest.importorskip("numpy")
    for message, arrives in (
        ({"a": [1, np.int64(2)]}, {"a": [1, 2]}),
        ({"a": np.arange(2)}, {"a": [0, 1]}),
        ([(1, 2)], [[1, 2]]),
        ({1: "a"}, {"1": "a"}),
        (City(home=1), {"home": 1}),
    ):
        packed = wire.packed(message)
        assert packed[:1] != b"\0"
        assert wire.unpacked(packed) == arrives


def test_a_context_without_a_bottom_is_an_error():
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        wire.packed(endless)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"expected one tool called 'a\.b' in a context, got two"):
        wire.split({"a": {"b": Store()}, "a.b": Store()})


def test_async_callers_can_use_it_through_threads(isolated):
    agent = isolated("import time\ndef agent(context): time.sleep(0.1); return context")

    async def ask():
        return await asyncio.gather(*(asyncio.to_thread(agent, n) for n in range(3)))

    assert asyncio.run(ask()) == [0, 1, 2]
