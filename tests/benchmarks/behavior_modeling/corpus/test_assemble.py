"""A review corpus becomes a data set: what the store holds, what it must not, and a scored run on it."""

from __future__ import annotations

import datetime
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter, defaultdict

import pytest
import review_corpus as corpora

CANDIDATES = 6
TASKS = 24
SHAPES = {
    "amazon": (corpora.amazon, ".jsonl.gz", "product"),
    "yelp": (corpora.yelp, ".csv", "business"),
    "goodreads": (corpora.goodreads, ".parquet", "book"),
}
REVIEWS = corpora.invent()


def sources(folder, shape, **rows):
    """The options that name the files of a corpus."""
    tables, suffix, _ = SHAPES[shape]
    made = {**tables(REVIEWS), **rows}
    named = ((name, corpora.write(some, folder / f"{name}{suffix}")) for name, some in made.items())
    return [part for name, path in named for part in (f"--{name}", path)]


def sizes(tasks=TASKS, candidates=CANDIDATES, seed=7):
    return ["--tasks", str(tasks), "--candidates", str(candidates), "--seed", str(seed)]


@pytest.fixture
def make(project, tmp_path, cache_folder):
    def make(shape, *options, out="made", **rows):
        given = [*sources(tmp_path / "corpus", shape, **rows), *sizes(), *options]
        result = project.agentbench(
            "make-dataset", "behaviormodeling", *given, "--out", str(tmp_path / out)
        )
        return tmp_path / out, result

    return make


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Made:
    """A data set as its files have it, beside the corpus it was made of."""

    def __init__(self, folder):
        self.reviews = lines(folder / "review.json")
        self.items = {item["item_id"]: item for item in lines(folder / "item.json")}
        self.users = {user["user_id"]: user for user in lines(folder / "user.json")}
        self.tasks = json.loads((folder / "test_tasks.json").read_text(encoding="utf-8"))
        self.recommendations = [t for t in self.tasks if t["target"] == "recommendation"]
        self.card = (folder / "README.md").read_text(encoding="utf-8")

    def true_item(self, task):
        truth = task["ground_truth"]
        return truth["item_id"] if task["target"] == "recommendation" else task["item_id"]


