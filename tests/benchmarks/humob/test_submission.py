"""Prediction files as answers, and the file that an inference run leaves behind."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from pytest_agentbench.base.errors import BenchmarkError, InvalidAnswer
from pytest_agentbench.benchmarks.humob import table_cache
from pytest_agentbench.benchmarks.humob.benchmark import Humob
from pytest_agentbench.runs.record import Record

SETTINGS = SimpleNamespace()


def predicted(rows):
    return [(*row[:3], 7, 8) for row in rows if row[1] >= 60]


def read(path, dataset):
    return Humob().read_submission(path, dataset, SETTINGS)


@pytest.fixture
def dataset(csv, person, load):
    return load(csv([row for uid in range(80000, 80005) for row in person(uid)]))


@pytest.fixture
def rows(person):
    return predicted([row for uid in range(80000, 80005) for row in person(uid)])


@pytest.mark.parametrize("name", ["pred.csv", "pred.csv.gz", "pred.parquet"])
def test_every_user_of_a_file_is_an_answer(csv, dataset, rows, tmp_path, name):
    if name.endswith("parquet"):
        path = tmp_path / name
        pl.DataFrame(rows, schema=["uid", "d", "t", "x", "y"], orient="row").write_parquet(path)
    else:
        path = csv(rows, name)
    submission = read(path, dataset)
    assert submission.problems == ()
    assert sorted(submission.answers) == [str(key) for key in dataset.keys]
    assert len(submission.answers) == 5
    for index, key in enumerate(dataset.keys):
        sample = dataset.sample(index)
        assert Humob().check(sample, submission.answers[str(key)]) == [[7, 8]] * 9


def test_a_missing_user_is_missing(csv, dataset, rows):
    submission = read(csv([row for row in rows if row[0] != 80003], "pred.csv"), dataset)
    assert submission.problems == ()
    assert "uid[80003]" not in submission.answers
    for key in ("uid[80003]", "uid[x]", "other"):
        with pytest.raises(KeyError):
            submission.answers[key]


def test_extra_users_are_counted_and_listed(csv, dataset, rows, person):
    extra = [row for uid in range(90000, 90020) for row in predicted(person(uid))]
    (problem,) = read(csv([*rows, *extra], "pred.csv"), dataset).problems
    assert "pred.csv: 20 users are not among the 5 to predict: uid 90000, 90001" in problem
    assert problem.endswith("90009, … and 10 more")


def test_users_left_out_on_purpose_are_no_extras(csv, load, rows, person, dataset):
    some = load(dataset.path, users="80001-80002")
    assert read(csv(rows, "pred.csv"), some).problems == ()
    stranger = [*rows, *predicted(person(99000))]
    (problem,) = read(csv(stranger, "pred.csv"), some).problems
    assert "1 users are not among the 2 to predict: uid 99000" in problem


def test_rows_that_do_not_fit_are_listed_and_their_users_invalid(csv, dataset, rows):
    changed = [row for row in rows if row[:3] != (80001, 61, 20)]
    changed = [(u, d, 21 if (u, d, t) == (80002, 62, 20) else t, x, y) for u, d, t, x, y in changed]
    submission = read(csv(changed, "pred.csv"), dataset)
    (problem,) = submission.problems
    assert "the rows of 2 users do not fit" in problem
    assert "uid 80001 has 8 rows, expected 9" in problem
    assert "uid 80002 has d=62, t=21 where d=62, t=20 is expected" in problem
    for index in (1, 2):
        with pytest.raises(InvalidAnswer):
            Humob().check(dataset.sample(index), submission.answers[str(dataset.keys[index])])


def test_a_mask_left_in_is_an_invalid_answer(csv, dataset, rows):
    rows[0] = (*rows[0][:3], 999, 999)
    submission = read(csv(rows, "pred.csv"), dataset)
    with pytest.raises(InvalidAnswer, match="999 is the mask"):
        Humob().check(dataset.sample(0), submission.answers["uid[80000]"])


def test_a_file_that_is_not_there_or_not_readable_is_refused(csv, dataset, tmp_path):
    with pytest.raises(BenchmarkError, match="no such file"):
        read(tmp_path / "nothing.csv", dataset)
    with pytest.raises(BenchmarkError, match=r"pred\.csv, line 2: x must be a cell 1-200, got 0"):
        read(csv([(80000, 60, 10, 0, 5)], "pred.csv"), dataset)


@pytest.mark.parametrize("cache", [True, False])
def test_a_submission_is_read_once_beside_the_data(
    csv, person, rows, load, monkeypatch, tmp_path, cache
):
    if not cache:
        (tmp_path / "file").touch()
        monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "file"))
    data = csv([row for uid in range(80000, 80005) for row in person(uid)])
    path = csv(rows, "pred.csv")
    times = []
    read_table = table_cache.read_table

    def counted(file, **options):
        times.append(file)
        return read_table(file, **options)

    monkeypatch.setattr(table_cache, "read_table", counted)
    dataset = load(data, submission=path)
    assert sorted(times) == [data, path]
    assert len(read(path, dataset).answers) == 5
    assert sorted(times) == [data, path]


def test_mistakes_in_the_data_come_before_those_in_the_submission(csv, person, load):
    bad = csv([(80000, 60, 10, 0, 5)], "pred.csv")
    with pytest.raises(BenchmarkError, match=r"data\.csv, line 2: t must be"):
        load(csv([(80000, 60, 99, 5, 5)]), submission=bad)
    dataset = load(csv(person(80000)), submission=bad)
    with pytest.raises(BenchmarkError, match=r"pred\.csv, line 2: x must be a cell"):
        read(bad, dataset)


def record(sample, answer, status="ok", epoch=1):
    return Record("humob", str(sample.key), status, epoch, answer=answer)


def all_records(dataset):
    samples = [dataset.sample(index) for index in range(len(dataset))]
    return [record(s, [[7, 8]] * len(s.context["targets"])) for s in samples]


def test_inference_writes_the_file_of_the_edition(csv, person, masked, load, tmp_path):
    users = range(17000, 20000)
    slots = [10]
    rows = [row for uid in users for row in person(uid, days=[59, 60, 74], slots=slots)]
    dataset = load(csv(masked(rows)), mode="inference", edition=2024, team="us")
    Humob().write_files(tmp_path, dataset, all_records(dataset))
    written = tmp_path / "us_cityC_humob.csv.gz"
    lines = gzip.decompress(written.read_bytes()).decode().splitlines()
    assert lines[:3] == ["uid,d,t,x,y", "17000,60,10,7,8", "17000,74,10,7,8"]
    assert len(lines) == 6001
    said = (tmp_path / "validation.txt").read_text().splitlines()
    assert said == ["us_cityC_humob.csv.gz", "Validation finished without errors!"]


def test_users_without_an_answer_are_missing_and_said_to_be(load, tmp_path):
    dataset = load("demo", mode="inference")
    records = all_records(dataset)
    records[3] = record(dataset.sample(3), "nonsense", "invalid")
    Humob().write_files(tmp_path, dataset, records)
    said = (tmp_path / "validation.txt").read_text()
    assert "agentbench_task1_humob.csv.gz" in said
    assert "users missing of 80000-99999: 19701 (uid 80003, uid 80300-99999)" in said


def test_the_first_valid_epoch_is_sent(load, tmp_path, csv, person, masked):
    dataset = load(csv(masked(person(80000))), mode="inference")
    sample = dataset.sample(0)
    records = [
        record(sample, [[3, 3]] * 9, epoch=3),
        record(sample, [[2, 2]] * 9, epoch=2),
        record(sample, None, "error", epoch=1),
    ]
    Humob().write_files(tmp_path, dataset, records)
    text = gzip.decompress((tmp_path / "agentbench_task1_humob.csv.gz").read_bytes()).decode()
    assert {line[-4:] for line in text.splitlines()[1:]} == {",2,2"}


def test_users_of_no_task_get_a_file_without_its_name(load, tmp_path, csv, person, masked):
    dataset = load(csv(masked(person(5))), mode="inference")
    Humob().write_files(tmp_path, dataset, all_records(dataset))
    assert (tmp_path / "submission.csv.gz").is_file()
    assert "belong to no task of HuMob 2023" in (tmp_path / "validation.txt").read_text()


def test_two_files_are_scored_as_a_run_on_them_would_be(csv, dataset, rows, person):
    perf = Path(__file__).parents[3] / "perf"
    score_files = runpy.run_path(str(perf / "score_files.py"))["score_files"]
    truth = [row for uid in range(80000, 80005) for row in person(uid) if row[1] >= 60]
    given = csv([(*row[:3], 1 + row[0] % 90, 60) for row in rows], "pred.csv.gz")
    scores = score_files(given, csv(truth, "truth.csv"))
    submission = read(given, dataset)
    samples = [dataset.sample(index) for index in range(len(dataset))]
    answers = [Humob().check(s, submission.answers[str(s.key)]) for s in samples]
    records = [
        Record("humob", str(s.key), "ok", metrics=metrics)
        for s, metrics in zip(samples, Humob().score_samples(samples, answers), strict=True)
    ]
    estimate = Humob().score_run(dataset, records)
    assert scores == {reading: estimate(reading, None) for reading in ("2023", "2025")}
    assert score_files(given, csv(truth, "truth.csv"), ["2025"]) == {"2025": scores["2025"]}
    with pytest.raises(BenchmarkError, match=r"pred\.csv\.gz: expected the uids, days and half"):
        score_files(given, csv(truth[1:], "truth.csv"))
