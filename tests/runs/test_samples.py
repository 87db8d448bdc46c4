"""Which samples are asked, and which names they may have."""

from __future__ import annotations

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Sample, SampleKey, SampleList
from pytest_agentbench.runs import samples


def test_a_limit_draws_with_the_seed_and_marks_the_run_partial(project):
    drawn = []
    for seed in ("0", "0", "1"):
        result = project.pytest("--benchmark=toysum", "--limit=5", f"--seed={seed}")
        assert result.ret == 0
        result.stdout.fnmatch_lines(["5 samples: 5 ok, partial (5 of 12)"])
        drawn.append({record["sample"] for record in project.records()})
    assert drawn[0] == drawn[1] != drawn[2]
    assert project.scores()["partial"] is True


def test_the_first_come_in_the_order_of_the_data(project):
    result = project.pytest("--benchmark=toysum", "--first=5")
    result.stdout.fnmatch_lines(["5 samples: 5 ok, partial (5 of 12)"])
    assert {r["sample"].partition("[")[2] for r in project.records()} == {
        "s0]", "s1]", "s2]", "s3]", "s4]",
    }  # fmt: skip


def test_what_is_kept_of_all_is_what_would_have_been_drawn():
    """-m in addopts, which deselects none of ours, does not change the draw."""
    single = [(index,) for index in range(100)]
    for seed in range(3):
        drawn = samples.drawn(100, 7, seed)
        assert samples.kept(single, 7, seed, None) == {(index,) for index in drawn}
    assert samples.kept(single, None, 0, 3) == {(0,), (1,), (2,)}


def test_of_chunks_as_many_are_kept_as_fit_and_at_least_one():
    chunks = [tuple(range(start, start + 10)) for start in range(0, 100, 10)]
    assert len(samples.kept(chunks, 35, 0, None)) == 3
    assert len(samples.kept(chunks, 4, 0, None)) == 1
    assert samples.kept(chunks, None, 0, 20) == set(chunks[:2])
    assert samples.kept([], 5, 0, None) == set()


def data(*ids):
    return SampleList([Sample(SampleKey("uid", name), 1, 2) for name in ids], "my.csv")


def test_names_that_a_node_id_can_hold_are_taken():
    samples.check_names(data("80012", "a/b", "x.y-z"))


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ((), "my.csv: expected samples, got none"),
        (("a", "b", "a"), "my.csv: expected a name used once for a sample, got 'uid[a]'"),
        (("a b",), "my.csv: expected a plain name such as uid[80012] for a sample, got 'uid[a b]'"),
        (("a]",), "got 'uid[a]]'"),
        (("\u00e4",), "got 'uid[\u00e4]'"),
    ],
)
def test_any_other_name_is_refused(ids, said):
    with pytest.raises(BenchmarkError) as caught:
        samples.check_names(data(*ids))
    assert said in str(caught.value)