def last_review(user):
    return max((r for r in REVIEWS if r.user == user), key=lambda r: (r.time, r.number))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_store_holds_all_that_came_before_the_truths_and_nothing_later(make, shape):
    folder, result = make(shape)
    assert result.ret == 0, result.stderr.str()
    made = Made(folder)
    targets = Counter(task["target"] for task in made.tasks)
    assert targets == {"recommendation": TASKS // 2, "review_writing": TASKS // 2}
    assert len({task["user_id"] for task in made.tasks}) == TASKS

    truths = [last_review(task["user_id"]) for task in made.tasks]
    for task, truth in zip(made.tasks, truths, strict=True):
        assert made.true_item(task) == truth.item
        if task["target"] == "review_writing":
            assert task["ground_truth"] == {"stars": float(truth.stars), "review": truth.text}

    by_text = {review.text: review for review in REVIEWS}
    stored = [by_text[review["text"]] for review in made.reviews]
    assert [(r.user, r.item, r.stars) for r in stored] == [
        (r["user_id"], r["item_id"], r["stars"]) for r in made.reviews
    ]
    latest = max(review.time for review in stored)
    assert latest < min(truth.time for truth in truths)
    assert stored == [review for review in REVIEWS if review.time <= latest]
    history = Counter(review.user for review in stored)
    assert min(history[truth.user] for truth in truths) >= 5
    before = {(review.user, review.item) for review in stored}
    assert not {(truth.user, truth.item) for truth in truths} & before


@pytest.mark.parametrize("shape", SHAPES)
def test_records_have_no_number_that_was_computed_with_the_truth(make, shape):
    folder, _ = make(shape)
    made = Made(folder)
    stars = defaultdict(list)
    for review in made.reviews:
        stars[review["item_id"]].append(review["stars"])
        stars[review["user_id"]].append(review["stars"])
    mean, count, gone = {
        "amazon": ("average_rating", "rating_number", "bought_together"),
        "yelp": ("stars", "review_count", "is_open"),
        "goodreads": ("average_rating", "ratings_count", "similar_books"),
    }[shape]
    assert made.items.keys() | made.users.keys() == stars.keys()
    for name, item in made.items.items():
        assert item[count] == item["review_count"] == len(stars[name])
        assert item[mean] == pytest.approx(statistics.mean(stars[name]), abs=0.0051)
        assert gone not in item
        assert "Best Sellers Rank" not in item.get("details", {})
        assert item["type"] == SHAPES[shape][2]
    for name, user in made.users.items():
        assert user["review_count"] == len(stars[name])
        assert user["average_stars"] == pytest.approx(statistics.mean(stars[name]), abs=0.0051)
        assert not {"fans", "compliment_hot"} & user.keys()
    if shape == "yelp":
        assert made.users["p100"]["name"] == "Name p100"
        assert "name" not in made.users["p000"]  # not in the source of people
        assert next(iter(made.items.values()))["categories"] == "Food, Tea Rooms"
    if shape == "goodreads":
        assert next(iter(made.items.values()))["categories"] == ["poetry"]


@pytest.mark.parametrize("shape", SHAPES)
def test_neither_the_order_nor_the_popularity_of_candidates_tells_the_truth(make, shape):
    folder, result = make(shape)
    made = Made(folder)
    count = Counter(review["item_id"] for review in made.reviews)
    tasks = made.recommendations
    ever = defaultdict(set)
    for review in REVIEWS:
        ever[review.user].add(review.item)
    orders = {"unchanged": list, "by popularity": lambda c: sorted(c, key=lambda i: (-count[i], i))}
    orders["by popularity, reversed"] = lambda c: orders["by popularity"](c)[::-1]
    for task in tasks:
        listed = task["candidate_list"]
        assert len(set(listed)) == len(listed) == CANDIDATES
        assert ever[task["user_id"]] & set(listed) == {made.true_item(task)}
        assert task["candidate_category"] == SHAPES[shape][2]
        assert set(listed) <= made.items.keys()
    for name, order in orders.items():
        rates = []
        for top in (1, 3, 5):
            hits = sum(made.true_item(t) in order(t["candidate_list"])[:top] for t in tasks)
            assert abs(hits - len(tasks) * top / CANDIDATES) < 1
            rates.append(hits / len(tasks))
        (row,) = [line for line in result.outlines if re.match(rf"\| {name} +\|", line)]
        assert float(row.split("|")[2]) == pytest.approx(statistics.mean(rates), abs=0.00051)
        assert row in made.card
    chance = statistics.mean(top / CANDIDATES for top in (1, 3, 5))
    (row,) = [line for line in result.outlines if line.startswith("| chance")]
    assert float(row.split("|")[2]) == pytest.approx(chance, abs=0.00051)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_on_the_result_is_scored(make, project, shape):
    folder, result = make(shape)
    rate = {}
    for agent in ("popular", "user-mean"):
        ran = project.pytest(
            "--benchmark", "BehaviorModeling", f"--dataset={folder}", "--agent", f"builtin:{agent}",
            "--text-models", "none",
        )  # fmt: skip
        ran.assert_outcomes(passed=TASKS + 1)  # and the gate
        scores = project.scores()["readings"]["documented"]
        rate[agent] = scores["average_hit_rate"]["value"]
        assert 0.5 < scores["preference_estimation"]["value"] < 1
    (row,) = [line for line in result.outlines if re.match(r"\| by popularity +\|", line)]
    assert rate["popular"] == pytest.approx(float(row.split("|")[2]), abs=0.00051)


def test_the_three_shapes_of_one_corpus_give_the_same_tasks(make):
    def tasks(shape):
        folder, _ = make(shape, out=shape)
        made = Made(folder)
        return [(t["user_id"], made.true_item(t), t["target"]) for t in made.tasks]

    # In Tampa as everywhere: categories differ, people and truths do not.
    assert {t[:2] for t in tasks("amazon")} == {t[:2] for t in tasks("goodreads")}


def test_the_same_seed_gives_the_same_bytes_in_every_process(make, tmp_path):
    def content(folder):
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    first = content(make("amazon", out="here")[0])
    assert sorted(first) == [
        "README.md",
        "item.json",
        "review.json",
        "test_tasks.json",
        "user.json",
    ]
    code = "import sys; from pytest_agentbench.cli import main; sys.exit(main(sys.argv[1:]))"
    given = [*sources(tmp_path / "corpus", "amazon"), *sizes(), "--out", str(tmp_path / "there")]
    subprocess.run(
        [sys.executable, "-c", code, "make-dataset", "BehaviorModeling", *given],
        check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "17"},
    )  # fmt: skip
    assert content(tmp_path / "there") == first
    other = content(make("amazon", "--seed", "8", out="other")[0])
    assert other["test_tasks.json"] != first["test_tasks.json"]
    assert other["review.json"] == first["review.json"]


