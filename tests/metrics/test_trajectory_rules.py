"""The rules of the challenges: known by every metric, refused in the same words."""

from __future__ import annotations

import pytest

from pytest_agentbench.benchmarks.humob import scoring
from pytest_agentbench.metrics import dtw, geobleu, trajectory_rules
from pytest_agentbench.metrics.trajectory_rules import RULES, Rules, rules_of


@pytest.mark.parametrize("edition", ["2024", 2023, None, []])
def test_an_edition_without_rules_is_refused_by_all(edition):
    said = "edition must be '2023' or '2025', got "
    for function in (rules_of, lambda e: dtw.dtw_distance([(1, 1)], [(1, 1)], e),
                     lambda e: geobleu.geobleu_score([(1, 1)], [(1, 1)], e)):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            function(edition)


def test_another_edition_needs_only_its_rules(monkeypatch):
    monkeypatch.setitem(trajectory_rules.RULES, "2026", Rules(2, False, True))
    day = [(1, 1), (2, 2)]
    assert geobleu.geobleu_score(day, day, "2026") == 1.0
    assert dtw.dtw_distance(day, day, "2026") == 0.0
    with pytest.raises(ValueError, match="'2023' or '2025' or '2026'"):
        rules_of("2027")


def test_the_readings_of_humob_are_the_editions_with_rules_of_their_own():
    assert scoring.READINGS == tuple(RULES) == ("2023", "2025")
