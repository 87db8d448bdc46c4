"""The tables in the folder of a run agree with its scores."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from pytest_agentbench.benchmarks.humob import run_tables
from pytest_agentbench.benchmarks.humob.benchmark import Humob
from pytest_agentbench.runs.record import Record


@pytest.fixture
def run(load, tmp_path):
    """Twenty users of the demo, predicted by their slot mode; one of them failed."""
    dataset = load("demo", users="80000-80019")
    agent = Humob.baselines["slot-mode"]
    samples = [dataset.sample(index) for index in range(len(dataset))]
    answers = [Humob().check(sample, agent(sample.context)) for sample in samples]
    scores = Humob().score_samples(samples, answers)
    records = [
        Record("humob", str(sample.key), "ok", 1, answer=answer, metrics=score)
        for sample, answer, score in zip(samples, answers, scores, strict=True)
    ]
    records[4] = Record("humob", str(samples[4].key), "timeout", 1)
    folder = tmp_path / "run"
    folder.mkdir()
    Humob().write_files(folder, dataset, records)
    return folder, records


def test_the_means_of_the_days_are_the_users_and_those_the_score(run, load):
    folder, records = run
    users = pl.read_csv(folder / "users.csv")
    days = pl.read_csv(folder / "days.csv")
    assert users["uid"].to_list() == list(range(80000, 80020))
    by_user = days.group_by("uid").agg(pl.all().mean(), days=pl.len(), total=pl.col("points").sum())
    both = users.join(by_user, on="uid", suffix="_of_days")
    assert len(both) == 19
    for name in ("geobleu_2023", "dtw_2023", "geobleu_2025", "dtw_2025"):
        assert both[name].to_list() == pytest.approx(both[f"{name}_of_days"].to_list(), rel=1e-12)
    assert both["points"].to_list() == both["total"].to_list()
    assert both["days"].to_list() == both["days_of_days"].to_list()
    score = Humob().score_run(load("demo"), records)("2023", None)["geobleu"]
    assert users["geobleu_2023"].mean() == pytest.approx(score, rel=1e-12)


def test_a_failed_user_has_nothing_and_is_the_worst(run):
    folder, _ = run
    users = pl.read_csv(folder / "users.csv")
    failed = users.row(4, named=True)
    assert (failed["status"], failed["geobleu_2023"], failed["dtw_2023"]) == ("timeout", 0.0, None)
    worst = pl.read_csv(folder / "worst_users.csv")
    assert worst["uid"][0] == 80004
    assert worst["geobleu_2023"].to_list() == sorted(users["geobleu_2023"].to_list())


def test_many_users_are_taken_a_few_at_a_time_to_the_same_bits(run, load, monkeypatch):
    folder, records = run
    monkeypatch.setattr(run_tables, "USERS_AT_A_TIME", 3)
    days = run_tables.day_table(load("demo", users="80000-80019"), records)
    assert pl.DataFrame(days).equals(pl.read_csv(folder / "days.csv"))


def test_a_large_run_has_the_same_csv_and_parquet_that_says_the_same(
    run, load, monkeypatch, tmp_path
):
    small, records = run
    assert not list(small.glob("*.parquet"))
    monkeypatch.setattr(run_tables, "LARGE", len(records) - 1)
    folder = tmp_path / "large"
    folder.mkdir()
    Humob().write_files(folder, load("demo", users="80000-80019"), records)
    for name in ("users", "days"):
        assert (folder / f"{name}.csv").read_bytes() == (small / f"{name}.csv").read_bytes()
        csv, parquet = (
            pl.read_csv(folder / f"{name}.csv"),
            pl.read_parquet(folder / f"{name}.parquet"),
        )
        assert csv.columns == parquet.columns
        assert csv.rows() == parquet.rows()


def test_csv_has_the_bytes_that_polars_writes(tmp_path):
    rng = np.random.default_rng(19)
    floats = rng.random(5000) * 10.0 ** rng.integers(-12, 15, 5000)
    floats[:8] = [0.0, 1.0, -2.5, 1e-4, 1e-5, 9.9e-6, 5e-324, math.nan]
    table = {
        "number": rng.integers(-(10**9), 10**9, 5000),
        "text": np.array(["ok", "timeout"] * 2500),
        "flag": rng.random(5000) < 0.5,
        "float": floats,
    }
    run_tables.write_csv(tmp_path / "own.csv", table)
    frame = pl.DataFrame(table).with_columns(pl.col("float").fill_nan(None))
    assert (tmp_path / "own.csv").read_bytes() == frame.write_csv().encode()


def test_weekdays_and_weekends_are_set_apart(run):
    folder, _ = run
    days = pl.read_csv(folder / "days.csv")
    assert days.filter("weekend")["d"].unique().sort().to_list() == [62, 63, 69, 70]
    table = pl.read_csv(folder / "weekdays.csv")
    assert table["day_of_week"].to_list() == ["weekday", "weekend", *"0123456"]
    rows = {row["day_of_week"]: row for row in table.rows(named=True)}
    assert rows["weekday"]["user_days"] + rows["weekend"]["user_days"] == len(days)
    assert rows["weekend"]["user_days"] == rows["0"]["user_days"] + rows["6"]["user_days"]
    expected = days.filter("weekend")["geobleu_2023"].mean()
    assert rows["weekend"]["geobleu_2023"] == pytest.approx(expected)


def test_points_a_day_are_counted(run):
    folder, _ = run
    days = pl.read_csv(folder / "days.csv")
    points = pl.read_csv(folder / "points.csv")
    assert points["points"].to_list() == sorted(set(days["points"].to_list()))
    assert points["user_days"].sum() == len(days)
    assert "points_per_day" not in points.columns


def test_epochs_have_rows_of_their_own_and_no_valid_answer_is_no_crash(run, load, tmp_path):
    _, records = run
    dataset = load("demo", users="80000-80019")
    again = [
        Record(r.benchmark, r.sample, r.status, 2, r.answer, metrics=r.metrics) for r in records
    ]
    Humob().write_files(tmp_path, dataset, [*records, *again])
    assert pl.read_csv(tmp_path / "users.csv")["epoch"].to_list() == [1, 2] * 20
    Humob().write_files(tmp_path, dataset, records[4:5])
    assert len(pl.read_csv(tmp_path / "users.csv")) == 1
    assert len(pl.read_csv(tmp_path / "days.csv")) == 0


def test_another_weekend_can_be_named(load, csv, person, tmp_path):
    dataset = load(csv(person(1)), weekend=[4, 5])
    assert dataset.split.weekend == (4, 5)
    with pytest.raises(ValueError):  # noqa: PT011 # the words are the parameter's
        load(csv(person(1)), weekend="7")


def test_records_that_bring_the_scores_of_their_days_are_not_scored_again(run, load, monkeypatch):
    _, records = run
    dataset = load("demo", users="80000-80019")
    scored = pl.DataFrame(run_tables.day_table(dataset, records))
    brought = [
        one.changed(basis=one.metrics.basis) if one.status == "ok" else one for one in records
    ]
    mixed = run_tables.day_table(dataset, [*brought[:7], *records[7:]])
    assert pl.DataFrame(mixed).equals(scored)
    monkeypatch.delattr(run_tables, "score_days")
    assert pl.DataFrame(run_tables.day_table(dataset, brought)).equals(scored)
    assert pl.DataFrame(run_tables.day_table(dataset, records[4:5])).equals(scored.head(0))