def test_columns_of_other_names_are_mapped_and_the_choice_is_printed(make):
    renamed = [
        {"who": r["user_id"], "parent_asin": r["parent_asin"], "points": r["rating"],
         "comment": r["text"], "unixReviewTime": r["timestamp"] // 1000}
        for r in corpora.amazon(REVIEWS)["reviews"]
    ]  # fmt: skip
    mapping = "user_id=who,stars=points,reviews.text=comment"
    folder, result = make("amazon", "--map", mapping, reviews=renamed)
    assert result.ret == 0, result.stderr.str()
    assert (
        "  reviews: user_id=who, item_id=parent_asin, stars=points, text=comment, date=unixReviewTime"
        in result.outlines
    )
    assert "reviews: user_id=who, item_id=parent_asin" in Made(folder).card


def test_a_missing_column_is_named_beside_those_that_are_there(make):
    without = [{**row, "rating": None} for row in corpora.amazon(REVIEWS)["reviews"]]
    for row in without:
        row["points"] = 3
        del row["rating"]
    folder, result = make("amazon", reviews=without)
    assert result.ret == 2
    result.stderr.fnmatch_lines(
        ["agentbench: --reviews: expected a column for stars (stars, rating, overall), got 'title', *"
         "'points' in --reviews; --map reviews.stars=COLUMN names it"]
    )  # fmt: skip
    assert not folder.exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tasks", "500"], "*--tasks 500: the corpus gives * tasks: * people have their last review*"),
        (["--candidates", "90"], "*left out: too few items to compare theirs with*"),
        (["--history", "40"], "*expected people with more than 40 reviews, got none*"),
        (["--map", "stars=timestamp"], "*expected stars from 1 to 5 in the column 'timestamp'*"),
        (["--map", "date=title"], "*expected dates in the column 'title'*"),
        (["--map", "nonsense"], "*--map: expected FIELD=COLUMN*"),
        (["--map", "user_id=nobody"], "*--map user_id=nobody: expected a column 'nobody', got*"),
        (["--users", "nowhere.csv"], "*--users: expected JSON Lines, CSV or Parquet*"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_said_and_leaves_nothing_behind(make, tmp_path, options, said):
    _, result = make("amazon", *options)
    assert result.ret == 2
    result.stderr.fnmatch_lines([said])
    assert not [path for path in tmp_path.iterdir() if "made" in path.name]


def test_a_folder_with_content_is_refused_and_an_empty_one_is_filled(make, tmp_path):
    (tmp_path / "made").mkdir()
    folder, result = make("amazon")
    assert result.ret == 0
    content = {path.name: path.read_bytes() for path in folder.iterdir()}
    _, again = make("amazon")
    assert again.ret == 2
    again.stderr.fnmatch_lines(["*expected a new or an empty folder, got one with content"])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == content


def test_a_failure_in_the_middle_leaves_no_folder(make, tmp_path, monkeypatch):
    from pytest_agentbench.benchmarks.behavior_modeling.corpus import card

    def full(made):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(card, "text", full)
    _, result = make("amazon")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["*could not be written (*No space left on device)*"])
    assert [path.name for path in tmp_path.iterdir() if "made" in path.name] == []


def test_last_reviews_that_give_themselves_away_are_not_asked_for(make):
    rows = corpora.amazon(REVIEWS)["reviews"]
    late = max(review.time for review in REVIEWS) + 10
    common = [item for item, _ in Counter(r.item for r in REVIEWS).most_common()]
    good = {}
    for n, user in enumerate(sorted({review.user for review in REVIEWS})):
        own = [row for row in rows if row["user_id"] == user]
        first = min(own, key=lambda row: row["timestamp"])
        known = {row["parent_asin"] for row in own}
        new = next(item for item in common[20:] if item not in known)
        last = {**first, "parent_asin": new, "timestamp": (late + n) * 1000, "text": f"By {user}."}
        last |= (
            {}, {"parent_asin": first["parent_asin"]}, {"text": first["text"]}, {"text": " "},
            {"parent_asin": "unheard of"}, {"rating": 0.0},
        )[n % 6]  # fmt: skip
        if n % 6 == 0:
            good[user] = new
        rows.append(last)
    folder, result = make("amazon", "--tasks", "10", "--history", "3", reviews=rows)
    assert result.ret == 0, result.stderr.str()
    made = Made(folder)
    assert {task["user_id"]: made.true_item(task) for task in made.tasks}.items() <= good.items()
    for reason in (
        "they had reviewed the item before", "they had written the same text before",
        "their last review has no stars or no text", "has no record, or no review before the cut",
    ):  # fmt: skip
        assert re.search(rf"{reason}: \d+\n", made.card)


def test_the_card_says_what_was_read_and_when_it_was_cut(make):
    folder, result = make("yelp")
    made = Made(folder)
    truths = [last_review(task["user_id"]).time for task in made.tasks]
    (moment,) = re.findall(r"cut at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC", made.card)
    assert f"split at {moment} UTC" in result.outlines
    latest = max(review["date"] for review in made.reviews)
    assert latest < moment
    cut = datetime.datetime.fromisoformat(f"{moment}+00:00").timestamp()
    assert cut <= min(truths)
    assert "- reviews: `reviews.csv`, " in made.card
    assert str(folder.parent) not in made.card
    assert "seed 7" in made.card
    assert "yours to check" in made.card


@pytest.mark.parametrize("shape", SHAPES)
def test_reviews_are_no_items(make, shape):
    folder, result = make(shape, items=SHAPES[shape][0](REVIEWS)["reviews"])
    assert result.ret == 2
    text = "review_text" if shape == "goodreads" else "text"
    result.stderr.fnmatch_lines(
        [f"agentbench: --items: expected a table of items, one row an item, got the columns of reviews: "
         f"'user_id' and '{text}'*"]
    )  # fmt: skip
    assert not folder.exists()


def test_two_different_rows_of_an_item_are_refused_and_copies_counted(make):
    rows = corpora.yelp(REVIEWS)["items"]
    folder, result = make("yelp", items=[*rows, {**rows[3], "name": "Later"}])
    assert result.ret == 2
    result.stderr.fnmatch_lines(
        [f"agentbench: --items: expected one row an item, got 1 further rows with other content, as of "
         f"business_id '{rows[3]['business_id']}'*"]
    )  # fmt: skip
    assert not folder.exists()
    folder, result = make("yelp", items=[*rows, rows[3], rows[4]])
    assert "  repeated rows of items, left out: 2" in result.outlines
    assert "- repeated rows of items, left out: 2\n" in Made(folder).card


@pytest.mark.parametrize("shape", SHAPES)
def test_a_corpus_given_twice_makes_what_it_makes_given_once(make, shape):
    once, _ = make(shape, out="once")
    rows = SHAPES[shape][0](REVIEWS)["reviews"]
    again = [
        {**row, "review_id": f"again{n}"} if "review_id" in row else row
        for n, row in enumerate(rows)
    ]
    twice, result = make(shape, out="twice", reviews=[*rows, *again, *rows[:7]])
    assert result.ret == 0, result.stderr.str()
    for name in ("review.json", "item.json", "user.json", "test_tasks.json"):
        assert (twice / name).read_bytes() == (once / name).read_bytes()
    dropped = f"repeated reviews, left out: {len(rows) + 7:,}"
    assert f"  {dropped}" in result.outlines
    assert f"- {dropped}\n" in Made(twice).card


def test_a_review_id_counts_once_whatever_its_rows_say(make):
    rows = corpora.yelp(REVIEWS)["reviews"]
    late = {**rows[0], "text": "Edited later.", "date": "2031-01-01 00:00:00"}
    folder, result = make("yelp", reviews=[*rows, late])
    assert "  repeated reviews, left out: 1" in result.outlines
    assert "Edited later." not in json.dumps(Made(folder).tasks)
