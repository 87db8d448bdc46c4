"""A population as four arrays: read from files, made of answers, told apart by its digest."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.daily_mobility.population import Population, load_truth


def answer(radius, places, code):
    shares = [float(code == other) for other in range(1, 8)]
    return {
        "gyration_radius": radius, "daily_location_numbers": places,
        "intention_sequences": [code] * 48, "intention_proportions": shares,
    }  # fmt: skip


def test_answers_become_a_row_each():
    people = Population.from_answers([answer(10.0, 1, 1), answer(2500.5, 4, 7)])
    assert people.gyration_radius.tolist() == [10.0, 2500.5]
    assert people.daily_location_numbers.tolist() == [1.0, 4.0]
    assert people.intention_sequences.tolist() == [[1] * 48, [7] * 48]
    assert people.intention_proportions.tolist() == [[1.0, *[0.0] * 6], [*[0.0] * 6, 1.0]]


def test_nobody_is_a_population_of_none():
    nobody = Population.from_answers([])
    assert [array.shape for array in vars(nobody).values()] == [(0,), (0,), (0, 48), (0, 7)]


def test_the_digest_follows_every_value_and_the_order():
    people = [answer(10.0, 1, 1), answer(20.0, 2, 2)]
    first = Population.from_answers(people).digest()
    assert Population.from_answers(list(people)).digest() == first
    others = [people[::-1], people[:1], [people[0], answer(20.0, 3, 2)]]
    assert len({first, *(Population.from_answers(other).digest() for other in others)}) == 4


def test_the_truth_is_read_from_four_files_that_may_differ_in_length(folder):
    radius = np.array([1.0, 2.0], np.float32)
    truth = load_truth(folder(gyration_radius=radius) / "groundtruth")
    assert [len(array) for array in vars(truth).values()] == [2, 20, 20, 20]
    assert truth.gyration_radius.tolist() == [1.0, 2.0]
    assert truth.intention_sequences.dtype == np.uint8


def bad_codes():
    codes = np.full((20, 48), 3)
    codes[4, 7] = 8
    return codes


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"gyration_radius": None},
            "gyration_radius.npy: expected one number a person, got No such",
        ),
        (
            {"gyration_radius": np.ones((3, 2))},
            "gyration_radius.npy: expected one number a person, got shape (3, 2) of float64",
        ),
        (
            {"gyration_radius": np.array([1.0, np.nan])},
            "gyration_radius.npy: expected finite numbers of at least 0, got nan at [1]",
        ),
        (
            {"daily_location_numbers": np.array([2.0, -1.0])},
            "daily_location_numbers.npy: expected finite numbers of at least 0, got -1.0 at [1]",
        ),
        (
            {"daily_intentions_2d": np.ones((5, 4))},
            "daily_intentions_2d.npy: expected rows of 48 numbers, got shape (5, 4) of float64",
        ),
        (
            {"daily_intentions_2d": bad_codes()},
            "daily_intentions_2d.npy: expected codes 1 to 7, got 8.0 at [4, 7]",
        ),
        (
            {"daily_location_numbers": np.array(["a"])},
            "daily_location_numbers.npy: expected one number a person, got shape (1,) of <U1",
        ),
        (
            {"intention_proportions_2d": np.full((2, 7), np.inf)},
            "intention_proportions_2d.npy: expected finite shares, got inf at [0, 0]",
        ),
    ],
)
def test_what_is_wrong_in_the_truth_is_named_with_its_file(folder, parts, message):
    path = folder(**parts)
    with pytest.raises(BenchmarkError) as error:
        load_truth(path / "groundtruth")
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))


def test_a_truth_that_is_no_npy_file(folder):
    path = folder() / "groundtruth"
    (path / "gyration_radius.npy").write_bytes(b"oops")
    with pytest.raises(BenchmarkError, match=r"expected one number a person as a \.npy file"):
        load_truth(path)
