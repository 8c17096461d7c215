"""Lines of a live display: one for each module at work, and one that counts them all; as wide as the terminal is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from hybridwrap.cli.addresses import short_address
from hybridwrap.cli.board import Board, Work
from hybridwrap.cli.failures import FEW, went_wrong
from hybridwrap.cli.lines import COLOURS, cells, fitted, fitted_in_the_middle, padded, ticking

Piece = tuple[str, str]  # text, style
Line = list[Piece]

FAINT, BAD = "bright_black", "red"
BAR, REST = "━", "─"
PHASE = 9  # columns: "destroy" and what parts it from the next
WIDE, ROOMY = 76, 110  # terminals with room for a bar, and for a long one
BARS = {WIDE: 12, ROOMY: 24}
OBJECT = 24  # columns that a bar leaves at least for what a module is at
LEAST = 8  # columns of which an address is worth having
WIDEST = 120  # columns that are used: farther apart, eyes lose the line
SPARED = 8  # columns of the last line that stay free: a terminal writes `^C` there
LEFT_TO_OTHERS = 3  # a third of the lines of the terminal is never ours: there the last failure stays in sight


class Size(Struct, frozen=True):
    width: int
    height: int


class Columns(Struct, frozen=True):
    """Of the lines of modules at work."""

    name: int
    phase: int
    digits: int  # of how many objects there are
    bar: int
    width: int  # of all


def name_width(modules: Iterable[str], width: int) -> int:
    """Columns for names of modules in a terminal of this width: two fifths of it at most, of a narrow one a third."""
    return min(max(map(cells, modules), default=0), width * 2 // 5 if width >= WIDE else width // 3)


def live_lines(board: Board, left: float | None, now: float, size: Size) -> list[Line]:
    """At most as many lines as the terminal has, each at most as wide; the last one sums up, with the seconds left."""
    working, width = board.at_work, min(size.width, WIDEST)
    wrong = list(_wrong(board, width))
    room = max(size.height - size.height // LEFT_TO_OTHERS - 2 - len(wrong), 1)
    shown = working[:room] if len(working) <= room else working[: room - 1]
    name = name_width(board.needs, size.width)
    digits = max((len(str(work.total)) for work in shown), default=0)
    phase = PHASE if width >= WIDE else max((len(work.phase) for work in shown), default=0) + 1
    columns = Columns(name, phase, digits, _bar(width - name - phase - 2 * digits, width), width)
    lines = [_working(work, columns, now) for work in shown]
    if len(shown) < len(working):
        lines.append(_others(working[len(shown) :], width))
    return [*lines, *wrong, _footer(board, left, width)]


def _working(work: Work, columns: Columns, now: float) -> Line:
    """`module  phase  done/total bar  what it is at   elapsed`."""
    elapsed = ticking(now - work.since)
    name = padded(fitted_in_the_middle(work.module, columns.name), columns.name)
    line: Line = [(name, ""), (f"  {work.phase:<{columns.phase}}", COLOURS["running"])]
    line += _progress(work, columns)
    room = columns.width - 1 - sum(cells(text) for text, _ in line) - len(elapsed) - 2
    line.append((padded(_current(work, now, room), room), FAINT))
    return [*line, ("  ", ""), (elapsed, "")]


def _bar(room: int, width: int) -> int:
    """How long a bar may be; the same for all lines, whatever they are at."""
    around = sum(map(len, ("  ", "/", " ", "  ", "  ", "99m59 ")))
    fitting = (size for least, size in BARS.items() if width >= least and room - around - size >= OBJECT)
    return max(fitting, default=0)


def _progress(work: Work, columns: Columns) -> Line:
    if not work.total or work.phase in {"init", "plan"}:
        return []
    line: Line = [(f"{work.done:>{columns.digits}}/{work.total:<{columns.digits}} ", "")]
    if columns.bar:
        full = columns.bar * work.done // work.total
        line += [(BAR * full, COLOURS["ok"]), (REST * (columns.bar - full), FAINT), ("  ", "")]
    if work.failed:
        line.append((f"{len(work.failed)} failed  ", BAD))
    return line


def _current(work: Work, now: float, room: int) -> str:
    """The object that takes longest; its address is shortened where there is no room."""
    busy = work.longest_busy
    if busy is None:
        return ""
    others = f" +{len(work.busy) - 1}" if len(work.busy) > 1 else ""
    since = f" {ticking(now - busy.since)}{others}"
    tail = f" {busy.verb}{since}"
    if cells(busy.address + tail) > room:
        tail = since
    if room - len(tail) < min(LEAST, cells(busy.address)):
        return fitted(since.strip(), max(room, 0))
    return short_address(busy.address, room - len(tail)) + tail


def _others(others: Sequence[Work], width: int) -> Line:
    names = ", ".join(work.module for work in others)
    return [(fitted(f"and {len(others)} more at work: {names}", width - 1), FAINT)]


def _wrong(board: Board, width: int) -> Iterator[Line]:
    """Of many modules those that failed, by name, newest first: their own lines scroll away."""
    names = went_wrong(board.ends)[::-1] if len(board.needs) > FEW else []
    if names:
        label = f"{len(names)} went wrong: "
        yield [(label, BAD), (fitted(", ".join(names), width - 1 - len(label)), "")]


def _footer(board: Board, left: float | None, width: int) -> Line:
    time = ticking(board.elapsed()) + (f", about {ticking(left)} left" if left else "")
    line: Line = list(_counts(board.counts))
    room = width - SPARED - sum(cells(text) for text, _ in line)
    return [*line, (f"   {time}", FAINT)] if cells(time) + 3 <= room else _cut([*line, (f"  {time}", FAINT)], width)


def _counts(counts: Mapping[str, int]) -> Iterator[Piece]:
    for index, (word, count) in enumerate(counts.items()):
        yield (", " if index else "") + f"{count} ", ""
        yield word, COLOURS.get(word, BAD)


def _cut(line: Line, width: int) -> Line:
    """Leave the end of a line out where the terminal ends."""
    room = width - SPARED
    kept: Line = []
    for text, style in line:
        piece = fitted(text, room)
        kept.append((piece, style))
        room -= cells(piece)
        if room <= 0:
            break
    return kept
