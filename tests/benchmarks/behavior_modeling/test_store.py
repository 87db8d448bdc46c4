"""The user-item-review store: what it answers, what it hides, how it is built and shared."""

from __future__ import annotations

import copy
import datetime
import json
import multiprocessing
import os
import pickle
import threading

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling import store as stores
from pytest_agentbench.benchmarks.behavior_modeling.hidden_reviews import HiddenReviews
from pytest_agentbench.benchmarks.behavior_modeling.store import (
    Store,
    UserItemReviews,
    open_store,
)


@pytest.fixture
def opened(folder):
    store, _ = open_store(folder())
    yield store
    store.close()


@pytest.fixture
def uir(opened):
    return UserItemReviews(opened)


def test_the_text_of_a_review_answers_to_the_name_that_asbench_documents(folder):
    reviews = [
        {"review_id": "r1", "user_id": "u1", "item_id": "i1", "text": "Lovely tea."},
        {"review_id": "r2", "user_id": "u1", "item_id": "i1", "review": "Awful."},
        {"review_id": "r3", "user_id": "u1", "item_id": "i1"},
    ]
    store, _ = open_store(folder(review=reviews))
    got = UserItemReviews(store).get_reviews(user_id="u1")
    assert [(r.get("text"), r.get("review")) for r in got] == [
        ("Lovely tea.", "Lovely tea."), ("Awful.", "Awful."), (None, None),
    ]  # fmt: skip
    store.close()


def ids(reviews):
    return [review["review_id"] for review in reviews]


def test_records_come_back_as_they_stand_in_the_files(uir):
    assert uir.get_user("u1") == {"user_id": "u1", "name": "Ada"}
    assert uir.get_item("i3")["title"] == "Item 3"
    assert uir.get_reviews(review_id="r4")[0]["colour"] == "green"
    assert uir.get_user("x") is None
    assert uir.get_item("x") is None
    assert uir.get_reviews(user_id="x") == uir.get_reviews() == []


def test_reviews_by_item_user_both_or_id(uir):
    assert ids(uir.get_reviews(item_id="i1")) == ["r1", "r3"]
    assert ids(uir.get_reviews("i1")) == ["r1", "r3"]
    assert ids(uir.get_reviews(user_id="u1")) == ["r1", "r2", "r4"]
    assert ids(uir.get_reviews(item_id="i1", user_id="u2")) == ["r3"]
    assert ids(uir.get_reviews(review_id="r2")) == ["r2"]
    assert uir.count_reviews(item_id="i1") == 2


def test_limits_and_times(uir):
    assert ids(uir.get_reviews(user_id="u1", limit=2)) == ["r1", "r2"]
    assert uir.get_reviews(user_id="u1", limit=0) == []
    assert ids(uir.get_reviews(user_id="u1", newest_first=True, limit=1)) == ["r2"]
    assert ids(uir.get_reviews(user_id="u1", after="2020-02-01")) == ["r2"]
    assert ids(uir.get_reviews(user_id="u1", before="2020-02-01")) == ["r1"]
    assert ids(uir.get_reviews(item_id="i1", after=datetime.datetime(2020, 3, 1))) == ["r3"]
    assert ids(uir.get_reviews(item_id="i1", before=1583020800)) == ["r1"]
    with pytest.raises(ValueError, match="expected a date such as 2019-05-31, got 'soon'"):
        uir.get_reviews(user_id="u1", after="soon")


def test_the_pair_being_asked_for_is_in_no_answer(folder, load):
    about_i2 = {
        "task_id": 18, "target": "review_writing", "user_id": "u1", "item_id": "i2",
        "ground_truth": {"stars": 1.0, "review": "Awful."},
    }  # fmt: skip
    only = {"test_tasks": [about_i2], "inference_tasks": None, "inference_tasks_groundtruth": None}
    review = load(folder(**only)).sample(0).context["uir"]
    assert ids(review.get_reviews(user_id="u1")) == ["r1", "r4"]
    assert review.get_reviews(item_id="i2") == []
    assert review.get_reviews(review_id="r2") == []
    assert ids(review.get_reviews(user_id="u1", newest_first=True)) == ["r1", "r4"]
    assert review.count_reviews(user_id="u1") == 2


def test_a_limit_counts_what_is_visible(opened):
    hidden = UserItemReviews(opened, HiddenReviews({"u1": ["i1"]}))
    assert ids(hidden.get_reviews(user_id="u1", limit=2)) == ["r2", "r4"]


