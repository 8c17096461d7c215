"""`python -m tests.support.report_pictures`: take the pictures of docs/reports.md, in a real browser, of stories."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hybridwrap.cli.reports.file import rendered, write_report
from hybridwrap.run.report import read_report
from tests.support.browser import Browser, available, browser
from tests.support.review import as_page, reviewed_plan
from tests.support.stories import half_applied, many

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 860
PICTURES = {"report-light.png": (4, "light"), "report-dark.png": (500, "dark")}


def take(chromium: Browser, name: str, size: int, scheme: str, folder: Path) -> None:
    page = folder / "report.html"
    story = half_applied() if size == 4 else many(size)
    write_report(read_report(story.ledger, None), page)
    chromium.open(page, width=WIDTH, height=HEIGHT, scheme=scheme)
    (FOLDER / name).write_bytes(chromium.png())


def take_comment(chromium: Browser, folder: Path) -> None:
    page = folder / "comment.html"
    page.write_text(as_page(rendered(reviewed_plan(), "markdown")))
    chromium.open(page, width=900, height=880)
    (FOLDER / "comment.png").write_bytes(chromium.png())


if __name__ == "__main__":
    if available():
        with browser() as chromium, TemporaryDirectory() as temporary:
            for name, (size, scheme) in PICTURES.items():
                take(chromium, name, size, scheme, Path(temporary))
            take_comment(chromium, Path(temporary))
