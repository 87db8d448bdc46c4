"""Confinement: what a hostile agent finds when it looks for the truth everywhere, and what it can change."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from pytest_agentbench.agents.errors import AgentCrashed
from pytest_agentbench.agents.process import bubblewrap, landlock, sandbox, supervisor
from pytest_agentbench.agents.process.command import CommandAgent
from pytest_agentbench.agents.process.isolated import IsolatedAgent
from pytest_agentbench.agents.process.landlock import Policy
from pytest_agentbench.agents.process.process import Ended, Process
from pytest_agentbench.agents.process.sandbox import Confinement, IsolationOptions

linux = pytest.mark.skipif(sys.platform != "linux", reason="confinement is of Linux")
PACKAGE = Path(sandbox.__file__).parents[2]


@pytest.mark.parametrize(
    ("abi", "bwrap", "expected"),
    [
        ((7, ""), None, "landlock (ABI 7)"),
        ((0, "operation not supported"), None,
         "none (Landlock: operation not supported; bubblewrap: not installed)"),
        ((1, "ABI 1, and 3 is needed"), "#!/bin/sh\necho 'bwrap: no namespaces' >&2; exit 1",
         "none (Landlock: ABI 1, and 3 is needed; bubblewrap: bwrap: no namespaces)"),
        ((0, "x"), "#!/bin/sh\necho bubblewrap 9.9", "bubblewrap (9.9)"),
    ],
)  # fmt: skip
@linux
def test_what_is_available_is_said_with_the_reason(tmp_path, monkeypatch, abi, bwrap, expected):
    monkeypatch.setattr(landlock, "abi", lambda: abi)
    monkeypatch.setenv("PATH", str(tmp_path))
    if bwrap:
        (tmp_path / "bwrap").write_text(bwrap)
        (tmp_path / "bwrap").chmod(0o755)
    assert str(sandbox.available.__wrapped__()) == expected


def test_other_systems_have_none(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert str(sandbox.available.__wrapped__()) == "none (Landlock and bubblewrap are of Linux)"


# The real thing.


def means(kind):
    """Why this machine does not have it; None if it does."""
    if sys.platform != "linux":
        return "confinement is of Linux"
    if kind == "landlock":
        abi, why_not = landlock.abi()
        return None if abi >= 3 else f"Landlock: {why_not}"
    if kind == "bubblewrap":
        if shutil.which("bwrap") is None:
            return "bubblewrap is not installed"
        tried = subprocess.run(
            bubblewrap.confined("bwrap", ["true"], Policy((Path("/"),))),
            capture_output=True,
            text=True,
        )
        return tried.stderr.strip() or None
    return None


@pytest.fixture(params=["landlock", "bubblewrap"])
def kind(request, monkeypatch):
    why_not = means(request.param)
    if why_not:
        pytest.skip(why_not)
    monkeypatch.setattr(sandbox, "available", lambda: Confinement(request.param, "test"))
    return request.param


@pytest.fixture
def unconfined(monkeypatch):
    monkeypatch.setattr(sandbox, "available", lambda: Confinement("none", "test"))


# Each way is a function of the context that returns what it read, or raises.
WAYS = """
import ctypes, gc, inspect, os, struct, subprocess, sys
from pathlib import Path

def _arguments(context):
    return repr(context) + repr(sys.argv) + repr(dict(os.environ))

def _frames(context):
    frame, seen = sys._getframe(), []
    while frame is not None:
        seen.append(repr(frame.f_locals) + repr(frame.f_globals.keys()))
        frame = frame.f_back
    return "".join(seen) + repr([info.frame.f_locals for info in inspect.stack()])

def _objects(context):
    return "".join(repr(t) for t in gc.get_objects() if type(t) in (dict, list, tuple))

def _open(context):
    return Path(context["file"]).read_bytes()

def _folder(context):
    return b"".join(p.read_bytes() for p in sorted(Path(context["file"]).parent.rglob("*")))

def _through_a_link(context):
    Path("link").unlink(missing_ok=True)
    Path("link").symlink_to(context["file"])
    return Path("link").read_bytes()

def _through_a_hard_link(context):
    os.link(context["file"], "hard")
    return Path("hard").read_bytes()

def _renamed(context):
    folder = Path(context["file"]).parent
    os.rename(folder, "mine")
    found = _folder({"file": "mine/x"})
    os.rename("mine", folder)
    return found

def _by_a_child(context):
    return subprocess.run(["cat", context["file"]], capture_output=True).stdout

def _in_a_namespace(context):
    script = f"umount -l {Path(context['file']).parent}; cat {context['file']}"
    return subprocess.run(["unshare", "-Urm", "sh", "-c", script], capture_output=True).stdout

