"""A finished run read back from its folder."""

from __future__ import annotations

import json

import pytest
from toy_runs import make_run
from toybench import ToySum

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import stored
from pytest_agentbench.runs.stored import Named


def change(folder, file, **settings):
    data = json.loads((folder / file).read_text())
    data.update(settings)
    (folder / file).write_text(json.dumps(data))


def test_settings_and_data_come_back_as_they_were(tmp_path):
    folder = make_run(tmp_path / "run", "half", seed=4, shift=2, reading="lenient", epochs=3)
    run = stored.read(folder)
    settings = stored.settings_of(run)
    assert (settings.seed, settings.reading, settings.epochs) == (4, "lenient", 3)
    assert settings.parameters == {"shift": 2}  # a number again, not the manifest's text
    assert [gate.text for gate in settings.gates] == ["coverage >= 1"]
    dataset = stored.load_data(run, settings)
    assert dataset.sample(1).truth == 4
    assert settings.as_json() == json.loads((folder / "manifest.json").read_text())["settings"]


def test_its_facts_for_people(tmp_path):
    gates = [{"gate": "a > 1", "passed": passed} for passed in (True, False, None)]
    run = stored.read(make_run(tmp_path / "run", "half", gates=gates))
    assert run.started == "2026-01-02 03:04:05"
    assert run.scores.gates_passed == "1/2"
    assert run.scores.metric("accuracy").value == 0.5


class Unregistered(ToySum):
    name = "unregistered"


def test_a_benchmark_that_is_not_registered_is_the_one_that_the_user_names(tmp_path):
    folder = make_run(tmp_path / "run", "half", benchmark="unregistered")
    with pytest.raises(BenchmarkError, match=r"got one of 'unregistered'; install the package"):
        stored.benchmark_of(stored.read(folder))
    mine = Unregistered()
    assert stored.benchmark_of(stored.read(folder, Named((ToySum(), mine)))) is mine


def test_the_class_in_a_manifest_is_shown_and_not_imported(tmp_path):
    folder = make_run(tmp_path / "run", "half", benchmark="unregistered")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["settings"]["benchmark_class"] = "toybench:ToySum"
    change(folder, "manifest.json", **manifest)
    with pytest.raises(BenchmarkError, match=r"its manifest says 'toybench:ToySum', which is not"):
        stored.benchmark_of(stored.read(folder))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "expected the scores of a run, got a JSON list"),
        ("{", "expected the scores of a run in JSON"),
        ('{"benchmark": "toysum"}', "expected the key `primary`, got benchmark"),
        (
            '{"benchmark": "toysum", "readings": {"exact": {"accuracy": {"value": NaN}}}}',
            "in JSON, got NaN, which is no JSON",
        ),
        ('{"benchmark": "toysum", "seed": 1e999}', "got the number 1e999, which is too large"),
        ('{"x": ' + "[" * 3000 + "]" * 3000 + "}", "got more than 100 levels"),
    ],
)
def test_what_is_not_a_run_is_refused(tmp_path, text, said):
    folder = make_run(tmp_path / "run", "half")
    (folder / "scores.json").write_text(text)
    with pytest.raises(BenchmarkError) as caught:
        stored.read(folder)
    assert said in str(caught.value)


def test_conditions_that_cannot_be_had_again_are_named(tmp_path):
    folder = make_run(tmp_path / "run", "half", conditions={"text models": "published"})
    run = stored.read(folder)
    with pytest.raises(BenchmarkError, match="its text models was 'published'"):
        stored.load_data(run, stored.settings_of(run))
