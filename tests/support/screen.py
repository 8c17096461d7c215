"""What a person sees of what a program wrote to a terminal: the lines that are left, the scrolled ones included."""

from __future__ import annotations

import re

from hybridwrap.cli.lines import cells

_PIECE = re.compile(r"\x1b\[(?P<number>\?*\d*)(?:;\d+)*(?P<command>[A-Za-z])|(?P<sign>[\r\n])|(?P<text>[^\x1b\r\n]+)")


class Screen:
    """Understands what displays are made of: text, line ends, the cursor up, a line erased, and nothing else."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._lines: list[str] = [""]
        self._row = self._column = 0
        self.cursor_shown = True

    def write(self, text: str) -> None:
        for piece in _PIECE.finditer(text):
            if piece["text"]:
                self._put(piece["text"])
            elif piece["sign"]:
                self._move(piece["sign"])
            else:
                self._command(piece["command"], piece["number"])

    @property
    def lines(self) -> list[str]:
        lines = [line.rstrip() for line in self._lines]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _put(self, text: str) -> None:
        for character in text:
            if self._column + cells(character) > self._columns:
                self._move("\n")
            line = self._lines[self._row]
            here = _at(line, self._column)
            rest = line[_at(line, self._column + cells(character)) :]
            self._lines[self._row] = line[:here].ljust(here) + character + rest
            self._column += cells(character)

    def _move(self, sign: str) -> None:
        self._column = 0  # also at a line feed: a terminal's driver adds the return
        if sign == "\r":
            return
        self._row += 1
        if self._row == len(self._lines):
            self._lines.append("")

    def _command(self, command: str, number: str) -> None:
        match command:
            case "A":
                self._row = max(self._row - int(number or 1), 0)
            case "K" if number == "2":
                self._lines[self._row] = ""
            case "h" | "l" if number == "?25":
                self.cursor_shown = command == "h"
            case "m":
                pass
            case _:
                raise AssertionError(f"a display should not need {number}{command}")


def _at(line: str, column: int) -> int:
    """The index of the character in a column; behind the end there are blanks."""
    width = 0
    for index, character in enumerate(line):
        if width >= column:
            return index
        width += cells(character)
    return len(line) if width >= column else len(line) + column - width


def seen(text: str, columns: int) -> list[str]:
    screen = Screen(columns)
    screen.write(text)
    return screen.lines
