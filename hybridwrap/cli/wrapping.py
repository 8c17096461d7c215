"""Lines that are too wide for a terminal, broken between words; commands stay whole, so that they can be copied."""

from __future__ import annotations

import re

import click

from hybridwrap.cli.lines import cells
from hybridwrap.cli.options import terminal_width

LEAST = 24  # columns of text that a line must keep beside what it hangs below
REMARK = "   "  # what separates a command from what is said about it
# A command of ours ends as in `hints`; any other word at a space. Codes of colours stick to their words.
_WORD = re.compile(rf"( *)(\bhybridwrap [a-z](?:(?!{REMARK}|;).)*|[\d:]+ [A-Z+-]\w+|[^ ]+)")
_LABEL = re.compile(r" *[\w-]{1,10}: +")
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")


def say(text: str, *, err: bool = False) -> None:
    """Print lines for people."""
    width = terminal_width(err=err)
    for line in text.split("\n"):
        for piece in wrapped(line, width):
            click.echo(piece, err=err)


def wrapped(line: str, width: int) -> list[str]:
    """Break a line, with or without colours, below its last column or label; `width` 0 means that it stays whole.

    A word or command that is wider than a line is left for the terminal to break: it can then be copied in one.
    """
    plain = click.unstyle(line)
    if not width or cells(plain) <= width:
        return [line]
    hang = _hang(plain, width)
    lines, room, begun = [""], width, False
    for space, word in _WORD.findall(line):
        wide = cells(click.unstyle(word))
        if cells(space) + wide > room and begun and wide <= width - hang:
            lines.append(" " * hang + word)
            room = width - hang - wide
        else:
            lines[-1] += space + word
            room = (room - cells(space) - wide) % width
            begun = begun or wide > 0
    return lines


def _hang(plain: str, width: int) -> int:
    """Where what does not fit goes on: below the last column that leaves room, else behind the label, else indented."""
    ends = [cells(plain[: gap.end()]) for gap in _GAP.finditer(plain)]
    fitting = [end for end in ends if end <= width - LEAST]
    if fitting:
        return fitting[-1]
    label = _LABEL.match(plain)
    return label.end() if label else len(plain) - len(plain.lstrip()) + 2
