"""`status` for people: what is well above, then a line, then what is not, with the reasons.

Modules stay in the order of their graph on both sides of the line, and children stand below their owners.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import click
from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.cli.columns import fitting, widest
from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import at_words, cells, coloured, faint, fitted, local_time, some, table, zone
from hybridwrap.cli.overview import Overview
from hybridwrap.cli.scene import shortened
from hybridwrap.cli.standing_text import looked_for_drift, new_drift, said
from hybridwrap.cli.wrapping import wrapped
from hybridwrap.counting import first_of
from hybridwrap.domain.drift import DriftResult
from hybridwrap.domain.families import module_in
from hybridwrap.domain.outputs import Provenance
from hybridwrap.domain.status import Status
from hybridwrap.run.standing import Standing

HEAD = ("module", "status", "since", "by", "outputs", "objects")
LEFT_OUT_FIRST = ("by", "objects", "outputs", "since")  # where a terminal has no room
INDENT = 2
LEAST_NAME = 16  # columns for a name, however narrow the terminal is
AROUND = 5  # lines above, between and below the rows, and that of the prompt
NAMED = 6  # modules that are named in a line that stands for many


class Frame(Struct, frozen=True):
    """How much room there is: 0 means as much as is wanted."""

    width: int = 0
    height: int = 0


def status_lines(seen: Overview, frame: Frame) -> Iterator[str]:
    yield from _title(seen, frame.width)
    if not seen.standings:
        yield "no module is selected" if seen.stack.modules else "the stack has no modules"
        return
    well, others = parted(seen)
    table = _Table(seen, well, others, frame)
    yield faint(table.head)
    yield from table.well()
    if well and others:
        yield faint("─" * (table.edge - INDENT))
    yield from table.others()
    for line in looked_for_drift(seen):
        yield from map(faint, at_words(line, frame.width))
    if following := next_command(seen):
        yield f"next: {following}"


def environments_lines(all_seen: Sequence[Overview], frame: Frame) -> Iterator[str]:
    """Environments beside each other, module by module; then, of each, what is not well."""
    by_module: dict[str, dict[str, str]] = {}
    for seen in all_seen:
        for standing in seen.standings:
            mark = _status(standing, seen.today)
            by_module.setdefault(standing.module, {})[seen.stack.environment] = mark
    names = [seen.stack.environment for seen in all_seen]
    rows = [(module, *(marks.get(name, "") for name in names)) for module, marks in by_module.items()]
    yield from table([("module", *names), *rows])
    for seen in all_seen:
        _, others = parted(seen)
        if any(standing.status is not Status.NONE for standing in others):
            yield ""
            yield from status_lines(replace(seen, standings=tuple(others)), Frame(frame.width))


def parted(seen: Overview) -> tuple[list[Standing], list[Standing]]:
    """Part modules that are well, and whose needs all are, from the others; both keep their order."""
    listed = {standing.module for standing in seen.standings}
    well: dict[str, Standing] = {}
    for standing in seen.standings:
        if is_well(standing, seen.today) and all(need in well for need in standing.depends_on if need in listed):
            well[standing.module] = standing
    return list(well.values()), [standing for standing in seen.standings if standing.module not in well]


def is_well(standing: Standing, today: str) -> bool:
    quiet = not (standing.reason or standing.open or standing.warnings or standing.unapplied)
    quiet = quiet and not new_drift(standing, today)
    return standing.status is Status.OK and quiet


def next_command(seen: Overview) -> str:
    """The one command that makes most sense now, "" when all is well."""
    if damaged := next((standing.damage for standing in seen.standings if standing.damage), None):
        return as_typed(damaged.hint, seen.said)
    by_status: dict[Status, list[str]] = {}
    for standing in seen.standings:
        by_status.setdefault(standing.status, []).append(standing.module)
    if unknown := by_status.get(Status.UNKNOWN):
        return as_typed(f"hybridwrap reconcile {' '.join(unknown[:NAMED])}", seen.said)
    if waiting := by_status.get(Status.PENDING) or by_status.get(Status.ERROR):
        return as_typed(f"hybridwrap why {waiting[-1]}", seen.said)
    if any(standing.unapplied for standing in seen.standings if standing.status is Status.OK):
        return as_typed("hybridwrap plan --unapplied", seen.said)
    if any(standing.reason for standing in seen.standings if standing.status is Status.OK):
        return ""  # that says what is next, such as `mv` before any plan
    never = by_status.get(Status.NONE, [])
    names = "" if set(by_status) == {Status.NONE} else f" {' '.join(never[:NAMED])}"
    return as_typed(f"hybridwrap plan{names}", seen.said) if never else ""


def _title(seen: Overview, width: int) -> Iterator[str]:
    counts = ", ".join(f"{count} {coloured(status)}" for status, count in seen.counts.items())
    name = f"{click.style(seen.stack.name, bold=True)} in {click.style(seen.stack.environment, bold=True)}"
    title, place = "   ".join(filter(None, (name, counts))), shortened(seen.place)
    if not width or cells(f"{click.unstyle(title)}   {place}") <= width:
        yield f"{title}   {faint(place)}"
    else:
        yield from wrapped(title, width)
        yield faint(place)


class _Table:
    """Rows for modules in two parts with common columns; folded where the terminal is too low for all of them."""

    def __init__(self, seen: Overview, well: Sequence[Standing], others: Sequence[Standing], frame: Frame) -> None:
        self._seen, self._frame = seen, frame
        self._well, self._others = list(_families(well)), list(_families(others))
        name = max(frame.width // 3, LEAST_NAME) if frame.width else 0
        rows = [_row(depth, standing, seen.today, name) for depth, standing in (*self._well, *self._others)]
        self.head, *lines = fitting([_head(), *rows], frame.width, LEFT_OUT_FIRST)
        self._well_lines, self._lines = lines[: len(well)], lines[len(well) :]
        self.edge = widest((self.head, *lines)) + INDENT
        self._blocks = [list(self._block(*row)) for row in zip(self._lines, self._others, strict=True)]

    def well(self) -> list[str]:
        if self._fits(len(self._well_lines) + sum(map(len, self._blocks))):
            return self._well_lines
        return [_folded([standing for _, standing in self._well], self._frame.width)] if self._well else []

    def others(self) -> Iterator[str]:
        folded = not self._fits(1 + sum(map(len, self._blocks)))
        pending = {s.module: s for _, s in self._others if s.status is Status.PENDING} if folded else {}
        for block, (_, standing) in zip(self._blocks, self._others, strict=True):
            if standing.module not in pending:
                yield from block
        for cause, modules in behind(pending).items():
            yield f"{coloured(Status.PENDING)}  {len(modules)} {cause}: {faint(some(modules))}"

    def _fits(self, lines: int) -> bool:
        around = AROUND + len(list(looked_for_drift(self._seen)))
        return not self._frame.height or lines + around <= self._frame.height

    def _block(self, line: str, at: tuple[int, Standing]) -> Iterator[str]:
        """A row and what is to be known of its module; a single short detail stands beside it."""
        width = self._frame.width
        details = list(_details(at[1], self._seen, at[0], width))
        if len(details) == 1 and (not width or self.edge + cells(details[0].strip()) <= width):
            yield line + " " * (self.edge - cells(click.unstyle(line))) + details[0].strip()
        else:
            yield line
            yield from details


def behind(pending: Mapping[str, Standing]) -> dict[str, list[str]]:
    """Group pending modules by what the first in their chain waits for."""
    found: dict[str, list[str]] = {}
    for module, standing in pending.items():
        while (waits_for := module_in(standing.waits_for, pending)) in pending:
            standing = pending[waits_for]  # noqa: PLW2901
        found.setdefault(f"behind {waits_for}" if waits_for else standing.reason, []).append(module)
    return found


def _families(part: Sequence[Standing]) -> Iterator[tuple[int, Standing]]:
    """Put children right below their owner, with how deep they stand."""
    names = {standing.module for standing in part}
    children: dict[str, list[Standing]] = {}
    for standing in part:
        children.setdefault(standing.owner if standing.owner in names else "", []).append(standing)
    stack = [(0, standing) for standing in reversed(children.get("", ()))]
    while stack:
        depth, standing = stack.pop()
        yield depth, standing
        stack.extend((depth + 1, child) for child in reversed(children.get(standing.module, ())))


def _head() -> dict[str, str]:
    return {name: name for name in HEAD} | {"since": f"since {zone()}"}


def _row(depth: int, standing: Standing, today: str, name: int) -> dict[str, str]:
    module = " " * INDENT * depth + standing.module
    return {
        "module": fitted(module, name) if name else module,
        "status": _status(standing, today),
        "since": local_time(standing.since),
        "by": standing.by.partition("@")[0],
        "outputs": _outputs(standing),
        "objects": _objects(standing),
    }


def _status(standing: Standing, today: str) -> str:
    phase = f" {standing.phase}" if standing.status is Status.RUNNING else ""
    was = faint(f" (was {standing.was})") if standing.was not in (None, Status.NONE) else ""
    return f"{coloured(standing.status)}{phase}{was}{_drift_mark(standing, today)}"


def _drift_mark(standing: Standing, today: str) -> str:
    match standing.drift.result(today) if standing.drift else DriftResult.NONE:
        case DriftResult.NEW:
            return click.style(" drift", fg="yellow")
        case DriftResult.ACCEPTED:
            return faint(" drift accepted")
    return ""


def _outputs(standing: Standing) -> str:
    counts = Counter(output.provenance for output in standing.outputs.values())
    told = [f"{counts[provenance]} {provenance}" for provenance in Provenance if counts[provenance]]
    return ", ".join(told)


def _objects(standing: Standing) -> str:
    still_open = click.style(f"{len(standing.open)} open", fg="red") if standing.open else ""
    known = str(len(standing.known)) if standing.known or standing.open else ""
    return ", ".join(part for part in (known, still_open) if part)


def _folded(well: Sequence[Standing], width: int) -> str:
    names = first_of([standing.module for standing in well], NAMED)
    told = f"{len(well)} {Status.OK}: "
    return f"{len(well)} {coloured(Status.OK)}: {faint(fitted(names, width - len(told)))}"


def _details(standing: Standing, seen: Overview, depth: int, width: int) -> Iterator[str]:
    """What is to be known of a module that is not well, below its row."""
    indent = " " * INDENT * (depth + 2)
    for line in (line for text in said(standing, seen) for line in text.splitlines()):
        yield from wrapped(indent + line, width)
    if standing.errors and standing.log:
        yield faint(f"{indent}log: {shortened(standing.log)}")
