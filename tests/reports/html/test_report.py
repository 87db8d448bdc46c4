"""report.html as a file: what is in it, what is escaped, how large it is."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import html_runs
import pytest
from html_runs import HOSTILE, Finished

from pytest_agentbench.benchmarks.figures import Figure
from pytest_agentbench.reports.html import plots, report, sample_data
from pytest_agentbench.runs.record import Record

SCRIPTS = "script"


class Page(HTMLParser):
    """The parts of a report, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.code: list[str] = []  # of scripts that run
        self.data: dict[str, Any] = {}  # of those that hold JSON
        self.packed = ""  # the script of plots
        self.words: list[str] = []
        self._inside: list[str] = []
        self._section = ""
        self.sections: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        self._inside.append(tag)
        if tag == "section":
            self._section = str(given.get("id"))
        if tag == SCRIPTS:
            self._script = given

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self._section = ""
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1] == SCRIPTS:
            if self._script.get("type") == "application/json":
                self.data[str(self._script["id"])] = json.loads(data)
            elif self._script.get("id") == "chart-script":
                self.packed = data
            else:
                self.code.append(data)
        elif not self._inside or self._inside[-1] != "style":
            self.words.append(data)
            if self._section:
                self.sections[self._section] = self.sections.get(self._section, "") + data + " "

    @property
    def visible(self) -> str:
        return " ".join(self.words)

    def column(self, name: str) -> Any:
        columns = self.data["table-data"]["columns"]
        return next((c["values"] for c in columns if c["name"] == name), None)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a run's report and reads it; without plots unless a test wants them."""

    def written(run: Finished, drawn: bool = False) -> Page:
        if not drawn:
            monkeypatch.setattr(plots, "plots", lambda *_: plots.Plots())
        path = tmp_path / "report.html"
        report.write_html(path, run.settings, run.dataset, run.scores, run.records)
        assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
        return Page(path.read_bytes().decode("utf-8"))

    return written


def test_it_shows_headline_readings_gates_coverage_settings_and_notes(write):
    page = write(html_runs.toy())
    shown = page.visible
    for words in ("toysum", "my_agent.py", "0.7500", "95 % interval 0.5000 to 0.8750", "1 of 2",
                  "10 of 12 samples have a valid answer"):  # fmt: skip
        assert words in shown, words
    readings = page.sections["readings"]
    assert re.search(r"exact \*\s+lenient", readings)
    assert re.search(r"accuracy ↑\s+0.7500\s+0.5000 to 0.8750\s+0.8125", readings)
    assert re.search(r"distance \(units\) ↓\s+12.50", readings)
    assert "absent: style: numbers have no style" in readings
    assert "chance: 0.05" in readings
    assert re.search(r"✓ passed\s+accuracy >= 0.7\s+got 0.75", page.sections["gates"])
    assert re.search(r"✗ failed\s+distance < 10\s+got 12.5 against 10", page.sections["gates"])
    settings = page.sections["settings"]
    assert re.search(r"seed\s+3", settings)
    assert "d1g3st" in settings
    assert '"even": 1.0' in settings
    assert "comparison" not in page.sections


def test_the_first_screen_says_what_models_took_if_any_were_asked(write):
    assert "latency" not in write(html_runs.toy()).visible
    use = {
        "models": ["gpt-4o-mini"], "calls": 300, "cache_hits": 120, "input_tokens": 210_000,
        "output_tokens": 30_000, "cost": 0.42, "replayed_cost": 0.17, "p50": 0.812, "p95": 2.44,
    }  # fmt: skip
    shown = write(html_runs.toy(model_use=use)).visible
    first_screen = shown[: shown.index("Gates")]
    for words in (r"model\s+gpt-4o-mini\s+300 calls \(120 from the cache\)", "--llm-cache off",
                  r"cost\s+0.42\s+0.17 more saved by the cache", r"tokens\s+240k\s+210k in, 30k out",
                  r"latency p50\s+0.81 s\s+p95 2.4 s"):  # fmt: skip
        assert re.search(words, first_screen), words


def test_a_partial_and_an_incomplete_run_say_so(write):
    whole = write(html_runs.toy())
    assert "partial run" not in whole.visible
    cut = write(html_runs.toy(partial=True, incomplete="the session was cut short (interrupted)"))
    assert "partial run: not every sample of the data was asked" in cut.visible
    assert "incomplete: the session was cut short (interrupted)" in cut.visible


def test_an_undecided_gate_is_neither_passed_nor_failed(write):
    gate = {"gate": "accuracy > 0", "passed": None, "value": None, "threshold": None, "reason": "cut short"}  # fmt: skip
    page = write(html_runs.toy(gates=[gate]))
    assert re.search(r"\? not decided\s+accuracy > 0\s+cut short", page.sections["gates"])


