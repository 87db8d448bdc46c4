"""What any task asks about is in no answer of the store, whichever task the agent is asked."""

from __future__ import annotations

from pytest_agentbench.benchmarks.behavior_modeling.store import UserItemReviews


def ids(reviews):
    return [review["review_id"] for review in reviews]


def test_what_another_task_asks_for_is_in_no_answer_either(folder, load):
    dataset = load(folder())
    for index in (0, 1):  # u1 chooses among all items, and writes about i2
        uir = dataset.sample(index).context["uir"]
        assert uir.get_reviews(user_id="u1") == []
        assert ids(uir.get_reviews(item_id="i1")) == ["r3"]
        assert uir.ids("review") == ["r3"]
        assert (uir.ids("reviewed"), uir.ids("reviewer")) == (["i1"], ["u2"])
        assert uir.count_ids("review") == 1


def test_no_truth_of_the_demo_can_be_asked_for(load):
    first = load("demo", "test").sample(0).context["uir"]
    shown = set(first.ids("review", limit=100_000))
    for mode in ("test", "inference"):
        dataset = load("demo", mode)
        everything = UserItemReviews(dataset.store)
        truths = {
            everything.get_reviews(user_id=task.user_id, item_id=task.item_id or task.truth)[0]["review_id"]
            for task in dataset.tasks
        }  # fmt: skip
        assert len(truths) == len(dataset.tasks)
        assert not truths & shown
        for index, task in enumerate(dataset.tasks):
            item = task.item_id or task.truth
            pair = {"user_id": task.user_id, "item_id": item}
            assert len(everything.get_reviews(**pair)) == 1, "otherwise there is nothing to hide"
            # Neither for its own sample nor for any other, of either mode: agents may remember.
            for uir in (dataset.sample(index).context["uir"], first):
                assert uir.get_reviews(**pair) == []
                assert (
                    uir.get_reviews(review_id=everything.get_reviews(**pair)[0]["review_id"]) == []
                )
            written = {r["item_id"] for r in uir.get_reviews(user_id=task.user_id)}
            assert item not in written
