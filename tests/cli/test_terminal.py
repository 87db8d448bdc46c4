"""Options as arguments of a command, and plain lines on standard output."""

from __future__ import annotations

import argparse
import io
import sys

import pytest

from pytest_agentbench.cli.terminal import Lines, add_option
from pytest_agentbench.settings.options import Option


@pytest.fixture
def parser():
    parser = argparse.ArgumentParser(prog="x")
    for name, more in (
        ("run-dir", {}),
        ("gate", {"repeatable": True}),
        ("all-tables", {"flag": True}),
    ):
        add_option(parser, Option("VALUE", "95 % of them", "a text", str, name=name, **more))
    return parser


def test_what_was_not_given_is_none_so_that_other_places_may_decide(parser):
    assert vars(parser.parse_args([])) == {"run_dir": None, "gates": None, "all_tables": None}


def test_values_flags_and_options_that_repeat(parser):
    given = ["--run-dir=here", "--gate", "a >= 1", "--gate=b < 2", "--all-tables"]
    assert vars(parser.parse_args(given)) == {
        "run_dir": "here", "gates": ["a >= 1", "b < 2"], "all_tables": True,
    }  # fmt: skip


def test_the_help_may_have_a_percent_sign(parser):
    text = parser.format_help()
    assert "--run-dir VALUE" in text
    assert "95 % of them" in text
    assert "--all-tables VALUE" not in text


def test_lines_go_out_at_once_whatever_the_encoding(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii"))
    Lines().write_line("caf\u00e9", red=True)
    assert written.getvalue() == b"caf\\xe9\n"


def test_a_section_fills_the_line(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setenv("COLUMNS", "21")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "utf-8"))
    lines = Lines()
    lines.section("scores", "=")
    lines.write_line("")
    # Seven signs and six letters with a space on both sides leave one sign more on the left.
    assert written.getvalue() == b"======= scores ======\n\n"
