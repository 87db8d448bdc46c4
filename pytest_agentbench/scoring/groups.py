"""Scores by group: the samples of one source, of active people …, and the group that is served worst.

Nothing is measured again: a group's score is the run's own estimator on the group's records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from pytest_agentbench.benchmarks.protocol import Dataset, Metric
from pytest_agentbench.runs.scores_file import Group, Score
from pytest_agentbench.settings import gates

LEAST = 10  # samples of a group that can be the worst: fewer say too little
MOST = 20  # groups of a kind; the rarest are put together
OTHERS = "(others)"
_COVERAGE = gates.COVERAGE.metric

# The scores of the samples at these places.
Scorer = Callable[[Sequence[int]], dict[str, Score]]


def group_scores(dataset: Dataset, indices: Sequence[int], score: Scorer) -> tuple[Group, ...]:
    """Every group of these samples; a kind of group that does not divide them is left out."""
    belongs = [dataset.groups(index) for index in indices]
    found = []
    for kind in dict.fromkeys(kind for own in belongs for kind in own):
        names = [own.get(kind) for own in belongs]
        counted = Counter(name for name in names if name is not None)
        kept = [name for name, _ in sorted(counted.items(), key=lambda one: (-one[1], one[0]))]
        if len(kept) > MOST:
            rare = set(kept[MOST - 1 :])
            names = [OTHERS if name in rare else name for name in names]
            kept = [*kept[: MOST - 1], OTHERS]
        if len(kept) < 2:
            continue
        for name in kept:
            places = np.flatnonzero(np.array([own == name for own in names])).tolist()
            targets = Counter(dataset.keys[indices[place]].target for place in places)
            found.append(Group(kind, name, len(places), dict(targets), score(places)))
    return tuple(found)


def samples_of(group: Group, metric: Metric) -> int:
    """How many samples of a group a metric is about."""
    return group.targets.get(metric.target, 0) if metric.target else group.samples


def unscored_group(groups: Sequence[Group], metric: Metric) -> Group | None:
    """A group of enough samples that lost its value of a metric by samples that failed, if there is one."""
    return next(
        (
            group
            for group in groups
            if samples_of(group, metric) >= LEAST
            and (score := group.scores.get(metric.name)) is not None
            and score.value is None
            and (coverage := group.scores.get(_COVERAGE)) is not None
            and (coverage.value or 0.0) < 1
        ),
        None,
    )


def worst_group(groups: Sequence[Group], metric: Metric) -> Group | None:
    """The group with the worst value of a metric, among those of enough samples; None if there is none."""
    known = [
        (value, group)
        for group in groups
        if samples_of(group, metric) >= LEAST
        and (score := group.scores.get(metric.name)) is not None
        and (value := score.value) is not None
    ]
    if not known or metric.better == "none":
        return None
    badness = {"higher": lambda v: -v, "lower": lambda v: v, "zero": abs}[metric.better]
    return max(known, key=lambda one: badness(one[0]))[1]
