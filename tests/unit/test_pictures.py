"""The pictures of the pages show what is shown today, and need no network."""

from __future__ import annotations

import re

import pytest

from tests.support.pictures import FOLDER, PICTURES, drawn, drawn_graph, in_utc, words

CURRENT = "docs/pictures is not current; next: make docs"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    in_utc()


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_what_is_said_today(name: str) -> None:
    assert words((FOLDER / f"{name}.svg").read_text()) == words(drawn(name)), CURRENT


def test_the_drawn_graph_is_the_one_of_today() -> None:
    assert (FOLDER / "graph-drawn.svg").read_text() == drawn_graph(), CURRENT


def test_every_picture_is_one_of_these_and_on_a_page() -> None:
    files = {path.stem for path in FOLDER.glob("*.svg")}
    assert files == {*PICTURES, "graph-drawn"}
    page = (FOLDER.parent / "seeing.md").read_text()
    assert files == set(re.findall(r"\(pictures/([\w-]+)\.svg\)", page))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.svg")), ids=lambda path: path.stem)
def test_a_picture_asks_nothing_of_the_network(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= {"http://www.w3.org/2000/svg", "https://www.textualize.io"}
