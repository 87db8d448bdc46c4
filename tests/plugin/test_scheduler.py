"""Items shared out among workers at once."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from xdist.remote import Producer

from pytest_agentbench.plugin.scheduler import SharedOut, share

ITEMS = ["a", "b", "c", "d", "e"]


def test_shares_are_every_nth_item_and_a_replacement_has_none():
    shares = [share(ITEMS, f"gw{n}", 2) for n in range(3)]
    assert shares == [["a", "c", "e"], ["b", "d"], []]


class Worker:
    """What the scheduler sees of a worker."""

    shutting_down = False

    def __init__(self, name):
        self.gateway = SimpleNamespace(id=name)
        self.sent = []

    def send_runtest_some(self, indices):
        self.sent += indices

    def shutdown(self):
        self.sent.append("end")
        self.shutting_down = True


@pytest.fixture
def workers():
    return [Worker("gw0"), Worker("gw1")]


@pytest.fixture
def scheduler(pytester, workers):
    config = pytester.parseconfig()
    config.option.tx = ["popen", "popen"]
    made = SharedOut(config, Producer("test", enabled=False))
    for worker in workers:
        made.add_node(worker)
    return made


def test_every_worker_gets_its_share_and_one_end_mark(scheduler, workers):
    for worker in workers:
        scheduler.add_node_collection(worker, ITEMS)
    scheduler.schedule()
    assert [worker.sent for worker in workers] == [[0, 2, 4, "end"], [1, 3, "end"]]
    assert not scheduler.pending


def test_the_share_of_a_worker_that_died_before_goes_to_the_others(scheduler, workers):
    for worker in workers:
        scheduler.add_node_collection(worker, ITEMS)
    scheduler.remove_node(workers[1])
    scheduler.schedule()
    assert workers[1].sent == []
    assert workers[0].sent == [0, 2, 4]
    for index in (0, 2, 4):
        scheduler.mark_test_complete(workers[0], index)
    assert workers[0].sent[:5] == [0, 2, 4, 1, 3]


def test_workers_that_collected_differently_get_nothing(scheduler, workers):
    scheduler.add_node_collection(workers[0], ITEMS)
    scheduler.add_node_collection(workers[1], ITEMS[1:])
    scheduler.schedule()
    assert [worker.sent for worker in workers] == [[], []]
    assert scheduler.collection is None
