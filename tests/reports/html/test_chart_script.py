"""The script of plots: made once, kept packed, and made again wherever nothing can be kept."""

from __future__ import annotations

import base64
import gzip
import hashlib

import pytest
import vl_convert

from pytest_agentbench.reports.html import chart_script


@pytest.fixture
def makes(monkeypatch, cache_folder):
    """How often a script was made, by a stand-in that takes no second."""
    made = []
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda snippet: made.append(snippet) or "let a = 1;")  # fmt: skip
    chart_script.chart_script.cache_clear()
    yield made
    chart_script.chart_script.cache_clear()


def again():
    chart_script.chart_script.cache_clear()  # as in a new process
    return chart_script.chart_script()


def test_the_digest_is_that_of_what_is_packed(makes):
    found = chart_script.chart_script()
    script = gzip.decompress(base64.b64decode(found.packed))
    assert found.digest == base64.b64encode(hashlib.sha256(script).digest()).decode()
    assert b"(()=>{let a = 1;})();" in script  # nothing of it is global
    assert makes == ["window.vegaEmbed = vegaEmbed;"]


def test_it_is_made_once_and_then_kept(makes, cache_folder):
    first = chart_script.chart_script()
    assert again() == first
    assert len(makes) == 1
    assert len([*(cache_folder / "charts").glob("vega-*.txt")]) == 1


def test_another_version_is_made_anew(makes, monkeypatch):
    again()
    monkeypatch.setattr(chart_script.importlib.metadata, "version", lambda name: "99")
    again()
    assert len(makes) == 2


@pytest.mark.parametrize("content", ["", "one word", "a b c", "caf\xe9 x"])
def test_a_damaged_file_is_replaced(makes, cache_folder, content):
    first = chart_script.chart_script()
    (path,) = (cache_folder / "charts").glob("vega-*.txt")
    path.write_bytes(content.encode("latin-1"))
    assert again() == again() == first
    assert len(makes) == 2


def test_without_a_cache_it_is_made_every_time(makes, cache_folder, monkeypatch):
    cache_folder.parent.mkdir(exist_ok=True)
    cache_folder.write_text("a file where the folder should be")
    assert again() == again()
    assert len(makes) == 2

    def homeless():
        raise RuntimeError("no home folder")

    monkeypatch.setattr(chart_script.files, "cache_folder", homeless)
    again()
    assert len(makes) == 3
