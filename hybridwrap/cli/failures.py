"""How a module's end that is no good one is told: the first error, where it stands, what else there is to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from hybridwrap.cli.board import PLANNED, Board
from hybridwrap.cli.ending import FINE, UNTOUCHED
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import coloured, some
from hybridwrap.cli.scene import Scene
from hybridwrap.domain.absence import tells_what_is_left
from hybridwrap.domain.engine_run import Diagnostic, telling
from hybridwrap.domain.run import ModuleEnd

FEW = 20  # modules of which each gets a line of its own, whatever became of it
TOLD_AGAIN = 8  # failures, at the end of a run of more modules
SHOWN_LINES = 4  # of what an engine says about an error
BEFORE_WORK = {"init": "in init: ", "plan": "in plan: ", PLANNED: "in plan: "}  # a failure there has changed nothing


def told(error: Diagnostic, place: str) -> str:
    """One error in a line: address, summary, place."""
    where = f"   {place}" if place else ""
    return f"{error.address + ': ' if error.address else ''}{error.summary}{where}"


def headline(scene: Scene, module: str, end: ModuleEnd, phase: str) -> str:
    """The first error, or what a teardown left; else the first line of the reason."""
    first = (end.reason.splitlines() or [""])[0].removeprefix(f"{module}: ")
    reason = as_typed(first, scene.said)
    errors = telling(end.errors)
    if end.result != "error" or not errors:
        return reason
    place = scene.place(module, errors[0])
    if tells_what_is_left(reason):
        return f"{reason}   {place}".rstrip()
    return BEFORE_WORK.get(phase, "") + told(errors[0], place)


def below(scene: Scene, module: str, end: ModuleEnd, *, everything: bool) -> Iterator[str]:
    """The lines below a headline: the engine's own words, cut short unless `everything` is wanted, and the log."""
    errors = telling(end.errors)
    if errors:
        for index, error in enumerate(errors if everything else errors[:1]):
            if index:
                yield told(error, scene.place(module, error))
            yield from _detail(error, None if everything else SHOWN_LINES)
        if not everything and len(errors) > 1:
            yield f"and {len(errors) - 1} more: with -v, or in the log"
    else:
        yield from end.reason.splitlines()[1:]
    if end.errors and (log := scene.log(module, end)):
        yield f"log: {log}"


def went_wrong(ends: Mapping[str, ModuleEnd]) -> list[str]:
    """Modules about which somebody has to do something, other than those that only wait."""
    return [name for name, end in ends.items() if end.result not in FINE | UNTOUCHED]


def told_again(scene: Scene, board: Board, ends: Mapping[str, ModuleEnd]) -> Iterator[str]:
    """Of many modules the failures once more, each kind in a line: where they happened is out of sight by then."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name in went_wrong(ends) if len(ends) > FEW else ():
        told_first = headline(scene, name, ends[name], board.ended_in.get(name, ""))
        alike.setdefault((ends[name].result, told_first), []).append(name)
    for (result, told_first), names in islice(alike.items(), TOLD_AGAIN):
        yield f"{coloured(result)}  {some(names)}{f': {told_first}' if told_first else ''}"
    if more := [name for names in islice(alike.values(), TOLD_AGAIN, None) for name in names]:
        yield f"and {len(more)} more, told above: {some(more)}"


def _detail(error: Diagnostic, limit: int | None) -> Iterator[str]:
    lines = [f"  {line}" for line in error.detail.splitlines() if line.strip()]
    yield from lines[:limit]
    if limit is not None and len(lines) > limit:
        yield f"  … {len(lines) - limit} more"
