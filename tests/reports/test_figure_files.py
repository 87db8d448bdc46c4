"""Plots as files: they open, they show what the page shows, and mistakes are named."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ElementTree

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.figures import Figure, Picker
from pytest_agentbench.reports import charts, figure_files

POINTS = {
    "data": {"name": "d"},
    "mark": "point",
    "encoding": {
        "x": {"field": "x", "type": "quantitative"}, "y": {"field": "x", "type": "quantitative"},
    },
}  # fmt: skip
PICKER = Picker(
    ("user", "day"),
    {
        "uid[1] (0.1)": {"60": {"d": {"x": [1]}}, "61": {"d": {"x": [1, 2, 3]}}},
        "uid[2] (0.2)": {"60": {"d": {"x": [1, 2]}}},
    },
)


@pytest.fixture
def write(tmp_path):
    def write(*figures, kind="svg", **picked):
        lines, problems = figure_files.write_figures(tmp_path / "out", [*map(charts.checked, figures)], kind, picked)  # fmt: skip
        assert not problems
        return lines

    return write


def points(path):
    """How many points an SVG shows."""
    tree = ElementTree.parse(path)
    marks = [g for g in tree.iter("{http://www.w3.org/2000/svg}g") if "mark-symbol role-mark" in g.get("class", "")]  # fmt: skip
    return sum(len(list(mark)) for mark in marks)


def test_an_svg_has_the_data_the_title_and_a_white_ground(write, tmp_path):
    (line,) = write(Figure("Some points: a & b", charts=[POINTS], data={"d": {"x": [1, 2, 3, 4]}}))
    path = tmp_path / "out" / "some-points-a-b.svg"
    assert line == str(path)
    assert points(path) == 4
    text = path.read_text(encoding="utf-8")
    assert "Some points: a &amp; b" in text
    assert 'fill="white"' in text


def test_a_png_has_two_pixels_for_each_of_the_charts(write, tmp_path):
    small, large = ({**POINTS, "width": width, "height": 100} for width in (100, 300))
    data = {"d": {"x": [1, 2]}}
    write(Figure("small", charts=[small], data=data), Figure("large", charts=[large], data=data), kind="png")  # fmt: skip
    content = [(tmp_path / "out" / f"{name}.png").read_bytes() for name in ("small", "large")]
    assert [one[:8] for one in content] == [b"\x89PNG\r\n\x1a\n"] * 2
    (left, high), (right, as_high) = (struct.unpack(">II", one[16:24]) for one in content)
    assert right - left == 400
    assert high == as_high > 200


def test_a_pdf_is_one(write, tmp_path):
    write(Figure("p", charts=[POINTS], data={"d": {"x": [1, 2]}}), kind="pdf")
    content = (tmp_path / "out" / "p.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"%%EOF" in content[-10:]


def test_charts_that_stand_beside_each_other_are_one_file(write, tmp_path):
    write(Figure("two", charts=[POINTS, {**POINTS, "width": 50}], data={"d": {"x": [1, 2, 3]}}))
    assert points(tmp_path / "out" / "two.svg") == 6


def test_what_a_dash_means_in_one_chart_it_does_not_mean_in_the_next(write, tmp_path):
    def dashed(name, dashes):
        look = {"field": "x", "type": "nominal", "scale": {"domain": [name], "range": [dashes]}}
        return {**POINTS, "mark": "rule", "encoding": {**POINTS["encoding"], "strokeDash": look}}

    charts = [dashed("1", [3, 1]), dashed("1", [7, 2])]
    write(Figure("dashes", charts=charts, data={"d": {"x": [1]}}))
    text = (tmp_path / "out" / "dashes.svg").read_text(encoding="utf-8")
    drawn = [one.split('"')[0] for one in text.split('stroke-dasharray="')[1:]]
    assert {"3,1", "7,2"} <= set(drawn)
    assert text.count('role-legend"') == 2


def test_figures_of_one_title_have_files_of_their_own(write):
    same = Figure("Same", charts=[POINTS], data={"d": {"x": [1]}})
    names = [line.rpartition("/")[2] for line in write(same, same, Figure("no chart"), same)]
    assert names == ["same.svg", "same-2.svg", "same-3.svg"]


@pytest.mark.parametrize(
    ("picked", "name", "words", "count"),
    [
        ({}, "day", "user uid[1] (0.1), day 60", 1),
        ({"day": "61"}, "day-user-uid-1-0-1-day-61", "user uid[1] (0.1), day 61", 3),
        ({"user": "uid[2]"}, "day-user-uid-2-0-2-day-60", "user uid[2] (0.2), day 60", 2),
        ({"user": "uid[2] (0.2)"}, "day-user-uid-2-0-2-day-60", "user uid[2] (0.2), day 60", 2),
    ],
)
def test_the_first_choice_of_a_picker_is_written_or_what_is_picked(write, tmp_path, picked, name, words, count):  # fmt: skip
    (line,) = write(Figure("Day", "All that is known.", charts=[POINTS], picker=PICKER), **picked)
    path = tmp_path / "out" / f"{name}.svg"
    assert line == f"{path} ({words})"
    assert points(path) == count
    text = path.read_text(encoding="utf-8")
    assert words in text
    assert "All that is known." in text


@pytest.mark.parametrize(
    ("picked", "words"),
    [
        ({"person": "x"}, "--pick: expected the label of a picker (day, user), got 'person'"),
        ({"user": "uid[3]"}, "--pick: expected one of the 2 choices of user that 'Day' has (uid[1] (0.1), uid[2] (0.2)), got 'uid[3]'"),
        ({"user": "uid[2]", "day": "61"}, "--pick: expected one of the 1 choices of day that 'Day' has (60), got '61'"),
    ],
)  # fmt: skip
def test_what_cannot_be_picked_is_named_before_anything_is_written(write, tmp_path, picked, words):
    with pytest.raises(BenchmarkError) as caught:
        write(Figure("Day", charts=[POINTS], picker=PICKER), **picked)
    assert str(caught.value) == words
    assert not (tmp_path / "out").exists()


def test_a_chart_that_cannot_be_drawn_is_named_with_the_reason_and_costs_no_other(tmp_path):
    data = {"d": {"x": [1]}}
    figures = [Figure("odd", charts=[{"mark": 7}]), Figure("url", charts=[{**POINTS, "data": {"url": "https://example.org/a.csv"}}]), Figure("fine", charts=[POINTS], data=data)]  # fmt: skip
    lines, problems = figure_files.write_figures(tmp_path, [*map(charts.checked, figures)], "svg", {})  # fmt: skip
    assert lines == [str(tmp_path / "fine.svg")]
    assert [problem.partition(" cannot be drawn: ")[0] for problem in problems] == ["'odd'", "'url'"]  # fmt: skip
    assert "https://example.org/a.csv" in problems[1]
    assert all("  at " not in problem and not problem.endswith(":") for problem in problems)


def test_a_folder_that_cannot_be_written_is_named(write, tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(
        BenchmarkError, match="--output: expected a folder that can be written, got "
    ):
        write(Figure("p", charts=[POINTS], data={"d": {"x": [1]}}))
