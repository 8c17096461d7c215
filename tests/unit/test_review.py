"""The comment on a pull request about 110 modules, of which two change alike, one replaces and one fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hybridwrap.cli.reports.file import rendered
from tests.support.browser import browser
from tests.support.review import ALIKE, DENIED, FAILS, REPLACES, as_page, reviewed_plan

COMMENT = rendered(reviewed_plan(), "markdown")
PAGES = Path(__file__).parents[2] / "docs"


def test_it_begins_with_what_a_reviewer_asks_first() -> None:
    title, facts = COMMENT.splitlines()[0], COMMENT.splitlines()[2]
    assert title == "### shop · prod · plan: 1 error, 1 deferred, 3 planned, 105 unchanged"
    assert facts.startswith("**1 to replace, 2 to create, 3 to change** · by ")
    titles = re.findall(r"^#### (.+)$", COMMENT, re.MULTILINE)
    assert titles == ["Replaced or destroyed", "Errors", "Not done", "Changes", "Next"]


def test_what_changes_alike_is_one_row_and_what_is_unchanged_one_line() -> None:
    rows = [line for line in COMMENT.splitlines() if line.startswith("| `")]
    assert [line.count("`") // 2 for line in rows if ALIKE[0] in line and ALIKE[1] in line] == [4]
    assert sum(ALIKE[0] in line for line in rows) == 1
    assert "<details><summary>105 unchanged</summary>" in COMMENT


def test_what_replaces_and_what_fails_are_named_with_the_reason() -> None:
    assert f"| `{REPLACES}` | -/+ | `aws_elasticache_cluster.this` | can't be changed in place |" in COMMENT
    assert f"<details open><summary><code>{FAILS}</code>: aws_db_instance.main: reading RDS" in COMMENT
    assert "<code>modules/database/main.tf:12</code>" in COMMENT
    assert DENIED in COMMENT


def test_it_is_short_enough_to_be_read() -> None:
    assert len(COMMENT) < 6_000
    unfolded = re.sub(r"<details>.*?</details>", "", COMMENT, flags=re.DOTALL)
    assert len(unfolded.splitlines()) < 50


@pytest.mark.parametrize("width", [900, 420])
def test_in_a_browser_all_of_it_can_be_seen_and_the_error_without_a_click(width: int, tmp_path: Path) -> None:
    page = tmp_path / "comment.html"
    page.write_text(as_page(COMMENT))
    with browser() as chromium:
        chromium.open(page, width=width, height=880)
        assert chromium.js("return document.documentElement.scrollWidth <= innerWidth")
        assert chromium.one("pre").is_displayed()
        assert not chromium.js("return [...document.querySelectorAll('details')].pop().open")
        assert chromium.js("return document.querySelector('article').offsetHeight") < 2_000


def test_the_page_shows_it() -> None:
    assert "(pictures/comment.png)" in (PAGES / "reports.md").read_text()
    assert (PAGES / "pictures" / "comment.png").read_bytes().startswith(b"\x89PNG")
