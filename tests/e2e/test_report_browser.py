"""The HTML report in a real browser: nothing is asked for, nothing complains, all of it works by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from axe_core_python.selenium import Axe
from selenium.webdriver.common.keys import Keys

from hybridwrap.cli.reports import html
from hybridwrap.cli.reports.wording import visible
from hybridwrap.run.report import read_report
from tests.support.browser import Browser, browser
from tests.support.stories import Story, half_applied, many
from tests.unit.test_report_formats import HOSTILE, hostile

ROWS = ".modules tbody tr"
SHOWN = """return [...document.querySelectorAll('.modules tbody tr')].filter(row => !row.hidden)
    .map(row => row.querySelector('a').textContent)"""
STOPS = """return [...document.querySelectorAll('.modules a, .drawing a, .bar')]
    .filter(each => each.tabIndex === 0).length"""
PANEL = "return document.querySelector('.panel.chosen h2').firstChild.textContent.trim()"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@cache
def story_of(size: int) -> Story:
    return half_applied() if size == 4 else many(size)


@pytest.fixture
def page(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A report on as many modules as the test is parametrised with; 4 without."""
    return written(tmp_path, story_of(getattr(request, "param", 4)))


def written(folder: Path, story: Story) -> Path:
    file = folder / "report.html"
    file.write_text(html.render(read_report(story.ledger, None)))
    return file


sizes = pytest.mark.parametrize("page", [4, 60, 500], indirect=True)


@sizes
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_asks_for_nothing_but_itself_and_complains_of_nothing(
    chromium: Browser, page: Path, scheme: str
) -> None:
    chromium.open(page, scheme=scheme)
    assert chromium.js("return document.documentElement.classList.contains('js')"), "its script did not run"
    assert chromium.requests == [page.as_uri()]
    assert chromium.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 380])
def test_a_page_is_accessible_by_the_rules_of_axe(chromium: Browser, page: Path, scheme: str, width: int) -> None:
    chromium.open(page, scheme=scheme, width=width)
    found = Axe().run(chromium.driver)["violations"]
    assert [(each["id"], each["help"], [node["html"] for node in each["nodes"][:3]]) for each in found] == []


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_names_and_errors_are_shown_and_do_nothing(chromium: Browser, tmp_path: Path, words: str) -> None:
    chromium.open(written(tmp_path, hostile(words, name=f"vm {words}")))
    assert chromium.js("return window.hacked") is None
    assert chromium.complaints == []
    assert chromium.js(PANEL).split() == visible(f"vm {words}").split()
    assert len(chromium.all(ROWS)) == 3


