"""Damaged folders of runs, read by every command: a message, a documented exit code, and the others listed."""

from __future__ import annotations

import random

from faults.run_folder_campaign import COMMANDS, Tally, attack


def test_damaged_runs_are_refused_with_a_message_and_hide_no_other(project):
    """Some of what `python -m faults.run_folder_campaign --commands 2000` does."""
    assert project.pytest("--benchmark=toysum", "--run-dir=good", "-q").ret == 0
    draw, tally = random.Random(4), Tally()

    def run(program, arguments):
        result = (project.pytest if program == "pytest" else project.agentbench)(*arguments)
        return int(result.ret), f"{result.stdout.str()}\n{result.stderr.str()}"

    readers = [which for which in COMMANDS if not which.startswith("--")]
    for which in [*COMMANDS, *readers * 2]:
        attack(project.path / "good", "toysum", run, draw, which, project.path / "work", tally)
    assert tally.commands == len(COMMANDS) + 2 * len(readers)
    assert not tally.failures, "\n".join(tally.failures)
    assert {"agentbench 0", "agentbench 2"} <= set(
        tally.codes
    )  # some were damaged, some not enough
