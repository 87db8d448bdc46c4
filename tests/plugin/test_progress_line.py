"""Lines while a run or its data take long."""

from __future__ import annotations

import pytest
from llm_server import serving


def test_progress_lines_on_a_long_run(project):
    project.write(
        agent__py="import time\ndef agent(c):\n    time.sleep(0.1)\n    return c['a'] + c['b']\n",
        pytest__ini="[pytest]\nagentbench_progress = 0.3\n",
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py")
    result.stdout.fnmatch_lines(
        ["toysum: [3-5]/12, [3-5] ok, accuracy 1.0000 so far, */s, * s left"]
    )
    assert (
        " so far" not in project.pytest("--benchmark=toysum", "--agent=agent.py", "-q").stdout.str()
    )


# The last sample waits until lines have been shown: workers that have ended have no calls in flight.
AGENT = """
import pathlib
import time
def agent(context):
    until = time.monotonic() + 90
    while context['a'] == 11 and not pathlib.Path('shown').exists() and time.monotonic() < until:
        time.sleep(0.01)
    return context['a'] + context['b']
"""
SHOWN = """
import pathlib
seen = []
def pytest_agentbench_record(record):
    seen.append(record)
    if len(seen) == 6:
        pathlib.Path('shown').touch()
"""


def test_workers_tell_how_many_calls_they_have_in_flight(project):
    """The agent's process has three at any time; the controller's own model has none."""
    with serving() as server:
        project.write(
            agent__py="from pytest_agentbench.agents.llm.client import LLM\n"
            "LLM.in_flight = property(lambda self: 3)\n" + AGENT,
            conftest__py=SHOWN,
            pytest__ini="[pytest]\nagentbench_progress = 1e-9\n",
            toy__yaml=f"benchmark: toysum\nllm: [{{model: m, base_url: '{server.url}'}}]\n",
        )
        result = project.pytest(
            "--benchmark=toy.yaml", "--agent=agent.py", "-n1", "--concurrency=2"
        )
    result.stdout.fnmatch_lines(
        ["*toy.yaml: */12, * ok, accuracy 1.0000 so far, * 3 calls in flight"]
    )


@pytest.mark.parametrize("extra", [[], ["-n1"]], ids=["serial", "xdist"])
def test_long_work_before_and_after_the_samples_is_told(project, extra):
    project.write(
        conftest__py="import toybench\n"
        "from pytest_agentbench.base import progress\n"
        "load, score = toybench.ToySum.load, toybench.ToySum.score_run\n"
        "def load_slowly(self, settings):\n"
        "    progress.say('building the store')\n    return load(self, settings)\n"
        "def score_slowly(self, dataset, records):\n"
        "    progress.say('reading texts')\n    return score(self, dataset, records)\n"
        "toybench.ToySum.load, toybench.ToySum.score_run = load_slowly, score_slowly\n"
    )
    result = project.pytest("--benchmark=toysum", "--limit=2", *extra)
    assert result.ret == 0
    assert "building the store" in result.stderr.str()
    assert "reading texts" in result.stdout.str()