def test_ids_that_are_numbers_are_found_by_either(folder):
    store, _ = open_store(
        folder(user=[{"user_id": 7}], item=[{"item_id": 1}], review=[{"user_id": 7, "item_id": 1}])
    )
    uir = UserItemReviews(store)
    assert uir.get_user(7) == uir.get_user("7") == {"user_id": 7}
    assert len(uir.get_reviews(item_id=1)) == 1
    store.close()


def test_the_last_of_two_equal_ids_wins(folder):
    store, _ = open_store(folder(user=[{"user_id": "u", "n": 1}, {"user_id": "u", "n": 2}]))
    assert store.get("user", "u")["n"] == 2
    store.close()


def test_a_store_is_built_once_and_again_when_a_source_changes(folder, monkeypatch):
    built = []
    build = stores.build
    monkeypatch.setattr(stores, "build", lambda *given: built.append(1) or build(*given))
    path = folder()
    (first, one), (second, two) = open_store(path), open_store(path)
    assert built == [1]
    assert one == two
    folder(review=[{"user_id": "u1", "item_id": "i9"}])
    third, other = open_store(path)
    assert built == [1, 1]
    assert other != one
    assert third.path != first.path
    for store in (first, second, third):
        store.close()


def test_a_store_cut_short_is_built_again(folder):
    store, _ = open_store(folder())
    store.close()
    content = store.path.read_bytes()
    store.path.write_bytes(content[: len(content) // 2])
    again, _ = open_store(folder())
    assert again.get("user", "u1") is not None
    again.close()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{nonsense", r"review\.json, line 2: expected one JSON object a line, but"),
        ("[1]", r"line 2: expected one JSON object a line \(JSON Lines\), got list"),
        ('{"user_id": "u"}', r"line 2: expected the key 'item_id' with an id, got None"),
    ],
)
def test_a_broken_line_is_named_and_leaves_nothing_behind(folder, cache_folder, line, message):
    path = folder()
    good = json.dumps({"user_id": "u", "item_id": "i"})
    (path / "review.json").write_text(f"{good}\n{line}\n", encoding="utf-8")
    with pytest.raises(BenchmarkError, match=message):
        open_store(path)
    assert list(cache_folder.rglob("*.sqlite")) == []


def test_a_missing_file_is_named(folder):
    with pytest.raises(
        BenchmarkError,
        match=r"expected item\.json \(JSON Lines\) beside user\.json, review\.json, got no",
    ):
        open_store(folder(item=None))


def test_threads_share_a_store(uir):
    failures = []

    def ask():
        try:
            for _ in range(200):
                assert ids(uir.get_reviews(user_id="u1")) == ["r1", "r2", "r4"]
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_store_travels_to_another_process(opened):
    uir = UserItemReviews(opened, HiddenReviews({"u1": ["i1"]}))
    for other in (pickle.loads(pickle.dumps(uir)), copy.deepcopy(uir)):
        assert ids(other.get_reviews(user_id="u1")) == ["r2", "r4"]
        other._store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_opens_its_own_connection(opened):
    def child(queue):
        queue.put(opened.get("user", "u1")["name"])
        queue.put(opened._process)

    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=90) == "Ada"
    assert queue.get(timeout=90) == process.pid
    process.join()
    assert opened.get("user", "u1")["name"] == "Ada"


def test_old_stores_make_room(folder, cache_folder):
    store, _ = open_store(folder())
    store.close()
    os.utime(store.path.with_suffix(".sha256"), (1, 1))
    other, _ = open_store(folder("other", user=[]))
    assert not store.path.exists()
    assert isinstance(other, Store)
    other.close()


def test_ids_are_listed_in_pages_without_what_is_hidden(opened):
    everything = UserItemReviews(opened)
    reviews = [r for n in "123" for r in everything.get_reviews(item_id=f"i{n}")]
    known = sorted(review["review_id"] for review in reviews)
    assert everything.ids("review") == known
    assert everything.ids("review", after=known[0], limit=2) == known[1:3]
    assert everything.count_ids("review") == len(known)
    hiding = UserItemReviews(opened, HiddenReviews({"u1": ("i2",)}))
    hidden = {r["review_id"] for r in reviews if (r["user_id"], r["item_id"]) == ("u1", "i2")}
    assert hidden
    assert hiding.ids("review") == [one for one in known if one not in hidden]
    assert hiding.count_ids("review") == len(known) - len(hidden)
    for kind, key in (("reviewed", "item_id"), ("reviewer", "user_id")):
        left = {r[key] for r in reviews if r["review_id"] not in hidden}
        assert hiding.ids(kind) == sorted(left)
    with pytest.raises(ValueError, match="kind: expected user, item, review"):
        everything.ids("truth")
