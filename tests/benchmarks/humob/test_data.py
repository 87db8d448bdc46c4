"""Which users are asked about which days, and what an agent gets to see."""

from __future__ import annotations

import json

import pytest

from pytest_agentbench.base.errors import BenchmarkError


def test_an_agent_sees_the_history_and_the_times_and_never_the_truth(csv, person, load):
    rows = person(80012)
    sample = load(csv(rows)).sample(0)
    assert str(sample.key) == "uid[80012]"
    assert sample.context == {
        "uid": 80012,
        "history": [list(row[1:]) for row in rows if row[1] < 60],
        "targets": [list(row[1:3]) for row in rows if row[1] >= 60],
        "grid": {"x": [1, 200], "y": [1, 200], "cell_km": 0.5},
        "edition": "2023",
    }
    assert json.loads(json.dumps(sample.context)) == sample.context
    assert sample.truth.tolist() == [list(row[1:]) for row in rows if row[1] >= 60]


def test_samples_are_made_afresh_so_that_no_agent_can_spoil_the_next(csv, person, load):
    dataset = load(csv(person(5)))
    dataset.sample(0).context["history"].clear()
    assert len(dataset.sample(0).context["history"]) == 6


def test_the_demo_is_labelled_synthetic(load):
    dataset = load("demo")
    assert len(dataset.keys) == 300
    assert "synthetic" in dataset.description
    assert {row[0] for row in dataset.sample(0).context["targets"]} <= set(range(60, 75))


def test_users_and_days_can_be_chosen(csv, person, load):
    path = csv([row for uid in range(10) for row in person(uid, days=range(20, 40))])
    dataset = load(path, users="3-5", predict_days=[30, 34])
    assert [key.id for key in dataset.keys] == ["3", "4", "5"]
    context = dataset.sample(1).context
    assert context["uid"] == 4
    assert {row[0] for row in context["history"]} == set(range(20, 30))
    assert {row[0] for row in context["targets"]} == set(range(30, 35))


def test_a_task_chooses_its_users(csv, person, load):
    path = csv([row for uid in (100, 22500, 24999, 80000) for row in person(uid)])
    assert [key.id for key in load(path, task=2).keys] == ["22500", "24999"]
    assert [key.id for key in load(path, task="2", users="80000").keys] == ["80000"]
    assert len(load(path).keys) == 4


def test_the_edition_2025_counts_days_from_one(csv, person, load):
    path = csv(person(27001, days=range(1, 76)))
    dataset = load(path, edition=2025, city="b")
    assert {row[0] for row in dataset.sample(0).context["targets"]} == set(range(61, 76))
    with pytest.raises(BenchmarkError, match=r"line 224: d=75 .* expected days 0-74 of HuMob 2023"):
        load(path)


def test_scores_are_comparable_only_for_the_same_file_users_and_days(csv, person, load):
    path = csv([*person(1), *person(2)])
    digests = [
        load(path).digest,
        load(path, users="1").digest,
        load(path, predict_days="60-61").digest,
        load(csv([*person(1), *person(3)], "other.csv")).digest,
    ]
    assert len(set(digests)) == 4
    assert load(path).digest == digests[0]


def test_users_without_rows_on_the_days_are_counted(csv, person, load):
    dataset = load(csv([*person(1), *person(2, days=[3])]))
    assert [key.id for key in dataset.keys] == ["1"]
    assert "1 users without rows there left out" in dataset.description


def test_somebody_without_a_history_has_an_empty_one(csv, person, load):
    assert load(csv(person(1, days=[60]))).sample(0).context["history"] == []


def test_masked_users_cannot_be_scored(csv, person, masked, load):
    path = csv([*person(1), *masked(person(80000)), *masked(person(80001))])
    with pytest.raises(BenchmarkError, match=r"truth of 2 users \(uid 80000 to 80001\) is masked"):
        load(path)
    assert len(load(path, users="0-79999").keys) == 1


def test_inference_asks_about_the_masked_rows_alone(csv, person, masked, load):
    path = csv([*person(1), *masked(person(80000))])
    dataset = load(path, mode="inference")
    assert [key.id for key in dataset.keys] == ["80000"]
    sample = dataset.sample(0)
    assert sample.context["targets"] == [list(r[1:3]) for r in person(80000) if r[1] >= 60]
    assert sample.truth.tolist() == sample.context["targets"]
    assert 999 not in [value for row in sample.context["history"] for value in row]


def test_inference_on_the_demo_hides_what_it_knows(load):
    sample = load("demo", mode="inference").sample(0)
    assert sample.truth.shape == (len(sample.context["targets"]), 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"users": "5-9"}, r"no user of 5-9 is in it; it has 1 users, uid 1 to 1"),
        ({"task": 1}, r"no user of 80000-99999 is in it"),
        ({"predict_days": "40-44"}, r"none of 1 users has rows on days 40-44"),
        ({"predict_days": "60-75"}, r"predict_days 60-75: expected days within 0-74"),
        ({"task": "A"}, r"task 'A': expected one of 1, 2 \(HuMob 2023\)"),
        ({"edition": 2024, "city": "A"}, r"city 'A': expected one of B, C, D \(HuMob 2024\)"),
        ({"edition": 2024, "city": "B", "task": "C"}, r"task and city: expected one, got C and B"),
        ({"mode": "inference"}, r"none of 1 users has masked rows"),
    ],
)
def test_choices_that_leave_nothing_are_refused(csv, person, load, parameters, message):
    with pytest.raises(BenchmarkError, match=message):
        load(csv(person(1)), **parameters)


@pytest.mark.parametrize("value", ["9-5", "a-b", [1, 2, 3], True, 1.5, "-3", ""])
def test_ranges_that_are_none_are_refused(load, value):
    with pytest.raises((ValueError, TypeError)):
        load("demo", users=value)


def test_days_masked_in_part_are_refused(csv, person, masked, load):
    path = csv(masked(person(5), first=61))
    with pytest.raises(BenchmarkError, match=r"uid 5: only some rows on days 60-74 are masked"):
        load(path, mode="inference")


def test_a_folder_is_searched_for_the_task(csv, person, load, tmp_path):
    folder = tmp_path / "humob"
    folder.mkdir()
    csv(person(22000), "humob/cityB_challengedata.csv.gz")
    assert len(load(folder, edition=2024).keys) == 1
    csv(person(17000), "humob/city_C_challengedata.csv")
    assert [key.id for key in load(folder, edition=2024, city="C").keys] == ["17000"]
    with pytest.raises(BenchmarkError, match=r"expected one data file .*cityB.*, city_C"):
        load(folder, edition=2024)
    with pytest.raises(BenchmarkError, match=r"no such file or folder"):
        load(folder / "nothing")
