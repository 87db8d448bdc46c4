"""``agentbench make-dataset`` knows the options of the benchmark, and which benchmark cannot."""

from __future__ import annotations


def test_the_help_lists_the_options_of_the_benchmark(project):
    result = project.agentbench("make-dataset", "behaviormodeling", "--help")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["usage: agentbench make-dataset BehaviorModeling*", "*--out DIR*", "*--seed N*", "*--reviews SOURCE*",
         "*--map FIELD=COLUMN*", "*--candidates N*"]
    )  # fmt: skip


def test_a_benchmark_that_makes_none_says_so(project):
    result = project.agentbench("make-dataset", "humob", "--out", "made")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["agentbench: humob cannot make data sets of other data"])


def test_needed_options_are_asked_for(project):
    result = project.agentbench("make-dataset", "BehaviorModeling", "--reviews", "x.csv")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*the following arguments are required: --out"])
    result = project.agentbench(
        "make-dataset", "BehaviorModeling", "--out", "m", "--reviews", "x.csv"
    )
    assert result.ret == 2
    result.stderr.fnmatch_lines(["agentbench: --items: expected files or a hub data set, got None"])
    result = project.agentbench("make-dataset", "BehaviorModeling", "--out", "m", "--tasks", "1")
    result.stderr.fnmatch_lines(
        ["agentbench: --tasks: expected a whole number of at least 2, got '1'"]
    )
