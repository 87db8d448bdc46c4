"""What cannot be found in an agent's process."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

from isolated_tools import Store
from processes import linux

from pytest_agentbench.benchmarks.protocol import Sample, SampleKey

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
            return sum(1 for thing in gc.get_objects() if type(thing) is dict and thing.get("marked") == 7)
        """
    )
    assert agent({"marked": 7, "n": [1]}) == 1
    assert agent({"n": [2]}) == 0


def test_a_child_is_no_fork_and_knows_no_benchmark(isolated):
    agent = isolated(
        "import sys\ndef agent(context): return [m for m in sys.modules if 'agentbench' in m or m == 'pytest']"
    )
    modules = agent(0)
    assert "pytest_agentbench.agents.process.child" in modules
    assert "pytest" not in modules
    # The package's public names come with the protocol and what it imports: no benchmark is among them.
    shared = {"protocol", "sources", "sources.hub_cache", "sources.partitions"}
    assert {m.partition(".benchmarks.")[2] for m in modules if ".benchmarks." in m} == shared