def test_an_absent_headline_says_why(write):
    readings = {"exact": {"accuracy": {"value": None, "reason": "nobody answered"}}}
    assert "absent: nobody answered" in write(html_runs.toy(readings=readings)).visible


@pytest.mark.parametrize(
    ("metric", "low", "high", "verdict"),
    [("accuracy", 0.01, 0.2, "▲ better"), ("accuracy", -0.2, -0.01, "▼ worse"), ("distance", 0.01, 0.2, "▼ worse"),
     ("distance", -0.2, -0.01, "▲ better"), ("accuracy", -0.1, 0.1, "≈ unclear")],
)  # fmt: skip
def test_a_baseline_is_compared_by_the_direction_of_each_metric(write, metric, low, high, verdict):
    value = (low + high) / 2
    baseline = {
        "run": "earlier", "agent": {"name": "old.py"}, "common_samples": 11,
        "readings": {"exact": {metric: {"value": 0.5}}},
        "deltas": {"exact": {metric: {"value": value, "low": low, "high": high}}},
    }  # fmt: skip
    section = write(html_runs.toy(baseline=baseline)).sections["comparison"]
    assert "Baseline: earlier (old.py)" in section
    assert "11 common samples" in section
    assert verdict in section


def test_the_table_has_the_samples_in_columns(write):
    page = write(html_runs.toy(7))
    assert page.column("sample") == [f"sum[s{n}]" for n in range(7)]
    assert page.column("status") == [0, 0, 0, 0, 2, 0, 0]
    assert page.column("accuracy") == [1.0, 1.0, 1.0, 1.0, None, 1.0, 1.0]
    assert page.column("answer") == ["0", "2", "4", "6", "", "10", "12"]
    assert page.column("error")[4] == "RuntimeError: boom 4"
    assert page.column("epoch") is None
    assert page.data["details-data"]["1"] == [
        ["answer", "2", 0], ["truth", "2", 0],
        ["metrics", page.data["details-data"]["1"][2][1], 0],
        ["stdout", "thinking about 1", 0], ["context", "a: 1\nb: 1", 0],
    ]  # fmt: skip
    assert "accuracy" in page.data["details-data"]["1"][2][1]


def test_epochs_have_a_column(write):
    records = [Record("toysum", "sum[s0]", "ok", answer=0, epoch=epoch) for epoch in (1, 2)]
    assert write(html_runs.toy(1, records)).column("epoch") == [1, 2]


def test_text_from_outside_is_shown_and_never_becomes_markup(write):
    records = [
        Record("toysum", "sum[s0]", "invalid", answer=HOSTILE, error=HOSTILE,
               evidence={"stdout": HOSTILE, "messages": [{"role": "user", "content": HOSTILE}]}),
        Record("toysum", "sum[s1]", "ok", answer={HOSTILE: [HOSTILE]}),
    ]  # fmt: skip
    hostile = html_runs.toy(
        2, records, contexts={0: {"text": HOSTILE}},
        agent={"name": HOSTILE}, incomplete=HOSTILE,
        dataset={"source": "demo", "digest": HOSTILE, "description": HOSTILE},
        conditions={HOSTILE: HOSTILE},
        gates=[{"gate": HOSTILE, "passed": False, "value": None, "threshold": None, "reason": HOSTILE}],
        details={"notes": [HOSTILE], HOSTILE: {HOSTILE: HOSTILE}},
        model_use={"models": [HOSTILE], "calls": 1},
        baseline={"run": HOSTILE, "agent": {"name": HOSTILE}, "common_samples": 1, "readings": {}, "deltas": {}},
    )  # fmt: skip
    page, plain = write(hostile), write(html_runs.toy(2))
    assert page.code == plain.code
    extra = {tag for tag, _ in page.tags} - {tag for tag, _ in plain.tags}
    assert extra <= {"p", "section"}
    assert not [tag for tag, attrs in page.tags if any(name.startswith("on") for name in attrs)]
    assert "<script>window.pwned=1</script>" in page.sections["gates"]
    assert "&amp; &lt;b&gt;" in page.sections["gates"]  # as it was written, entities and all
    # All that was said is there, to the character (JSON keeps even the lone surrogate).
    texts = {label: text for label, text, _ in page.data["details-data"]["0"]}
    assert texts["answer"] == texts["error"] == texts["stdout"] == HOSTILE
    assert texts["context"] == f"text: {HOSTILE}"
    assert HOSTILE in texts["messages"]


