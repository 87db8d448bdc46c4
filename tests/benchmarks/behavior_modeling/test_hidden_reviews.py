"""What any task asks about is in no answer of the store, whichever task the agent is asked."""

from __future__ import annotations

from benchmarks.behavior_modeling.conftest import ITEMS, REVIEWS, USERS

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


def counted(records, key, reviews):
    """The records with a count and an average over all reviews, as sites publish them."""
    found = []
    for record in records:
        stars = [r["stars"] for r in reviews if r[key] == record[key]]
        average = round(sum(stars) / len(stars), 2) if stars else 0.0
        found.append({**record, "review_count": len(stars), "average_stars": average})
    return found


def test_counts_and_averages_do_not_tell_what_is_hidden(folder, load):
    """Otherwise u1's average over r1, r2 and r4 less what is visible gives the truth."""
    users, items = counted(USERS, "user_id", REVIEWS), counted(ITEMS, "item_id", REVIEWS)
    place = folder(user=users, item=items)
    uir = load(place).sample(0).context["uir"]
    seen = [uir.get_reviews(review_id=i)[0] for i in uir.ids("review")]
    for user in counted(USERS, "user_id", seen):
        assert uir.get_user(user["user_id"]) == user
    for item in counted(ITEMS, "item_id", seen):
        assert uir.get_item(item["item_id"]) == item
    assert users != counted(USERS, "user_id", seen), "otherwise there is nothing to hide"

    published = load(place, store_parity=True).sample(0).context["uir"]
    assert [published.get_user(user["user_id"]) for user in users] == users
    assert [published.get_item(item["item_id"]) for item in items] == items
    assert ids(published.get_reviews(user_id="u1")) == ["r1", "r2", "r4"]


# At its first sample it reads all that the store shows, and remembers it.
CRAWLER = """
known = {}

def agent(context):
    uir = context["uir"]
    if not known:
        for user in uir.ids("user", limit=10_000):
            for review in uir.get_reviews(user_id=user):
                known[user, review["item_id"]] = review
        for item in uir.ids("item", limit=10_000):
            for review in uir.get_reviews(item_id=item):
                known[review["user_id"], item] = review
    user = context["user_id"]
    if context["target"] == "recommendation":
        return sorted(context["candidate_list"], key=lambda item: (user, item) not in known)
    found = known.get((user, context["item_id"]), {"stars": 1, "text": "?"})
    return {"stars": found["stars"], "review": found["text"]}
"""


def test_an_agent_that_reads_the_whole_store_does_not_find_the_answers(project, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(project.path / "cache"))
    project.write(crawler__py=CRAWLER)

    def crawl(*more):
        command = ["--benchmark", "BehaviorModeling", "--agent", "crawler.py"]
        result = project.pytest(*command, "--text-models", "none", *more)
        found = project.scores()
        hits = found["readings"]["documented"]["top_5_hit_rate"]["value"]
        error = found["readings"]["extended"]["star_mae"]["value"]
        return result, found["conditions"].get("store"), hits, error

    for isolation in ("none", "process"):
        _, store, hits, error = crawl("--agent-isolation", isolation)
        assert store is None
        assert hits < 0.45  # 5 of 20 by chance
        assert error > 1  # it answers one star, because it knows nothing
    result, store, hits, error = crawl("--store-parity")
    result.stdout.fnmatch_lines(["  --store-parity: the store hides nothing, *"])
    assert (store, hits, error) == ("nothing hidden, as published", 1.0, 0.0)
