"""What a task belongs to: the source and category of its item, how active its user is, its split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_agentbench.benchmarks.behavior_modeling import items

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.behavior_modeling.store import Store
    from pytest_agentbench.benchmarks.behavior_modeling.tasks import Task

# From so many reviews in the store on.
ACTIVITY = ((50, "many (50 or more)"), (10, "some (10 to 49)"), (0, "few (under 10)"))
_SITES = {"book": "goodreads", "product": "amazon", "business": "yelp"}


def groups(task: Task, store: Store) -> dict[str, str]:
    """The groups of a task; a kind of group of which nothing is known is left out."""
    asked_about = task.item_id if task.item_id is not None else task.truth
    item = None if asked_about is None else store.get("item", str(asked_about))
    found = {"source": source(task, item)}
    listed = items.categories(item)
    if listed:
        found["category"] = listed[0]
    for (reviews,) in store.rows("SELECT COUNT(*) FROM review WHERE user = ?", (task.user_id,)):
        found["activity"] = activity(int(reviews))
    if task.split is not None:
        found["split"] = task.split
    return found


def source(task: Task, item: dict[str, object] | None) -> str:
    """The site of the item as its record names it, else the one that has its kind of item."""
    named = (item or {}).get("source")
    if isinstance(named, str) and named:
        return named.lower()
    kind = items.kind(item)
    if kind == items.UNKNOWN:
        kind = str(task.fields.get("candidate_category") or kind).lower()
    return _SITES.get(kind, kind)


def activity(reviews: int) -> str:
    """How active a person of so many reviews is.

    >>> activity(9), activity(22), activity(50)
    ('few (under 10)', 'some (10 to 49)', 'many (50 or more)')
    """
    return next(name for least, name in ACTIVITY if reviews >= least)
