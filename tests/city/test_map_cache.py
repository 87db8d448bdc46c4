"""The cache of maps: read once, mapped by everybody, made anew where it is damaged."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pytest_agentbench.city import map_cache
from pytest_agentbench.city.map import City, Place, Poi

PLACES = [Place(1, 0.0, 0.5, "home"), Place(2, 5.0, 0.0, "shop|café"), Place(5, 1.0, 1.0)]
POIS = [Poi(7, 0.0, 1.0, "shop|kiosk", "Ecke", 2)]


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "town.pb"
    path.write_bytes(b"the first map")
    return path


@pytest.fixture
def ask(source):
    """Asks the cache; ``reads`` counts how often the map was read for it."""

    def ask():
        def read():
            ask.reads += 1
            return City(PLACES, "", POIS).data

        return map_cache.cached([source], read)

    ask.reads = 0
    return ask


def entry(tmp_path):
    (folder,) = (tmp_path / "cache" / "maps").glob("*-*[0-9]")
    return folder


def test_a_map_is_read_once_and_equal_afterwards(ask):
    first, second = ask(), ask()
    assert ask.reads == 1
    assert first.arrays.keys() == second.arrays.keys()
    expected = City(PLACES, "", POIS)
    found = City(second)
    assert found.digest() == expected.digest()
    assert found.aois() == expected.aois()
    assert found.pois() == expected.pois()
    assert found.nearby((0, 0)) == PLACES[:1] + PLACES[2:] + PLACES[1:2]


def test_the_memory_is_that_of_the_file_and_nobody_can_write_to_it(ask):
    data = ask()
    for name, array in data.arrays.items():
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        assert isinstance(base, np.memmap) or not array.size, name
        assert not array.flags.writeable


def test_another_file_is_another_map(ask, source):
    ask()
    source.write_bytes(b"the second map")
    ask()
    assert ask.reads == 2


@pytest.mark.parametrize("kind", ["changed", "cut", "gone", "notes", "empty notes", "other notes"])
def test_a_damaged_entry_is_made_anew(ask, tmp_path, kind):
    ask()
    folder = entry(tmp_path)
    path = folder / "aoi_xy.npy"
    if kind == "changed":
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    elif kind == "cut":
        path.write_bytes(path.read_bytes()[:-9])
    elif kind == "gone":
        path.unlink()
    elif kind == "notes":
        (folder / map_cache.NOTES).write_text("{")
    elif kind == "empty notes":
        (folder / map_cache.NOTES).write_text("")
    else:
        (folder / map_cache.NOTES).write_text(json.dumps([1]))
    assert City(ask()).aois() == City(PLACES, "", POIS).aois()
    assert ask.reads == 2
    ask()
    assert ask.reads == 2


def test_another_format_is_another_entry(ask, monkeypatch):
    ask()
    monkeypatch.setattr(map_cache, "FORMAT", 999)
    ask()
    assert ask.reads == 2


def test_without_a_cache_folder_everything_works(ask, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "file"))
    assert len(City(ask())) == 3

    def homeless():
        raise RuntimeError("no home folder")

    monkeypatch.setattr(map_cache, "cache_folder", homeless)
    assert len(City(ask())) == 3
    assert ask.reads == 2
