"""report.html in a real browser: Debian's chromium and chromium-driver, headless."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import html_runs
import pytest
from html_runs import HOSTILE, Finished

from pytest_agentbench.benchmarks.figures import Figure
from pytest_agentbench.reports.html.report import write_html
from pytest_agentbench.runs.record import Record

webdriver = pytest.importorskip("selenium.webdriver", reason="the browser tests need selenium")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHROMEDRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER),
    reason="chromium or chromedriver is not installed (Debian: chromium, chromium-driver)",
)
ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=1200,900",
)  # fmt: skip
PATIENCE = 20.0


class Tab:
    """The browser with one report open."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.run = driver.execute_script

    def open(self, path: Path) -> None:
        self._driver.get_log("browser")  # what an earlier page said is not ours
        self._driver.get(path.as_uri())
        self.wait("document.readyState === 'complete'")

    def wait(self, condition: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"never came true: {condition}"
            time.sleep(0.02)

    def errors(self) -> list[str]:
        return [
            entry["message"]
            for entry in self._driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]

    def media(self, scheme: str, media: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        given = {"media": media, "features": features}
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", given)

    def point_at(self, selector: str) -> None:
        element = self._driver.find_element("css selector", selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        webdriver.ActionChains(self._driver).move_to_element(element).perform()

    def resize(self, width: int) -> None:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def click(self, selector: str, number: int = 0) -> None:
        """A real click, which something lying over the element would take."""
        element = self._driver.find_elements("css selector", selector)[number]
        self.run("arguments[0].scrollIntoView({block: 'center', inline: 'center'})", element)
        element.click()

    def type(self, selector: str, text: str) -> None:
        element = self._driver.find_element("css selector", selector)
        element.clear()
        element.send_keys(text)

    def choose(self, selector: str, option: str, number: int = 0) -> None:
        """Picks an option by its value, as the keyboard would."""
        self.run(
            "const s = document.querySelectorAll(arguments[0])[arguments[2]]; s.value = arguments[1];"
            "if (s.value !== arguments[1]) throw new Error(`no option ${arguments[1]}`);"
            "s.dispatchEvent(new Event('change', {bubbles: true}))",
            selector, option, number,
        )  # fmt: skip

    def column(self, name: str) -> list[str]:
        """The cells of a column on the page that is shown."""
        names = [re.sub(r" [▲▼]$", "", text) for text in self.texts("#rows thead th")]
        return self.texts(f"#rows tbody td:nth-child({names.index(name) + 1})")

    def sort(self, name: str) -> None:
        names = [re.sub(r" [▲▼]$", "", text) for text in self.texts("#rows thead th")]
        self.click("#rows thead th button", names.index(name))

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.run(
            # Lone surrogates, which no JSON of the driver's holds, become U+FFFD.
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.toWellFormed())",
            selector,
        )
        return found


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    settings = webdriver.ChromeOptions()
    settings.binary_location = CHROMIUM
    for argument in (*ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        settings.add_argument(argument)
    settings.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(CHROMEDRIVER)
    driver = webdriver.Chrome(service=service, options=settings)
    try:
        yield Tab(driver)
    finally:
        driver.quit()


@pytest.fixture
def show(tab: Tab, tmp_path: Path) -> Iterator[Callable[[Finished], Tab]]:
    """Writes the report of a run and opens it; afterwards the browser is as it was."""

    def show(run: Finished) -> Tab:
        path = tmp_path / "report.html"
        write_html(path, run.settings, run.dataset, run.scores, run.records)
        tab.open(path)
        return tab

    yield show
    tab.media("light")
    tab.resize(1200)


@pytest.fixture(scope="module")
def humob(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield html_runs.real(html_runs.HUMOB, 30)


@pytest.fixture(scope="module")
def daily() -> Finished:
    return html_runs.real(html_runs.DAILY, 30)


@pytest.fixture(scope="module")
def hurricane() -> Finished:
    return html_runs.real(html_runs.HURRICANE, 30)


@pytest.fixture(scope="module")
def behavior(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield html_runs.real(html_runs.BEHAVIOR, 30)


# What an SVG shows of the data, without axes and legends.
MARKS = """
return [...arguments[0].querySelectorAll('.role-mark path, .role-mark line, .role-mark text')]
  .filter(mark => mark.getBoundingClientRect().width + mark.getBoundingClientRect().height > 1).length;
"""


@pytest.mark.parametrize("name", ["humob", "daily", "hurricane", "behavior"])
def test_it_draws_every_plot_without_a_word_on_the_console_or_the_network(show, request, name):
    tab = show(request.getfixturevalue(name))
    tab.wait("document.body.dataset.drawn")
    places = len(tab.texts(".plot"))
    assert places == {"humob": 5, "daily": 24, "hurricane": 4, "behavior": 3}[name]
    for number in range(places):
        place = f"document.querySelectorAll('.plot')[{number}]"
        assert tab.run(f"return (function() {{ {MARKS} }})({place})") >= 2
    assert tab.errors() == []
    fetched = tab.run("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [url for url in fetched if not url.startswith(("data:", "blob:"))] == []


def test_a_header_sorts_up_then_down_with_absent_values_last(show):
    tab = show(html_runs.toy(12))
    assert tab.column("sample") == [f"sum[s{n}]" for n in range(12)]
    tab.sort("distance")
    up = tab.column("distance")
    assert up[-2:] == ["", ""]
    assert [float(v) for v in up[:-2]] == sorted(float(v) for v in up[:-2])
    assert tab.run("return document.querySelector('[aria-sort=ascending]').textContent") == "distance ▲"  # fmt: skip
    tab.sort("distance")
    assert tab.column("distance") == [*reversed(up[:-2]), "", ""]
    tab.sort("sample")
    tab.sort("sample")
    assert tab.column("sample")[:3] == ["sum[s11]", "sum[s10]", "sum[s9]"]  # not s9, s8, s7


def test_filters_by_text_and_by_status(show):
    tab = show(html_runs.toy(60))
    assert tab.texts("#status option") == ["every status", "ok (48)", "error (12)"]
    tab.click("#on")  # what is found is shown from its first page
    tab.choose("#status", "error")
    assert set(tab.column("status")) == {"error"}
    assert tab.texts("#range") == ["1–12 of 12"]
    tab.type("#search", "BOOM 24")
    tab.wait("document.querySelector('#range').textContent === '1–1 of 1'")
    assert tab.column("sample") == ["sum[s24]"]
    tab.type("#search", "nowhere")
    tab.wait("document.querySelector('#range').textContent === 'no samples'")
    assert tab.column("sample") == []


def test_pages_of_rows(show):
    tab = show(html_runs.toy(60))
    assert tab.texts("#range") == ["1–25 of 60"]
    assert tab.run("return document.querySelector('#back').disabled")
    tab.click("#on")
    tab.click("#on")
    assert tab.texts("#range") == ["51–60 of 60"]
    assert tab.column("sample")[0] == "sum[s50]"
    assert tab.run("return document.querySelector('#on').disabled")
    tab.choose("#size", "100")
    assert tab.texts("#range") == ["1–60 of 60"]
    assert len(tab.column("sample")) == 60


def test_one_sample_opens_with_its_texts_and_leads_to_the_next(show):
    long = "0123456789" * 10_000
    records = html_runs.toy_records(12)
    records[3] = Record("toysum", "sum[s3]", "ok", answer=long)
    tab = show(html_runs.toy(12, records))
    tab.click("#rows tbody button", 2)
    assert tab.run("return document.querySelector('#sample').open")
    assert tab.texts("#name") == ["sum[s2]"]
    labels, texts = tab.texts("#texts h3"), tab.texts("#texts pre")
    assert labels == ["answer", "truth", "metrics", "stdout", "context"]
    assert texts[:2] == ["4", "4"]
    assert texts[3:] == ["thinking about 2", "a: 2\nb: 2"]
    tab.click("#after")
    assert tab.texts("#name") == ["sum[s3]"]
    shown = tab.texts("#texts pre")[0]
    assert long.startswith(shown)
    left = tab.texts("#texts small")
    assert left == [f"… {100_000 - len(shown):,} more characters are not in this file"]
    tab.click("#close")
    assert not tab.run("return document.querySelector('#sample').open")


def points(tab, number):
    """The points of a plot, as people hear them read: "x (cells): 5; y (cells): 7"."""
    found = "[...document.querySelectorAll(`#plot-${arguments[0]}-0 .mark-symbol.role-mark path`)]"
    return tab.run(f"return {found}.map(mark => mark.getAttribute('aria-label'))", number)


def test_pickers_change_what_is_drawn(show, humob):
    tab = show(humob)
    tab.wait("document.body.dataset.drawn")
    data = tab.run("return JSON.parse(document.querySelector('#figures-data').textContent)")
    frames = data["figures"][0]["frames"]
    user = list(frames)[-1]
    day = list(frames[user])[2]
    columns = frames[user][day]["day"]
    expected = len(columns["x"]) * 2  # a real and a generated point in each half hour
    tab.choose("#picker-0 select", user, 0)
    tab.choose("#picker-0 select", day, 1)
    shown = f"x (cells): {columns['x'][0]}; y (cells): {columns['y'][0]}"
    tab.wait(f"document.querySelector('#plot-0-0').innerHTML.includes('{shown}')")
    assert len(points(tab, 0)) == expected
    assert any(words.startswith(shown) for words in points(tab, 0))
    assert tab.texts("#picker-0 label")[1].startswith("day ")
    axes = (
        "[...document.querySelectorAll('#plot-4-0 .role-axis-title text')].map(t => t.textContent)"
    )
    assert tab.run(f"return {axes}") == ["value of a sample", "samples"]
    before = tab.run("return document.querySelector('#plot-4-0').innerHTML")
    tab.choose("#picker-4 select", "dtw")
    tab.wait(f"document.querySelector('#plot-4-0').innerHTML !== {json.dumps(before)}")
    assert tab.errors() == []


def test_the_pointer_shows_the_values_as_text(show):
    run = html_runs.toy()
    chart = {
        "data": {"name": "d"}, "mark": {"type": "point", "size": 4000, "filled": True},
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "tooltip": {"field": "what"}},
    }  # fmt: skip
    run.benchmark.figures = lambda *_: [Figure("f", "", [chart], {"d": {"x": [1], "what": ["<b>bold</b>"]}})]  # fmt: skip
    tab = show(run)
    tab.wait("document.body.dataset.drawn")
    tab.point_at("#plot-0-0 .mark-symbol.role-mark path")
    tab.wait("document.querySelector('.vg-tooltip.visible')")
    assert tab.texts(".vg-tooltip") == ["<b>bold</b>"]
    assert tab.run("return document.querySelectorAll('.vg-tooltip b').length") == 0
    assert tab.errors() == []


def test_the_pointer_shows_the_values_of_a_cell_of_the_error_map(show, humob):
    tab = show(humob)
    tab.wait("document.body.dataset.drawn")
    tab.point_at("#plot-1-0 .mark-rect.role-mark path[aria-label*='km']")
    tab.wait("document.querySelector('.vg-tooltip.visible')")
    assert "points" in tab.texts(".vg-tooltip")[0]


def test_a_chart_that_cannot_be_drawn_says_so_and_costs_no_other(show):
    run = html_runs.toy()
    run.benchmark.figures = lambda *_: [Figure("odd", "", [{"mark": "nosuch", "data": {"values": [1]}}])]  # fmt: skip
    tab = show(run)
    tab.wait("document.body.dataset.drawn")
    assert tab.texts("#plot-0-0")[0].startswith("This plot cannot be drawn: ")
    assert tab.run("return document.querySelectorAll('#plot-1-0 svg').length") == 1


@pytest.mark.parametrize("media", ["", "print"])
def test_it_follows_the_theme_of_the_system_plots_included(show, media):
    tab = show(html_runs.toy())
    tab.wait("document.body.dataset.drawn")
    look = """
    const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 765;
    const style = getComputedStyle(document.body);
    const words = getComputedStyle(document.querySelector('.plot .role-axis-label text'));
    return [light(style.backgroundColor), light(style.color), light(words.fill)];
    """
    for scheme in ("light", "dark", "light"):
        dark = scheme == "dark" and media != "print"  # paper is white
        sign = -1 if dark else 1
        tab.media(scheme, media)
        # The page hears of it with its next frame.
        tab.wait(f"(function() {{ {look} }})()[0] * {sign} > 0.5 * {sign}")
        tab.wait(f"(function() {{ {look} }})()[2] * {sign} < 0.5 * {sign}")
        back, words, axis = tab.run(look)
        assert abs(back - words) > 0.7
        assert abs(back - axis) > 0.7
    assert tab.errors() == []


def test_a_person_is_picked_and_the_day_is_drawn_anew(show, daily):
    tab = show(daily)
    tab.wait("document.body.dataset.drawn")
    titles = tab.texts("#plots figure h3")
    number = titles.index("A day on the map")
    data = tab.run("return JSON.parse(document.querySelector('#figures-data').textContent)")
    frames = data["figures"][number]["frames"]
    for person in (list(frames)[-1], next(iter(frames))):
        tab.choose(f"#picker-{number} select", person)
        places = frames[person]["places"]
        wanted = f"place: {places['name'][-1]}; first at"
        tab.wait(
            f"document.querySelector('#plot-{number}-0').innerHTML.includes({json.dumps(wanted)})"
        )
        assert len(points(tab, number)) == len(places["name"])
    hours = f"#plot-{number}-1 .mark-rect.role-mark path"
    tab.point_at(hours)
    tab.wait("document.querySelector('.vg-tooltip.visible')")
    shown = tab.texts(".vg-tooltip td.value")
    assert shown[0] == frames[person]["stays"]["name"][0]
    assert shown[1] == "00:00"
    assert tab.errors() == []


@pytest.mark.parametrize("name", ["humob", "daily", "hurricane"])
def test_a_phone_scrolls_in_one_direction_only(show, request, tab, name):
    tab.resize(400)
    tab = show(request.getfixturevalue(name))
    tab.wait("document.body.dataset.drawn")
    assert tab.run("return window.innerWidth") == 400
    assert tab.run("return document.documentElement.scrollWidth") == 400
    tab.click("#rows tbody button", 1)
    assert tab.run("return document.querySelector('#sample').getBoundingClientRect().right") <= 400


@pytest.mark.slow
def test_a_hundred_thousand_rows_stay_usable(show):
    count = 100_000
    tab = show(html_runs.toy(count))
    assert tab.texts("#range") == ["1–25 of 100,000"]
    for name in ("distance", "sample", "error"):
        before = time.monotonic()
        tab.sort(name)
        assert tab.run("return document.querySelector('[aria-sort=ascending]').textContent") == f"{name} ▲"  # fmt: skip
        assert time.monotonic() - before < 5
    tab.sort("distance")
    up = [float(value) for value in tab.column("distance")]
    assert up == sorted(up)
    assert len(up) == 25
    tab.type("#search", "s99999")
    tab.wait("document.querySelector('#range').textContent === '1–1 of 1'")
    tab.click("#rows tbody button")
    assert tab.texts("#name") == ["sum[s99999]"]
    assert tab.errors() == []


def test_what_an_agent_wrote_is_shown_and_not_run(show):
    records = [
        Record("toysum", "sum[s0]", "invalid", answer=HOSTILE, error=HOSTILE,
               evidence={"stdout": HOSTILE}),
        Record("toysum", "sum[s1]", "ok", answer=1, metrics={"exact": {"accuracy": 1.0}}),
    ]  # fmt: skip
    gate = {"gate": HOSTILE, "passed": False, "value": None, "threshold": None, "reason": HOSTILE}
    run = html_runs.toy(2, records, agent={"name": HOSTILE}, gates=[gate],
                        details={"notes": [HOSTILE]})  # fmt: skip
    tab = show(run)
    tab.click("#rows tbody button")
    assert tab.run("return window.pwned") is None
    assert tab.run("return document.querySelectorAll('img').length") == 0
    shown = tab.texts("#texts pre")
    said = HOSTILE.replace("\ud800", "\ufffd")
    assert shown[:2] == [said, said]
    assert "<script>window.pwned=1</script>" in tab.texts("#gates code")[0]
    assert tab.errors() == []


def test_no_other_script_runs_even_if_one_got_in(show):
    tab = show(html_runs.toy(2))
    tab.run(
        "const script = document.createElement('script'); script.textContent = 'window.pwned = 1';"
        "document.body.append(script);"
        "const image = document.createElement('img'); image.setAttribute('onerror', 'window.pwned = 2');"
        "image.src = 'data:image/png;base64,x'; document.body.append(image);"
    )
    time.sleep(0.2)
    assert tab.run("return window.pwned") is None
    assert "Content Security Policy" in " ".join(tab.errors())
