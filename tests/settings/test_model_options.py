"""--model, --base-url and --api-key-env become entries of llm; several models have node ids of their own."""

from __future__ import annotations

import json

import pytest

from pytest_agentbench.agents.llm.entries import DEFAULT_URL
from pytest_agentbench.settings import model_options
from pytest_agentbench.settings.resolve import Layer, SettingsError, models_named, resolve

ENTRY = {
    "model": "small", "base_url": "http://one/v1", "api_key": "${ONE}", "price_input": 1, "price_output": 2,
}  # fmt: skip
# What another model costs is not known.
UNPRICED = {"price_input": None, "price_output": None}


def layers(typed=None, scenario=None, ini=None):
    found = [
        Layer(lambda key: f"--{key}", typed or {}),
        Layer(lambda key: f"s.yaml: {key}", scenario or {}),
        Layer(lambda key: f"pytest.ini: agentbench_{key}", ini or {}, for_all=True),
    ]
    return [layer for layer in found if layer.values]


def settled(typed=None, scenario=None, ini=None, model=None):
    return resolve("humob", None, layers(typed, scenario, ini), [], model=model)


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_a_model_alone_is_asked_at_openai_without_a_key():
    (entry,) = settled({"models": ["m"]}).llm
    assert (entry.model, entry.base_url, entry.api_key) == ("m", DEFAULT_URL, None)


def test_the_usual_key_is_named_where_it_is_set_and_never_written(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    settings = settled({"models": ["m"], "base_url": "http://localhost:1/v1"})
    written = settings.as_json()
    assert written["llm"] == [
        {"model": "m", "base_url": "http://localhost:1/v1", "api_key": "${OPENAI_API_KEY}"}
    ]
    assert "canary" not in json.dumps(written) + repr(settings)
    assert not {"models", "base_url", "api_key_env"} & written.keys()


def test_a_key_that_was_asked_for_must_be_there():
    (entry,) = settled({"models": ["m"], "api_key_env": "MINE"}).llm
    assert entry.as_json()["api_key"] == "${MINE}"
    with pytest.raises(ValueError, match="names the environment variable MINE, which is not set"):
        entry.expanded({})


def test_a_key_in_the_place_of_its_name_is_not_shown():
    with pytest.raises(SettingsError, match="--api_key_env: expected the name") as caught:
        settled({"models": ["m"], "api_key_env": "sk-canary"})
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "changed"),
    [
        ({"models": ["small"]}, {}),
        ({"models": ["large"]}, {"model": "large", **UNPRICED}),
        ({"base_url": "http://two/v1"}, {"base_url": "http://two/v1"}),
        ({"api_key_env": "TWO"}, {"api_key": "${TWO}"}),
        (
            {"models": ["large"], "base_url": "http://two/v1"},
            {"model": "large", "base_url": "http://two/v1", **UNPRICED},
        ),
    ],
)
def test_what_is_typed_changes_the_one_entry_of_a_scenario(typed, changed):
    (entry,) = settled(typed, {"llm": [ENTRY]}).llm
    expected = {**ENTRY, **changed}
    assert entry.as_json() == {key: value for key, value in expected.items() if value is not None}


def test_a_model_that_has_an_entry_is_asked_by_it_at_its_prices():
    large = {**ENTRY, "model": "large", "price_input": 10, "price_output": 20}
    for entry in (ENTRY, large):
        settings = settled(scenario={"llm": [ENTRY, large]}, model=entry["model"])
        assert [one.as_json() for one in settings.llm] == [entry]


def test_of_several_entries_none_is_changed():
    two = {"llm": [ENTRY, {"model": "other"}]}
    for typed in ({"models": ["m"]}, {"base_url": "http://two"}, {"api_key_env": "TWO"}):
        with pytest.raises(
            SettingsError,
            match=r"expected one entry in llm.* got 2 \(small, other\); give both --model and",
        ):
            settled(typed, two)
    (entry,) = settled({"models": ["m"], "base_url": "http://two"}, two).llm
    assert (entry.model, entry.base_url) == ("m", "http://two")


def test_an_address_needs_a_model_unless_it_is_the_ini_files():
    with pytest.raises(SettingsError, match="--base_url: expected --model NAME beside it"):
        settled({"base_url": "http://two"})
    ini = {"base_url": "http://two"}
    assert settled(ini=ini).llm == ()
    assert settled({"models": ["m"]}, ini=ini).llm[0].base_url == "http://two"
    with pytest.raises(SettingsError, match=r"--models: base_url: expected http://…"):
        settled({"models": ["m"], "base_url": "two"})


def test_a_stronger_place_holds():
    ini = {"models": ["weak"], "base_url": "http://weak"}
    assert settled(scenario={"llm": [ENTRY]}, ini=ini).llm[0].as_json() == ENTRY
    assert settled(scenario={"models": ["m"]}, ini=ini).llm[0].model == "m"
    assert models_named(layers(scenario={"llm": [ENTRY]}, ini={"models": ["a", "b"]})) == ()


def test_several_models_are_for_several_runs():
    typed = {"models": ["a", "b"]}
    assert models_named(layers(typed, {"llm": [ENTRY]})) == ("a", "b")
    with pytest.raises(SettingsError, match=r"--models: expected one model here, got 2 \(a, b\)"):
        settled(typed)
    settings = settled(typed, {"llm": [ENTRY]}, model="b")
    assert (settings.nodeid, settings.llm[0].model) == ("humob@b", "b")
    assert settled(model="c").llm[0].model == "c"
    with pytest.raises(SettingsError, match="expected each model once, got 'a' 2 times"):
        settled({"models": ["a", "b", "a"]})


@pytest.mark.parametrize(
    "model",
    ["gpt-4o-mini", "meta-llama/Llama-3-8B:free", "a b", "x[1]", "a::b", "end:", "me@home", "é", "50%"],
)  # fmt: skip
@pytest.mark.parametrize("base", ["humob", "../humob", "my.yaml", "me@home/my.yml"])
def test_a_node_id_is_read_back(base, model):
    nodeid = model_options.run_of(base, model) + "::uid[80012]"
    assert model_options.parted(nodeid.partition("::")[0]) == (base, model)
    assert not set(nodeid.removesuffix("[80012]")) & set("[] ")
    assert model_options.parted(base) == (base, None)
