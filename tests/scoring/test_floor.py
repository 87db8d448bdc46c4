"""The floor: built-in agents on the same samples, cheap, kept, and never in the way."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from toy_runs import ToySum

from pytest_agentbench.agents import captured
from pytest_agentbench.reports import rows
from pytest_agentbench.scoring import floor
from pytest_agentbench.settings.settings import Settings


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))
    return Settings(
        benchmark=ToySum(), nodeid="toysum", mode="test", dataset="demo", agent="a.py",
        reading="exact", parameters={"shift": 0},
    )  # fmt: skip


def floors(settings, indices=range(12), **options):
    return floor.floors(settings, settings.benchmark.load(settings), indices, **options)


def kept(tmp_path):
    return list((tmp_path / "cache" / "floors").glob("*.json"))


def test_every_baseline_is_measured_the_default_first(settings):
    found = floors(settings)
    assert [one.agent for one in found] == ["builtin:right", "builtin:wrong", "builtin:half"]
    assert [one.readings["exact"]["accuracy"] for one in found] == [1.0, 0.0, 0.5]
    assert found[0].readings["exact"]["style"] is None
    assert rows.floor_note(found, "exact", "accuracy") == (
        "floor: builtin:right 1.0000, builtin:wrong 0.0000, builtin:half 0.5000"
    )


def test_the_measured_agent_is_no_floor_of_its_own(settings):
    found = floors(settings, agent="builtin:right")
    assert [one.agent for one in found] == ["builtin:wrong", "builtin:half"]
    assert [one.agent for one in floors(settings, names=["half"])] == ["builtin:half"]


def test_it_is_of_the_same_samples(settings):
    found = floors(settings, [0, 1, 2])
    assert found[2].readings["exact"]["accuracy"] == pytest.approx(2 / 3)


def test_it_is_computed_once(settings, tmp_path, monkeypatch):
    first = floors(settings)
    assert len(kept(tmp_path)) == 3
    monkeypatch.setattr(ToySum, "baselines", dict.fromkeys(ToySum.baselines, None))
    assert floors(settings) == first
    assert floors(settings, range(11))[0].skipped  # other samples: computed, and these cannot be
    assert len(kept(tmp_path)) == 3  # a failure may pass, so it is not kept
    kept(tmp_path)[0].write_text("{half")
    assert sum(one.skipped is not None for one in floors(settings)) == 1


@pytest.mark.parametrize("part", ["version", "seed", "data"])
def test_what_decides_it_is_in_its_key(settings, tmp_path, monkeypatch, part):
    import dataclasses

    floors(settings)
    if part == "version":
        monkeypatch.setattr(floor, "__version__", "next")
        floors(settings)
    elif part == "seed":
        floors(dataclasses.replace(settings, seed=5))
    else:
        floors(dataclasses.replace(settings, parameters={"shift": 2}))
    assert len(kept(tmp_path)) == 6


def test_too_many_samples_are_not_measured(settings, tmp_path):
    found = floors(settings, most_samples=11)
    assert {one.skipped for one in found} == {"12 samples, more than 11"}
    assert rows.floor_note(found, "exact", "accuracy").startswith("floor: not computed (left out: ")
    assert not kept(tmp_path)


def test_a_slow_baseline_is_left_out_in_time_and_tried_again_with_more(settings, monkeypatch):
    now = [0.0]  # a clock of the test's own: a busy machine makes no baseline slow
    monkeypatch.setattr(floor, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def slow(context):
        now[0] += 0.05
        return context["a"] + context["b"]

    monkeypatch.setattr(ToySum, "baselines", {"right": slow, "wrong": lambda context: -1})
    found = floors(settings, most_seconds=0.1)
    assert now[0] == pytest.approx(0.5)  # ten samples tell how long all would take
    assert found[0].skipped == "not done within 0.1 s"
    assert "(left out: builtin:right" in rows.floor_note(found, "exact", "accuracy")
    again = floors(settings, most_seconds=0.1)  # known to be slow: its time is for the others
    assert again[0].skipped
    assert again[1].readings["exact"]["accuracy"] == 0.0
    assert floors(settings, most_seconds=60)[0].readings["exact"]["accuracy"] == 1.0


def test_a_baseline_that_fails_never_harms_the_run(settings, monkeypatch, capsys):
    captured.install([])

    def loud(context):
        sys.stdout.write("noise")
        return 1

    monkeypatch.setattr(ToySum, "baselines", {"right": loud, "broken": 3})
    found = floors(settings)
    assert found[0].skipped is None
    assert found[1].skipped.startswith("12 of 12 samples failed: ")
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(ToySum, "score_run", lambda *_: 1 / 0)
    assert "ZeroDivisionError" in floors(settings, range(3))[0].skipped


def test_a_cache_that_cannot_be_written_is_done_without(settings, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "file" / "below"))
    assert floors(settings)[0].readings["exact"]["accuracy"] == 1.0


def test_another_metric_stands_in_for_an_absent_one(settings):
    assert rows.floor_note(floors(settings), "exact", "style").startswith(
        "floor (accuracy): builtin:right 1.0000"
    )
    assert rows.floor_note([], "exact", "accuracy") is None
