from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from demo_data import make_humob as make_demo

from pytest_agentbench.benchmarks.humob import data


@pytest.fixture(scope="module")
def text() -> str:
    return make_demo.demo_csv()


def test_the_committed_file_is_what_the_script_makes(text: str) -> None:
    assert gzip.decompress(make_demo.DEMO_FILE.read_bytes()).decode() == text


def test_the_gzip_file_has_no_time_of_day_in_it(text: str) -> None:
    assert make_demo.DEMO_FILE.read_bytes()[4:8] == bytes(4)
    assert make_demo.compress(text) == make_demo.compress(text)


def test_the_data_set_reads_the_file_that_the_script_writes() -> None:
    assert data.DEMO_FILE == make_demo.DEMO_FILE
    assert Path(data.DEMO_FILE).stat().st_size < 1_500_000


def test_the_city_has_homes_weekends_and_irregular_reports(text: str) -> None:
    rows = [tuple(map(int, line.split(","))) for line in text.splitlines()[1:]]
    assert {row[0] for row in rows} == set(range(80000, 80300))
    assert {row[1] for row in rows} == set(range(75))
    assert 15 < len(rows) / (300 * 75) < 25
    days = Counter(row[:2] for row in rows)
    assert len(set(days.values())) > 20
    # At noon most people are away from where they sleep on a weekday, and at home at weekends.
    homes: dict[int, Counter[tuple[int, ...]]] = {}
    for uid, _, t, *cell in rows:
        if t < 12:
            homes.setdefault(uid, Counter())[tuple(cell)] += 1
    home = {uid: seen.most_common(1)[0][0] for uid, seen in homes.items()}
    away = {True: [0, 0], False: [0, 0]}
    for uid, d, t, *cell in rows:
        if 22 <= t < 28:
            count = away[make_demo.is_weekend(d)]
            count[0] += tuple(cell) != home[uid]
            count[1] += 1
    weekday, weekend = (away[kind][0] / away[kind][1] for kind in (False, True))
    assert weekday > 0.6
    assert weekend < 0.45