def test_the_first_bad_news_is_open_at_the_start(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    assert chromium.js(PANEL) == "vm"
    assert "InsufficientInstanceCapacity" in chromium.one(".panel.chosen").text


def test_everything_can_be_done_by_keyboard(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.press("/", "health")
    assert chromium.js(SHOWN) == ["health"]
    chromium.press(Keys.ENTER)
    assert (chromium.focused, chromium.js(PANEL)) == ("health", "health")
    chromium.press(Keys.ENTER)
    assert chromium.focused == "health pending", "Enter goes to the panel"
    chromium.press(Keys.ESCAPE)
    assert chromium.focused == "health", "Escape goes back to the row"
    chromium.press("/", Keys.BACKSPACE)
    assert chromium.js(SHOWN) == ["network", "vm", "configuration", "health"]
    chromium.press(Keys.ENTER, Keys.HOME, Keys.ARROW_DOWN)
    assert chromium.js(PANEL) == "vm"
    chromium.press("k")
    assert chromium.js(PANEL) == "network"
    chromium.press(Keys.END)
    assert chromium.js(PANEL) == "health"


@pytest.mark.parametrize("page", [60], indirect=True)
def test_the_table_is_one_tab_stop_and_every_stop_shows_where_it_is(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    assert chromium.js(STOPS) == 1
    chromium.press(Keys.TAB)
    assert chromium.focused == "To the modules"
    chromium.press(Keys.TAB)
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert chromium.js(outline) == "solid"


def test_search_finds_objects_and_errors_and_results_filter(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    for words, shown in (
        ("nat_gateway", ["network"]),
        ("ec2 instance", ["vm"]),
        ("waits", ["configuration", "health"]),
    ):
        chromium.press(Keys.ESCAPE, Keys.ESCAPE, "/", words)
        assert chromium.js(SHOWN) == shown
        assert chromium.one("#shown").text == f"{len(shown)} of 4 shown"
    chromium.press(Keys.ESCAPE, Keys.ESCAPE, "/", "nowhere")
    chromium.one("#clear").click()
    chromium.one(".chip[data-result=pending]").click()
    assert chromium.js(SHOWN) == ["network", "vm"]


@pytest.mark.parametrize("page", [60], indirect=True)
def test_many_unchanged_modules_are_out_of_the_way_until_they_are_asked_for(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    assert len(chromium.js(SHOWN)) == 11
    assert chromium.one("#graph-changed").is_displayed()
    chromium.one(".chip[data-result=unchanged]").click()
    assert len(chromium.js(SHOWN)) == 60
    assert chromium.one("#graph-all").is_displayed()
    assert not chromium.one("#graph-changed").is_displayed()


def test_graph_and_timeline_lead_to_a_module_and_the_address_keeps_it(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.one("#graph-all a[href='#m0']").click()
    assert chromium.js(PANEL) == "network"
    chromium.one(".bar[data-for=m1]").click()
    assert chromium.js(PANEL) == "vm"
    assert chromium.driver.current_url.endswith("#m1")
    chromium.driver.get(f"{page.as_uri()}#m3")
    chromium.driver.refresh()
    assert chromium.js(PANEL) == "health"


def test_a_command_is_copied(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    button = chromium.one(".attention .copy")
    button.click()
    said = "return new Promise(done => setTimeout(() => done(arguments[0].textContent), 200))"
    assert chromium.js(said, button) in ("Copied", "Selected")


@pytest.mark.parametrize("width", [320, 800, 1440])
def test_no_width_makes_the_page_scroll_sideways(chromium: Browser, tmp_path: Path, width: int) -> None:
    for story in (half_applied(), hostile("x" * 300)):
        chromium.open(written(tmp_path, story), width=width)
        assert chromium.js("return document.documentElement.scrollWidth") <= width


def test_on_a_phone_reasons_have_the_whole_width_and_times_stay_in_one_line(chromium: Browser, page: Path) -> None:
    chromium.open(page, width=390)
    reason, row = (chromium.one(f".modules tbody tr:nth-child(2){each}") for each in (" .why", ""))
    assert reason.rect["width"] > 0.95 * row.rect["width"]
    time = chromium.one(".panel.chosen details[open] .clock")
    assert time.rect["height"] < 40  # two lines take more
    labels = "return [...document.querySelectorAll('.scale i')].map(i => [getComputedStyle(i).color, i.scrollWidth])"
    shown = [wide for colour, wide in chromium.js(labels) if not colour.endswith(", 0)")]
    assert len(shown) == 3
    assert sum(shown) < chromium.one(".scale").rect["width"]


def test_each_command_says_what_it_is_for(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    told = [each.text.splitlines()[-1] for each in chromium.all(".attention .commands li")]
    assert told == ["the chain behind it", "once repaired"]


def test_light_and_dark_are_two_looks(chromium: Browser, page: Path) -> None:
    background = "return getComputedStyle(document.body).backgroundColor"
    chromium.open(page, scheme="light")
    assert chromium.js(background) == "rgb(255, 255, 255)"
    chromium.open(page, scheme="dark")
    assert chromium.js(background) == "rgb(13, 17, 23)"


def test_without_scripts_everything_is_on_the_page(chromium: Browser, page: Path) -> None:
    chromium.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.open(page)
        panels = chromium.all(".panel")
        assert [panel.is_displayed() for panel in panels] == [True] * 4
    finally:
        chromium.cdp("Emulation.setScriptExecutionDisabled", value=False)


def test_it_prints_with_all_that_needs_reading(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.cdp("Emulation.setEmulatedMedia", media="print")
    shown = [panel.is_displayed() for panel in chromium.all(".panel")]
    filters = chromium.one(".filter").is_displayed()
    assert chromium.pdf().startswith(b"%PDF")
    chromium.cdp("Emulation.setEmulatedMedia", media="")
    assert (shown, filters) == ([True] * 4, False)


@pytest.mark.parametrize("page", [500], indirect=True)
def test_on_paper_nothing_lies_over_anything_else(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.cdp("Emulation.setEmulatedMedia", media="print")
    beyond = """return [...document.querySelectorAll('.scroll')].filter(box => box.getClientRects().length)
        .map(box => box.scrollHeight - box.clientHeight)"""
    found = chromium.js(beyond)
    chromium.cdp("Emulation.setEmulatedMedia", media="")
    assert found == [0, 0, 0]


@pytest.mark.parametrize("page", [500], indirect=True)
def test_500_modules_load_filter_and_choose_without_delay(chromium: Browser, page: Path) -> None:
    works = [chromium.work]
    chromium.open(page)
    works.append(chromium.work)
    chromium.js("document.querySelector('.chip[data-result=unchanged]').click(); document.body.offsetHeight")
    works.append(chromium.work)
    chromium.js("document.querySelector('.modules tr:nth-child(400) a').click(); document.body.offsetHeight")
    works.append(chromium.work)
    loaded, filtered, chosen = (after - before for before, after in pairwise(works))
    assert (loaded < 20, filtered < 6, chosen < 3) == (True, True, True), (loaded, filtered, chosen)
