"""What a worker tells the controller arrives before what it sends later, and answers are confirmed."""

from __future__ import annotations

TELLING = """
import pytest
from pytest_agentbench.plugin import messages

NOTHING = '{"runs": {}, "items": []}'

def pytest_configure(config):
    config.heard = []
    if not hasattr(config, "workerinput"):
        messages.handle(config, "greeting", lambda text: config.heard.append(text))

@pytest.hookimpl(tryfirst=True)  # before ours takes it
def pytest_xdist_node_collection_finished(node):
    print("collected:", messages.collected(node))

def pytest_runtest_call(item):
    messages.send(item.config, "greeting", text=f"hello from {item.name}")()

@pytest.hookimpl(tryfirst=True)  # before xdist tells that this worker has collected
def pytest_collection_finish(session):
    if hasattr(session.config, "workerinput"):
        messages.send(session.config, "collected", confirmed=False, text=NOTHING)

def pytest_terminal_summary(terminalreporter, config):
    terminalreporter.write_line(f"heard {sorted(config.heard)}")
"""


def test_messages_of_workers_are_heard(project):
    project.write(
        conftest__py=TELLING, test_mine__py="def test_one(): pass\ndef test_two(): pass\n"
    )
    result = project.pytest_process("-n2", "-s")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(['collected: {"runs": {}, "items": []}'] * 2)
    result.stdout.fnmatch_lines(["heard ['hello from test_one', 'hello from test_two']"])
