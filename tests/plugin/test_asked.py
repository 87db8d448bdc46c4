"""What an item asks stands on the item: names may change, parameters may be added, items may be repeated."""

from __future__ import annotations

import json

import pytest

from pytest_agentbench.plugin.asked import from_text
from pytest_agentbench.runs.plan import Question

GATE = "--gate=accuracy > 0.9"
FAILING = ["--benchmark=toysum", "--agent=builtin:half", GATE]

GROUPS = """
import pytest

def pytest_collection_modifyitems(items):
    for number, item in enumerate(items):
        item.add_marker(pytest.mark.xdist_group(f"group{number % 2}"))
"""
DEVICES = """
import pytest

@pytest.fixture(autouse=True, params=["cpu", "gpu"])
def device(request):
    return request.param
"""
# What pytest-repeat and flake-finder do: a fixture that no item names, with parameters.
REPEATS = """
import pytest

@pytest.fixture
def step(request):
    return request.param

def pytest_generate_tests(metafunc):
    metafunc.fixturenames.append("step")
    metafunc.parametrize("step", range(2), indirect=True)
"""
RENAMES = """
def pytest_collection_modifyitems(items):
    for item in items:
        item._nodeid = item.nodeid.replace("toysum::", "renamed::") + "@here"
"""


@pytest.mark.parametrize(
    ("conftest", "args", "attempts"),
    [
        (GROUPS, ["-n2", "--dist=loadgroup"], 1),
        (RENAMES, [], 1),
        (RENAMES, ["-n2"], 1),
        (DEVICES, [], 2),
        (DEVICES, ["-n2"], 2),
        (REPEATS, ["--concurrency=2"], 2),
        (REPEATS, ["--chunk=5"], 2),
        (REPEATS, ["--epochs=2"], 2),
    ],
)
def test_no_gate_is_lost_whatever_becomes_of_node_ids(project, conftest, args, attempts):
    project.write(conftest__py=conftest)
    result = project.pytest(*FAILING, *args)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["FAILED toysum::gate[[]accuracy > 0.9]*got 0.5 against 0.9"])
    scores, epochs = project.scores(), 2 if "--epochs=2" in args else 1
    assert scores["samples"]["ok"] == scores["samples"]["total"] == 12 * epochs
    assert not scores["partial"]
    questions = [(r["sample"], r["epoch"]) for r in project.records()]
    assert len(questions) == 12 * epochs * attempts
    assert len(set(questions)) == 12 * epochs
    notes = [note for note in scores["details"].get("notes", ()) if "attempts" in note]
    said = f"{12 * epochs} samples were asked more than once, {24 * epochs} attempts in all"
    assert [note.partition(":")[0] for note in notes] == ([said] if attempts == 2 else [])


def test_the_last_attempt_counts(project):
    project.write(
        conftest__py=REPEATS,
        agent__py="seen = set()\n"
        "def agent(context):\n"
        "    first = context['a'] not in seen\n"
        "    seen.add(context['a'])\n"
        "    return 'no number' if first else context['a'] + context['b']\n",
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py")
    assert [record["status"] for record in project.records()].count("invalid") == 12
    assert project.scores()["samples"]["ok"] == 12
    result.assert_outcomes(
        passed=13, failed=12
    )  # tests are failed as pytest has it, the run is not


def test_what_was_pasted_selects_a_sample_with_all_its_parameters(project):
    project.write(conftest__py=DEVICES)
    shown = project.pytest("--benchmark=toysum", "--co", "-q").outlines
    assert "toysum::sum[cpu-s1]" in shown
    project.pytest("toysum::sum[s1]").assert_outcomes(passed=3)
    project.pytest("toysum::sum[cpu-s1]").assert_outcomes(passed=2)
    assert project.pytest("toysum::sum[cpu-s99]").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.slow
def test_a_dead_worker_is_known_by_what_its_item_asked(project):
    project.write(
        conftest__py=RENAMES,
        agent__py="import os\ndef agent(context):\n"
        "    if context['a'] == 9: os._exit(1)\n    return context['a'] + context['b']\n",
    )
    assert project.pytest("--benchmark=toysum", "--agent=agent.py", "-n1").ret == 1
    bad = [record["sample"] for record in project.records() if record["status"] == "error"]
    assert bad == ["sum[s9]"]


def test_a_parameter_is_shown_by_the_name_of_its_sample(project):
    result = project.pytest("--benchmark=toysum", "--limit=1", "--setup-show")
    result.stdout.fnmatch_lines(["*SETUP    F sample[[]*s*]]*"])


def test_a_message_names_what_each_item_asks():
    items = [(0, "toysum", 1, [4]), (3, "other.yaml", 2, [0, 1])]
    runs, found = from_text(json.dumps({"runs": {"toysum": "toybench:ToySum"}, "items": items}))
    assert runs == {"toysum": "toybench:ToySum"}
    assert list(found) == [
        (0, "toysum", (Question(4, 1),)),
        (3, "other.yaml", (Question(0, 2), Question(1, 2))),
    ]


LOOKS = """
import pytest

@pytest.fixture(autouse=True)
def looks(sample):
    print("LOOKED", len(sample), sample[-1].key, [str(one.key) for one in sample[:2]], sample[0].context)
"""


def test_samples_of_a_chunk_that_a_submission_answers_can_be_looked_at(project):
    answers = "\n".join(f"{'sum' if n % 4 else 'double'}[s{n}],{2 * n}" for n in range(12))
    project.write(pred__csv=answers, conftest__py=LOOKS)
    result = project.pytest("--benchmark=toysum", "--submission=pred.csv", "--chunk=4", "-s")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*LOOKED 4 sum[[]s5] [[]'sum[[]s1]', 'sum[[]s2]'] *"])
