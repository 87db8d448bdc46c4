"""Lines while a run or its data take long."""

from __future__ import annotations

import pytest


def test_progress_lines_on_a_long_run(project):
    project.write(
        agent__py="import time\ndef agent(c):\n    time.sleep(0.1)\n    return c['a'] + c['b']\n",
        pytest__ini="[pytest]\nagentbench_progress = 0.3\n",
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py")
    result.stdout.fnmatch_lines(
        ["toysum: [3-5]/12, [3-5] ok, accuracy 1.0000 so far in valid answers"]
    )
    assert (
        " so far" not in project.pytest("--benchmark=toysum", "--agent=agent.py", "-q").stdout.str()
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
