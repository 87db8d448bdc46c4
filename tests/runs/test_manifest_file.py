"""manifest.json as dataclasses: what is needed is checked, the rest is kept as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.manifest_file import Manifest

WRITTEN = Path(__file__).parent / "written_by_0_1_0"
WHERE = Path("run/manifest.json")


def test_a_manifest_of_0_1_0_is_read_and_kept_whole():
    found = run_folder.read_manifest(WRITTEN / "finished")
    assert (found.settings.benchmark, found.settings.epochs) == ("toysum", 2)
    assert found.settings.parameters == {"shift": "0"}  # as texts, until 0.1.0
    assert found.agent.name == "my_agent.py"
    assert found.versions["pytest-agentbench"] == "0.1.0"
    assert found.plain["machine"]["system"] == "Linux"
    assert found.plain_settings["agent_memory"] == 2000


def test_what_is_missing_or_null_or_new_is_no_mistake():
    found = Manifest.from_json(
        {"schema": 1, "settings": {"dataset": None}, "agent": None, "x": 1}, WHERE
    )
    assert (found.settings.dataset, found.agent.name, found.plain["x"]) == ("demo", None, 1)
    assert Manifest.from_json({"schema": 1, "plain": {"settings": 3}}, WHERE).plain_settings == {}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"settings": []}, "`settings`: expected an object, got []"),
        ({"settings": {"epochs": 0}}, "`settings.epochs`: expected a whole number from 1, got 0"),
        ({"settings": {"parameters": {"shift": []}}}, "`settings.parameters.shift`: expected"),
        ({"agent": "a.py"}, "`agent`: expected an object, got 'a.py'"),
        ({"started": 3}, "`started`: expected a text, got 3"),
        ({"resumed": "then"}, "`resumed`: expected a list, got 'then'"),
        ({"schema": 2, "versions": {"pytest-agentbench": "9.0"}}, "schema 2; nothing of it is changed: read it with the version that made it (pytest-agentbench 9.0)"),
        ({"schema": True}, "got schema True"),
        ({"schema": [1], "versions": []}, "(pytest-agentbench unknown)"),
    ],
)  # fmt: skip
def test_what_we_do_not_write_is_refused_by_file_and_key(changed, said):
    with pytest.raises(BenchmarkError) as caught:
        Manifest.from_json({"schema": 1, **changed}, WHERE)
    assert str(caught.value).startswith("run/manifest.json: ")
    assert said in str(caught.value)
