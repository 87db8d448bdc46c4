"""The data card beside a data set, and what the command prints: the same facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from pytest_agentbench import __version__
from pytest_agentbench.benchmarks.behavior_modeling.corpus import leak
from pytest_agentbench.benchmarks.behavior_modeling.corpus import normal_records as normal
from pytest_agentbench.benchmarks.behavior_modeling.corpus.columns import Columns
from pytest_agentbench.benchmarks.behavior_modeling.corpus.row_sources import RowSource
from pytest_agentbench.benchmarks.behavior_modeling.visible_totals import COUNTS, MEANS


@dataclass(frozen=True)
class Made:
    """What was made, of what and how. Nothing in it depends on when or where."""

    sources: Mapping[str, RowSource]
    columns: Columns
    counts: Mapping[str, int]
    cut: float
    left_out: Mapping[str, int]
    rates: Sequence[leak.Rate]
    margin: float
    tasks: tuple[int, int]
    candidates: int
    history: int
    seed: int

    @property
    def moment(self) -> str:
        epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
        return f"{epoch + timedelta(seconds=self.cut):%Y-%m-%d %H:%M:%S} UTC"

    @property
    def counted(self) -> list[tuple[str, int]]:
        return [(what, count) for what, count in sorted(self.counts.items()) if count]


def summary(made: Made) -> list[str]:
    """What the command prints."""
    return [
        f"split at {made.moment}",
        *(f"  {what}: {count:,}" for what, count in made.counted),
        f"{made.tasks[0]} recommendations of {made.candidates} candidates, {made.tasks[1]} reviews to write",
        *leak.table(made.rates),
        _margin(made),
    ]


def _margin(made: Made) -> str:
    held = [rate for rate in made.rates if rate.order in leak.HELD]
    most = max(rate.above for rate in held)
    return (
        f"unchanged or sorted by popularity, candidates give at most chance + {max(0.0, most):.3f} (by the way "
        f"they are drawn: less than one task of {made.tasks[0]}, {made.margin:.3f})"
    )


def text(made: Made) -> str:
    """README.md of the data set."""
    return _CARD.format(
        version=__version__,
        sources="\n".join(
            f"- {table}: {line}"
            for table, source in made.sources.items()
            for line in source.lines_for_card()
        ),
        columns="\n".join(f"- {line}" for line in made.columns.lines()),
        counts="\n".join(f"- {what}: {count:,}" for what, count in made.counted),
        left_out="\n".join(f"- {what}: {count:,}" for what, count in sorted(made.left_out.items()))
        or "- nobody",
        recommendations=made.tasks[0], reviews=made.tasks[1], moment=made.moment,
        history=made.history, candidates=made.candidates, seed=made.seed,
        recounted=_names(*COUNTS, *MEANS),
        dropped_items=_names(*normal.DROPPED_OF_ITEMS, *normal.DROPPED_DETAILS),
        dropped_users=_names(*normal.DROPPED_OF_USERS, f"{normal.DROPPED_PREFIX}*"),
        leak="\n".join(leak.table(made.rates)),
        margin=_margin(made),
    )  # fmt: skip


def _names(*names: str) -> str:
    return ", ".join(f"`{name}`" for name in names)


_CARD = """# Data card

A BehaviorModeling data set, made by `agentbench make-dataset` of pytest-agentbench {version} with seed {seed}. The same
sources, options and version give the same bytes.

Licence: that of the sources, which is yours to check, as is what people agreed to who wrote the reviews. `user.json`,
`item.json` and `review.json` are copies of the sources.

## Sources

{sources}

Columns:

{columns}

## Content

{counts}
- recommendation tasks: {recommendations}, of {candidates} candidates each
- review writing tasks: {reviews}

People who could have been asked about, and were not, because:

{left_out}

## Split

The corpus is cut at {moment}. It is the latest moment after which enough people wrote their last review who had written
at least {history} before it.

- The store (`review.json`) holds the reviews before that moment, of everybody. Nothing in it was written at or after the
  moment of any task's truth. Of the people asked about, what they wrote between the cut and the truth is not in it either.
- A task's truth is a person's last review: the latest, and of several at the same time the one that comes last in the source.
- No person has two tasks: the item of a review task would be the answer of a recommendation.
- The person has not reviewed the true item before, and has not written the same text about another item.
- `item.json` and `user.json` hold what has a review in the store. Counts and means are computed again from the store:
  {recounted}.
- Left out, because they were computed with later reviews: of items {dropped_items}; of people {dropped_users}.
- Kept as the sources have them: votes on a review in the store, which may have been given later, and all other columns of items
  and people. If one of yours was computed from reviews, remove it from the source.

## Candidates

The other candidates are of the true item's group, near it in popularity (reviews in the store), and never reviewed by the
person. An item's group is the narrowest of its categories (within its city, where items have one) that has enough items left,
and no item is in two groups. So items with many categories are not drawn more often. How many candidates are more popular
than the true item is drawn evenly. The same goes for its place in the list.

Average of the top 1, 3 and 5 hit rates without looking at the person ("by mean stars" and "by newest review" are not
controlled, and shown for comparison; the number of categories is not held to a margin):

{leak}

In short: {margin}.
"""