def test_nothing_is_fetched_and_only_our_scripts_run(write):
    page = write(html_runs.toy(), drawn=True)
    links = [attrs[name] for _, attrs in page.tags for name in ("src", "href") if name in attrs]
    assert links == ["data:,"]
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "")
    (own,) = page.code
    charts = gzip.decompress(base64.b64decode(page.packed)).decode()
    for code in (own, charts):
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


@pytest.mark.parametrize("letter", ["x", "界", "<", "\U0001f600", "\ud800"])
def test_a_thousand_long_samples_stay_under_four_megabytes(write, letter):
    long = letter * 20_000
    records = [
        Record("toysum", f"sum[s{n}]", "ok", answer=long, evidence={"stdout": long, "log": long},
               metrics={"exact": {"accuracy": 1.0, "distance": n / 7}})
        for n in range(1000)
    ]  # fmt: skip
    run = html_runs.toy(1000, records, contexts={n: {"text": long} for n in range(1000)})
    page = write(run, drawn=True)
    assert 2_000_000 < len(page.text.encode()) < 4_000_000
    assert "Long texts are cut" in page.visible
    texts = {label: (text, left) for label, text, left in page.data["details-data"]["17"]}
    kept, left = texts["answer"]
    assert len(kept) + left == 20_000
    assert left > 0
    assert len(kept) > 50


def test_a_large_run_has_the_texts_of_failed_samples_first_and_says_so(write):
    count = sample_data.MOST_DETAILED * 2
    records = html_runs.toy_records(count)
    page = write(html_runs.toy(count, records))
    kept = {int(row) for row in page.data["details-data"]}
    assert len(kept) == sample_data.MOST_DETAILED
    assert {row for row in range(count) if row % 5 == 4} <= kept
    assert f"Texts are here for 2,000 of {count:,} samples" in page.visible
    assert len(page.column("sample")) == count


def test_samples_without_a_record_are_counted(write):
    page = write(html_runs.toy(12, html_runs.toy_records(10)))
    assert "2 of 12 samples left no record and are not listed." in page.visible
    assert "left no record" not in write(html_runs.toy(12)).visible


def test_objects_of_a_benchmark_are_named_and_not_spilled(write):
    page = write(html_runs.real(html_runs.BEHAVIOR, 4))
    texts = {label: text for label, text, _ in page.data["details-data"]["0"]}
    assert "uir: (UserItemReviews)" in texts["context"]
    page = write(html_runs.real(html_runs.DAILY, 4))
    assert "truth" not in [label for label, _, _ in page.data["details-data"]["0"]]


@pytest.mark.parametrize("library", ["vl_convert", "jinja2"])
def test_libraries_of_pages_are_not_imported_before_one_is_made(library):
    code = (
        "import sys, pytest_agentbench.reports.publish, pytest_agentbench.reports.comparison; "
        f"print({library!r} in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_figures_are_escaped_and_numbered(write):
    run = html_runs.toy()
    chart = {"data": {"name": "d"}, "mark": "point"}
    run.benchmark.figures = lambda *_: [Figure("<b>title</b>", "<i>caption</i>", [chart] * 2)]
    page = write(run, drawn=True)
    assert "<b>title</b>" in page.sections["plots"]
    assert "<i>caption</i>" in page.sections["plots"]
    assert [len(item["charts"]) for item in page.data["figures-data"]["figures"]] == [2, 1]
    ids = [attrs.get("id") for _, attrs in page.tags]
    assert {"plot-0-0", "plot-0-1", "plot-1-0"} <= set(ids)
    assert "Distribution over samples" in page.sections["plots"]


def test_a_benchmark_that_cannot_make_its_plots_costs_only_those(write):
    run = html_runs.toy()

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("<b>nobody</b>")

    run.benchmark.figures = broken
    page = write(run, drawn=True)
    assert "could not make its plots: ZeroDivisionError: <b>nobody</b>" in page.sections["plots"]
    assert len(page.data["figures-data"]["figures"]) == 1  # the distribution is still there


def test_without_plots_there_is_no_script_for_them(write):
    page = write(html_runs.toy())
    assert page.packed == ""
    assert page.data["figures-data"] is None
    assert "plots" not in page.sections


@pytest.mark.parametrize(
    ("name", "size"), [(html_runs.HUMOB, 1_500_000), (html_runs.DAILY, 1_500_000)]
)
def test_the_report_of_a_whole_demo_with_all_plots_can_be_sent_by_mail(write, name, size):
    page = write(html_runs.real(name, 300), drawn=True)
    assert len(page.text.encode()) < size
    assert page.packed
