"""What other plugins are told."""

from __future__ import annotations

HOOKS = """
def pytest_agentbench_record(record, settings):
    print("\\nrecord", settings.benchmark.name, record.sample, record.status)
def pytest_agentbench_scores(scores, folder, settings):
    print("\\nscores", scores["readings"]["exact"]["accuracy"]["value"], (folder / "scores.json").exists())
"""


def test_hooks_tell_other_plugins_of_records_and_scores(project):
    project.write(conftest__py=HOOKS)
    result = project.pytest("--benchmark=toysum", "-n1", "-s", "--limit=2")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["record toysum sum[[]s6] ok", "scores 1.0 True"])