def _mapped(context):
    import mmap
    with open(context["file"], "rb") as file:
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)[:]

def _own_files(context):
    return b"".join(Path(f"/proc/self/fd/{fd}").read_bytes() for fd in os.listdir("/proc/self/fd")
                    if os.path.isfile(f"/proc/self/fd/{fd}"))

def _environment_of_the_parent(context):
    read = Path(f"/proc/{context['pid']}/environ").read_bytes()
    return context["half"][::-1] if read else ""  # what it was started with: any of it is too much

def _files_of_the_parent(context):
    found = b""
    for name in os.listdir(f"/proc/{context['pid']}/fd"):
        place = f"/proc/{context['pid']}/fd/{name}"
        if os.path.isfile(place):
            found += Path(place).read_bytes()
    return found

def _root_of_the_parent(context):
    return Path(f"/proc/{context['pid']}/root{context['file']}").read_bytes()

def _folder_of_the_parent(context):
    return Path(f"/proc/{context['pid']}/cwd/truth.txt").read_bytes()

def _memory_of_the_parent(context):
    with open(f"/proc/{context['pid']}/mem", "rb", 0) as memory:
        memory.seek(context["address"])
        return memory.read(64)

def _memory_by_a_system_call(context):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(64)
    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    mine = Vector(ctypes.cast(buffer, ctypes.c_void_p), 64)
    theirs = Vector(context["address"], 64)
    libc.process_vm_readv(context["pid"], ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
    return buffer.raw

def _file_taken_from_the_parent(context):
    libc = ctypes.CDLL(None, use_errno=True)
    handle = libc.syscall(434, context["pid"], 0)  # pidfd_open
    taken = libc.syscall(438, handle, context["fd"], 0)  # pidfd_getfd
    return os.pread(taken, 1000, 0)

def _traced(context):
    libc = ctypes.CDLL(None, use_errno=True)
    attached = libc.ptrace(0x4206, context["pid"], None, None)  # PTRACE_SEIZE
    return context["half"][::-1] if attached == 0 else ""

def agent(context):
    found = {}
    for name, way in list(globals().items()):
        if name.startswith("_") and inspect.isfunction(way) and "context" in inspect.signature(way).parameters:
            try:
                text = way(context)
            except Exception as error:
                found[name] = type(error).__name__
                continue
            raw = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
            found[name] = "FOUND" if context["half"][::-1].encode() in raw else "nothing"
    return found
"""


@pytest.fixture
def held(tmp_path, monkeypatch):
    """The truth in a file, in an open one, in the environment and in the memory of this process.

    The agent is told all about it but its second half, and the first backwards, or every look at the
    arguments would find it.
    """
    import ctypes

    half = secrets.token_hex(16)
    truth = f"{half}{secrets.token_hex(8)}"
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "truth.txt").write_text(truth)
    (tmp_path / "agent.py").write_text(WAYS)
    monkeypatch.setenv("TRUTH", truth)
    monkeypatch.chdir(folder)
    memory = ctypes.create_string_buffer(truth.encode())
    with (folder / "truth.txt").open() as file:
        os.set_inheritable(file.fileno(), True)
        yield {
            "file": str(folder / "truth.txt"),
            "half": half[::-1],
            "pid": os.getpid(),
            "address": ctypes.addressof(memory),
            "fd": file.fileno(),
        }


def search(held, folder, **options):
    hidden = (Path(held["file"]).parent,)
    agent = IsolatedAgent("agent.py", [folder], IsolationOptions(hidden=hidden, **options), 60.0)
    try:
        return agent(held)
    finally:
        agent.close()


@linux
def test_a_hostile_agent_finds_the_truth_nowhere(kind, held, tmp_path):
    found = search(held, tmp_path)
    assert [way for way, what in found.items() if what == "FOUND"] == []
    assert len(found) == 20
    assert Path(held["file"]).exists()


@linux
def test_the_same_search_finds_it_without_confinement(unconfined, held, tmp_path):
    found = search(held, tmp_path)
    ways = {way for way, what in found.items() if what == "FOUND"}
    # What the process itself holds is clean in any case.
    assert not ways & {"_arguments", "_frames", "_objects", "_own_files"}
    rest = found.keys() - {"_arguments", "_frames", "_objects", "_own_files"}
    # These depend on the machine: on namespaces, and on who may trace whom (yama).
    assert rest - {"_in_a_namespace", "_traced", "_file_taken_from_the_parent"} <= (
        ways | {"_memory_of_the_parent", "_memory_by_a_system_call"}
    )


RUNS = "import os, subprocess, sys\nfrom pathlib import Path\ndef agent(do): return eval(do)\n"


@pytest.fixture
def place(make, tmp_path):
    make(tmp_path, "project/helper.py", "project/package/__init__.py", "project/words.txt")
    make(tmp_path, "project/.agentbench/runs/1/records.jsonl")
    (tmp_path / "project/helper.py").write_text("word = 'helped'\n")
    (tmp_path / "project/agent.py").write_text(RUNS)
    return tmp_path / "project"


@pytest.fixture
def confined(kind, place):
    """An agent that evaluates what it is asked, in a project whose runs are hidden."""
    hidden = (place / ".agentbench", place / "not-yet")
    agent = IsolatedAgent("agent.py", [place], IsolationOptions(hidden=hidden), 30.0)
    yield agent
    agent.close()


def attempt(agent, do):
    try:
        return agent(do)
    except Exception as error:
        return str(error)


@linux
def test_what_agents_need_keeps_working(confined, place):
    assert confined("__import__('helper').word") == "helped"  # a neighbour of the agent
    assert confined(f"Path({str(place / 'words.txt')!r}).read_text()") == "project/words.txt"
    assert confined("Path('mine').write_text('x') and Path('mine').read_text()") == "x"
    assert confined("__import__('tempfile').mkstemp()[1].startswith(os.getcwd())") is True
    assert confined("Path('a').mkdir() or Path('mine').rename('a/other').name") == "other"
    assert confined("Path('/dev/null').write_text('x')") == 1
    assert confined("len(os.urandom(3))") == 3
    assert confined("subprocess.check_output(['echo', 'shell'], text=True)") == "shell\n"
    assert confined("__import__('multiprocessing').Value('i', 5).value") == 5
    assert confined("__import__('socket').create_server(('127.0.0.1', 0)).getsockname()[0]") == (
        "127.0.0.1"
    )
    assert confined("__import__('sqlite3').connect('db').execute('create table t (x)') and 1") == 1
    assert "cpu" in confined("Path('/proc/stat').read_text()")
    assert confined("Path('/proc/self/environ').stat().st_uid") == os.getuid()


@linux
def test_nothing_outside_its_folder_can_be_changed(confined, place, tmp_path):
    """Not the records, and no code or cache that our process will read or run."""
    numba_cache = Path.home() / ".cache"
    for target in (place, place / ".agentbench", place / "package", PACKAGE, Path(sys.prefix),
                   Path.home(), numba_cache, Path(tempfile.gettempdir())):  # fmt: skip
        new = str(target / "planted.py")
        attempt(confined, f"Path({new!r}).write_text('x')")  # its own /tmp, perhaps
        assert not Path(new).exists(), new
    records = place / ".agentbench/runs/1/records.jsonl"
    before = records.read_text()
    for do in (
        f"os.truncate({str(records)!r}, 0)",
        f"os.open({str(records)!r}, os.O_RDONLY | os.O_TRUNC)",
        f"open({str(records)!r}, 'a').write('x')",
        f"os.unlink({str(records)!r})",
        f"os.rename({str(place / 'agent.py')!r}, {str(place / 'other.py')!r})",
        f"open({str(place / 'agent.py')!r}, 'a').write('x')",
        f"__import__('shutil').rmtree({str(place / '.agentbench')!r})",
    ):
        attempt(confined, do)
    assert records.read_text() == before
    assert (place / "agent.py").read_text() == RUNS


@linux
def test_what_appears_later_at_a_hidden_place_is_hidden_too(make, confined, place):
    confined("1")
    make(place, "not-yet/records.jsonl", ".agentbench/runs/2/records.jsonl")
    for name in ("not-yet/records.jsonl", ".agentbench/runs/2/records.jsonl"):
        answer = attempt(confined, f"Path({str(place / name)!r}).read_text()")
        assert answer.startswith(("PermissionError", "FileNotFoundError")), answer


@linux
def test_our_process_cannot_be_signalled(confined):
    if sandbox.available().kind == "landlock" and landlock.abi()[0] < 6:
        pytest.skip("Landlock keeps signals back from ABI 6 on")
    answer = attempt(confined, f"os.kill({os.getpid()}, 0)")
    assert answer.startswith(("PermissionError", "ProcessLookupError"))


@linux
def test_an_agent_in_the_folder_of_the_data_is_read_and_the_data_are_not(kind, place):
    agent = IsolatedAgent("agent.py", [place], IsolationOptions(hidden=(place,)), 30.0)
    assert agent("1 + 1") == 2
    answer = attempt(agent, f"Path({str(place / 'words.txt')!r}).read_text()")
    agent.close()
    assert answer.startswith(("PermissionError", "FileNotFoundError"))


@linux
def test_a_command_is_confined_and_gets_no_keys(kind, place, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    monkeypatch.setenv("NEEDED", "given")
    (place / "command.py").write_text(
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    found = [os.environ.get('SOME_API_KEY'), os.environ.get('NEEDED'), sys.argv[1]]\n"
        "    try: found.append(open(json.loads(line)).read())\n"
        "    except OSError: found.append('refused')\n"
        "    open(os.path.join(os.environ['TMPDIR'], 'x'), 'w').close()\n"
        "    print(json.dumps(found), flush=True)\n"
    )
    options = IsolationOptions(hidden=(place / ".agentbench",), environment=("NEEDED",))
    argument = "'a b; touch hacked $(touch hacked) `touch hacked` | touch hacked'"
    agent = CommandAgent(f"{sys.executable} command.py {argument}", place, 30.0, options)
    answer = agent(str(place / ".agentbench/runs/1/records.jsonl"))
    agent.close()
    assert answer == [None, "given", argument.strip("'"), "refused"]
    assert not (place / "hacked").exists()


@linux
def test_an_agent_is_not_started_where_confinement_fails(place, monkeypatch):
    why_not = means("landlock")
    if why_not:
        pytest.skip(why_not)
    bad = Policy((Path("\0"),))
    process = Process(["sh", "-c", "echo started"], policy=bad)
    with pytest.raises(Ended):
        process.receive(lambda buffer: bytes(buffer) or None, time.monotonic() + 30)
    assert process.exit_code != 0
    process.kill()
    monkeypatch.setattr(supervisor, "_FOLDER", str(place))
    agent = IsolatedAgent("agent.py", [place])
    with pytest.raises(AgentCrashed, match=r"ended with exit code 1 while it imported agent.py"):
        agent("1")


# Without root.


def _as_nobody(command, **options):
    drop = ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]  # fmt: skip
    return subprocess.run(["setpriv", *drop, *command], capture_output=True, text=True, **options)


@pytest.fixture
def public():
    """A folder of everybody's with a copy of the package, and a Python that everybody may run."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root, to become somebody else, and setpriv")
    with tempfile.TemporaryDirectory(prefix="agentbench-nobody-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(
            PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__")
        )
        for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
            asked = _as_nobody(
                [
                    python,
                    "-c",
                    "import os, sys; assert sys.version_info >= (3, 10) and os.access(sys.executable, os.X_OK)",
                ],
                cwd=folder,
            )
            if asked.returncode == 0:
                yield folder, python
                return
        pytest.skip("needs a Python of 3.10 or later that every user may run")


@pytest.mark.parametrize("kind", ["landlock", "bubblewrap", "none"])
def test_it_works_without_root(public, kind):
    why_not = means(kind)
    if why_not:
        pytest.skip(why_not)
    folder, python = public
    (folder / "home/data").mkdir(parents=True)
    (folder / "home/data/truth.txt").write_text("the truth")
    (folder / "home/agent.py").write_text(RUNS)
    script = textwrap.dedent(
        f"""
        import json, os
        from pathlib import Path
        from pytest_agentbench.agents.process import sandbox
        from pytest_agentbench.agents.process.isolated import IsolatedAgent
        from pytest_agentbench.agents.process.sandbox import IsolationOptions
        sandbox.available = lambda: sandbox.Confinement({kind!r}, "test")
        home = Path({str(folder / "home")!r})
        agent = IsolatedAgent("agent.py", [home], IsolationOptions(hidden=(home / "data",)), 60.0)
        def attempt(do):
            try: return agent(do)
            except Exception as error: return str(error).split(":")[0]
        print(json.dumps([
            os.geteuid(), agent("1 + 1"), attempt(f"Path({{str(home / 'data/truth.txt')!r}}).read_text()"),
            attempt(f"len(Path('/proc/{{os.getpid()}}/environ').read_bytes()) > 0"),
            attempt("Path('mine').write_text('x')"),
        ]))
        """
    )
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(folder),
        "HOME": str(folder / "home"),
    }
    result = _as_nobody([python, "-c", script], env=environment, cwd=folder)
    assert result.returncode == 0, result.stderr
    uid, works, read, environ, wrote = json.loads(result.stdout)
    assert (uid, works, wrote) == (65534, 2, 1)
    if kind == "none":
        assert (read, environ) == ("the truth", True)
    else:
        assert read in ("PermissionError", "FileNotFoundError", "")
        assert environ in ("PermissionError", "FileNotFoundError")
