"""Text from outside as inert Markdown: nothing in it ends a table, opens a tag, mentions anybody or links anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

from hybridwrap.cli.reports.wording import visible
from hybridwrap.counting import first_of

# An underscore between two letters or digits is only itself; `:` and `.` count where they make a link or an emoji.
ACTIVE = re.compile(r"[\\`*\[\]<>&|~$@#]|(?<![^\W_])_|_(?![^\W_])|:(?=//|[\w+-]+:)|(?<=www)\.")
WORD_JOINER = "\u2060"
NAMES_SHOWN = 12


def prose(text: str) -> str:
    """One line of text, anywhere but at the start of a line."""
    unmentioned = re.sub(r"([@#])(?=\w)", rf"\1{WORD_JOINER}", _line(text))
    return ACTIVE.sub(lambda found: f"&#{ord(found[0])};", unmentioned)


def code(text: str) -> str:
    """One line in a fixed-width font, where forges look neither for mentions nor for links."""
    line = _line(text)
    if not line:
        return ""
    return f"<code>{prose(line)}</code>" if "`" in line or "|" in line else f"`{line}`"


def html_code(text: str) -> str:
    """The same inside HTML, such as a summary."""
    return f"<code>{escape(_line(text))}</code>" if text else ""


def html(text: str) -> str:
    return escape(re.sub(r"([@#])(?=\w)", rf"\1{WORD_JOINER}", _line(text)))


def block(text: str) -> str:
    """Several lines as they are; stands between empty lines."""
    return f"<pre>{escape(visible(text), quote=False)}</pre>"


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def header(cells: Sequence[str]) -> str:
    return f"{row(cells)}\n{row('---' for _ in cells)}"


def names(modules: Sequence[str], shown: int = NAMES_SHOWN, as_code: Callable[[str], str] = code) -> str:
    return first_of([as_code(name) for name in modules], shown)


def folded(title: str, content: str, *, opened: bool = False) -> str:
    """A part that opens on a click, or closes on one; `title` is HTML, `content` Markdown."""
    return f"<details{' open' * opened}><summary>{title}</summary>\n\n{content}\n\n</details>"


def shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _line(text: str) -> str:
    return visible(" ".join(text.split()))
