"""Settings on another host: a file that is not where the command says is found in the cache by digest."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_agentbench.base.files import kept_folder, path_digest
from pytest_agentbench.settings.resolve import Layer, SettingsError, resolve
from pytest_agentbench.settings.settings import Settings

sys.path.append(str(Path(__file__).parents[1] / "toy"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def settings(here: Path, digest: str) -> Settings:
    layer = Layer(where=lambda key: f"--{key}", values={"submission": "elsewhere/answers.csv"})
    digests = {"toysum": {"submission": digest}}
    return resolve("toybench:ToySum", None, [layer], [here], digests)


def test_a_submission_is_found_in_the_cache_as_file_or_folder(here, tmp_path):
    original = tmp_path / "answers.csv"
    original.write_text("double[s0],0\n")
    digest = path_digest(original)
    kept = kept_folder(digest) / "answers.csv"
    kept.parent.mkdir(parents=True)
    original.rename(kept)
    assert settings(here, digest).submission == kept

    folder = tmp_path / "answers.csv"
    folder.mkdir()
    (folder / "records.jsonl").write_text("")
    digest = path_digest(folder)
    kept = kept_folder(digest) / "answers.csv"
    kept.parent.mkdir(parents=True)
    folder.rename(kept)
    assert settings(here, digest).submission == kept


def test_a_file_of_another_digest_is_not_taken(here):
    digest = "0" * 64
    kept = kept_folder(digest) / "answers.csv"
    kept.parent.mkdir(parents=True)
    kept.write_text("other\n")
    with pytest.raises(SettingsError) as caught:
        settings(here, digest)
    assert str(caught.value) == (
        f"--submission: expected 'elsewhere/answers.csv' of digest {digest}, which the controller "
        f"has; looked in {here} and in {kept.parent} (where it is damaged); copy it to one of them"
    )


def test_the_first_and_a_draw_exclude_each_other_in_one_place(here):
    both = Layer(where=lambda key: f"--{key}", values={"limit": 3, "first": 4})
    with pytest.raises(SettingsError, match=r"--first: expected either .* got both \(--limit\)"):
        resolve("toybench:ToySum", None, [both], [here])


@pytest.mark.parametrize(("typed", "written"), [("limit", "first"), ("first", "limit")])
def test_the_stronger_place_decides_between_the_first_and_a_draw(here, typed, written):
    layers = [Layer(where=str, values={typed: 3}), Layer(where=str, values={written: 4})]
    resolved = resolve("toybench:ToySum", None, layers, [here])
    assert getattr(resolved, typed) == 3
    assert getattr(resolved, written) is None


def test_a_gate_that_no_run_can_pass_is_refused_by_its_place(here):
    layers = [
        Layer(where=lambda key: f"--{key}", values={"gates": ["accuracy >= 0.5"]}),
        Layer(where=lambda key: f"s.yml, {key}", values={"gates": ["style > 0", "acuracy  >= 1"]}),
    ]
    with pytest.raises(SettingsError, match=r"^s.yml, gates: .*did you mean accuracy\?$"):
        resolve("toybench:ToySum", None, layers, [here])
