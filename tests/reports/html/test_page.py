"""The family of pages: one style sheet, everything escaped, nothing that only an unpacked package has."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import html_runs
import jinja2
import pytest
from toy_runs import make_run

import pytest_agentbench
from pytest_agentbench.reports import comparison, leaderboard
from pytest_agentbench.reports.html import page, report
from pytest_agentbench.runs import stored
from pytest_agentbench.scoring import compare, ranking


def test_report_comparison_and_leaderboard_share_one_style_sheet(tmp_path):
    folders = [make_run(tmp_path / name, name) for name in ("half", "right")]
    toy = html_runs.toy()
    pages = [
        report.html(toy.settings, toy.dataset, toy.scores, toy.records),
        comparison.html(compare.compare(*folders)),
        leaderboard.html(ranking.leaderboard([stored.read(folder) for folder in folders])),
    ]
    styles = {re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1] for text in pages}
    assert styles == {f"\n{page.file('style.css')}\n"}
    assert all(text.startswith("<!DOCTYPE html>\n") for text in pages)


def test_whatever_a_value_says_is_text():
    hostile = html_runs.HOSTILE
    text = page.render("leaderboard.html", title=hostile, notes=[hostile],
                       tables=[{"title": hostile, "head": (hostile,), "rows": [[hostile]], "facts": [hostile]}])  # fmt: skip
    assert "<script" not in text
    assert "<img" not in text
    assert text.count("&lt;img src=x") == 7


def test_a_value_that_is_not_given_is_a_mistake():
    with pytest.raises(jinja2.UndefinedError, match="'tables' is undefined"):
        page.render("leaderboard.html", title="x", notes=())


def test_pages_are_made_from_a_zip_file(tmp_path):
    package = Path(pytest_agentbench.__file__).parent
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        for path in package.rglob("*"):
            if path.suffix in (".py", ".html", ".css", ".js"):
                archive.write(path, path.relative_to(package.parent))
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'package.zip')!r}); "
        "from pytest_agentbench.reports.html import page; "
        "print(page.__file__, page.render('leaderboard.html', title='t', tables=(), notes=()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "package.zip" in done.stdout
    assert "<h1>t</h1>" in done.stdout


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_pages_are_made_where_no_template_can_be_kept(tmp_path, monkeypatch, place):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / place))
    page._environment.cache_clear()
    try:
        assert page._environment().bytecode_cache is None
        assert page._environment().get_template("base.html").render(css="", version="", title="t")
    finally:
        page._environment.cache_clear()


def test_templates_are_kept_and_a_folder_that_became_read_only_does_no_harm(
    cache_folder, monkeypatch
):
    page._environment.cache_clear()
    try:
        page._environment().get_template("base.html")
        assert list((cache_folder / "templates").iterdir())
        page._environment.cache_clear()
        made = page._environment()

        def refused(*_, **__):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("tempfile.NamedTemporaryFile", refused)
        assert made.get_template("comparison.html")
    finally:
        page._environment.cache_clear()
