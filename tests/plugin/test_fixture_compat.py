"""Private names of pytest around fixtures: each there today, each missed with clear words."""

from __future__ import annotations

import types

import pytest

from pytest_agentbench.plugin import fixture_compat


class Adders:
    @pytest.fixture
    def agent(self):
        return None

    @pytest.fixture(name="agent")
    def zero(self):
        return None

    @pytest.fixture(name="other")
    def add(self):
        return None

    @property
    def broken(self):
        raise AssertionError("looked at")


def test_the_fixtures_in_a_plugin_the_strongest_last():
    plugin = Adders()
    found = fixture_compat.fixtures_in(plugin, "agent")
    assert [one.__name__ for one in found] == ["agent", "zero"]
    assert all(one.__self__ is plugin for one in found)
    module = types.ModuleType("plugin")
    module.agent, module.adder = "no fixture", pytest.fixture(name="agent")(len)
    assert fixture_compat.fixtures_in(module, "agent") == [len]


class Seen:
    """Keeps which functions a test and its module see, and what pytest gave the test."""

    def pytest_runtest_call(self, item):
        self.module = fixture_compat.visible_fixtures(item.parent, "tmp_path")
        self.none = fixture_compat.visible_fixtures(item.parent, "none_such")
        self.item = fixture_compat.fixtures_of(item, "tmp_path")


def seen(pytester, test):
    pytester.makeconftest("import pytest\n@pytest.fixture\ndef tmp_path():\n    pass\n")
    pytester.makepyfile(test)
    found = Seen()
    pytester.inline_run("-p", "no:cacheprovider", plugins=[found])
    return found


def test_a_conftest_is_seen_behind_pytests_own(pytester):
    found = seen(pytester, "def test_a(tmp_path):\n    pass\n")
    assert [one.__module__ for one in found.module] == ["_pytest.tmpdir", "conftest"]
    assert (found.item, found.none) == (found.module, [])
    assert not fixture_compat.is_parameter(found.item[-1])


def test_a_parameter_takes_the_place_of_all(pytester):
    found = seen(
        pytester,
        "import pytest\n@pytest.mark.parametrize('tmp_path', [1])\ndef test_a(tmp_path):\n    pass\n",
    )
    assert len(found.module) == 2
    assert [fixture_compat.is_parameter(one) for one in found.item] == [True]


class Bare:
    def __init__(self, **given):
        self.__dict__.update(given)


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        (lambda: fixture_compat.visible_fixtures(Bare(session=Bare()), "agent"), "_fixturemanager"),
        (
            lambda: fixture_compat.visible_fixtures(
                Bare(session=Bare(_fixturemanager=Bare())), "agent"
            ),
            "getfixturedefs",
        ),
        (lambda: fixture_compat.fixtures_of(Bare(), "agent"), "_fixtureinfo"),
        (lambda: fixture_compat.fixtures_of(Bare(_fixtureinfo=Bare()), "a"), "name2fixturedefs"),
    ],
)
def test_a_name_that_is_gone_is_refused_with_what_to_do(call, missing):
    with pytest.raises(pytest.UsageError, match=rf"needs Bare\.{missing} of pytest, which pytest "):
        call()


def test_before_pytest_9_1_a_conftest_is_seen_by_every_node_of_its_folder():
    assert fixture_compat.adopt_conftest(Bare(session=Bare(_fixturemanager=Bare()))) is None


def test_without_a_way_to_load_them_conftests_are_loaded_later(tmp_path):
    config = Bare(pluginmanager=Bare(), rootpath=tmp_path)
    assert fixture_compat.load_conftests(config, tmp_path) is None


def test_parameters_and_fixture_names(pytester):
    pytester.makepyfile(
        test_own="import pytest\n@pytest.mark.parametrize('n', [7])\ndef test_one(n, tmp_path): pass\n"
        "def test_two(): pass\n"
    )
    items, _ = pytester.inline_genitems()
    assert [dict(fixture_compat.parameters(item)) for item in items] == [{"n": 7}, {}]
    assert [set(fixture_compat.fixture_names(item)) >= {"n", "tmp_path"} for item in items] == [
        True,
        False,
    ]


def test_an_item_without_parameters_or_fixtures_has_none():
    assert fixture_compat.parameters(Bare()) == {}
    assert fixture_compat.fixture_names(Bare()) == ()
