"""What is different between two runs, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from hybridwrap.cli.lines import coloured, faint, fitted, local_moment
from hybridwrap.cli.reports.wording import by, conclusion, named, tally_in_words, visible
from hybridwrap.counting import first_of
from hybridwrap.domain.json import Json, canonical
from hybridwrap.run.difference import Change, ModuleDifference, Told
from hybridwrap.run.report import Report

LEAST = 24  # columns for a value, however narrow the terminal is
BESIDE = 44  # columns that a line has besides its two values
SHOWN = 6  # objects of a module, at a terminal
NAMED = 12  # modules that are the same in both
UNCUT = 10_000


def lines(before: Report, after: Report, found: Sequence[ModuleDifference], width: int) -> Iterator[str]:
    """`width` 0 means that no value is cut."""
    room = max((width - BESIDE) // 2, LEAST) if width else UNCUT
    yield from _run("-", before, "red")
    yield from _run("+", after, "green")
    for module in found:
        if module.changes:
            yield ""
            yield click.style(module.module, bold=True)
            yield from (f"  {line}" for line in _changes(module.changes, room, SHOWN if width else UNCUT))
    if others := list(_others(before, after, found)):
        yield from ["", *others]


def _run(sign: str, report: Report, colour: str) -> Iterator[str]:
    start = report.start
    head = click.style(f"{sign} {start.command} {named(report)}", fg=colour)
    yield f"{head}  {local_moment(start.time)}  by {by(report)}"
    yield faint(f"  {tally_in_words(report)}; {conclusion(report)}")


def _changes(changes: Sequence[Change], room: int, limit: int) -> Iterator[str]:
    results = {(change.before, change.after) for change in changes if change.what == "result"}
    objects = [change for change in changes if change.what == "object"]
    for change in changes:
        if change.what == "object" or (change.what == "status" and (change.before, change.after) in results):
            continue
        yield _change(change, room)
    yield from (_change(change, room) for change in objects[:limit])
    if len(objects) > limit:
        yield faint(f"and {len(objects) - limit} more objects")


def _change(change: Change, room: int) -> str:
    label = f"{change.what} {change.name}".rstrip()
    match change.before, change.after:
        case Told(secret=True), Told(secret=True) if change.before == change.after:
            return f"{label}: another value; it is a secret"
        case None, Told() as after:
            return click.style("+", fg="green") + f" {label}: {_value(after, room)}"
        case Told() as before, None:
            return click.style("-", fg="red") + f" {label}: {_value(before, room)}"
        case Told() as before, Told() as after if change.what in {"result", "status"}:
            return f"{label}: {coloured(str(before.value))} -> {coloured(str(after.value))}"
        case Told() as before, Told() as after:
            return f"{label}: {_value(before, room)} -> {_value(after, room)}"
    raise AssertionError("a change has a side")


def _value(told: Told, room: int) -> str:
    if told.secret:
        return f"(secret{f' of {told.value}' if told.value else ''})"
    return fitted(visible(told.value if isinstance(told.value, str) else canonical(told.value).decode()), room)


def _others(before: Report, after: Report, found: Sequence[ModuleDifference]) -> Iterator[str]:
    for report, only in (
        (before, [module.module for module in found if module.after is None]),
        (after, [module.module for module in found if module.before is None]),
    ):
        if only:
            yield f"only in {report.start.run}: {first_of(only, NAMED)}"
    same = [module.module for module in found if module.before and module.after and not module.changes]
    if same:
        yield faint(f"the same in both: {first_of(same, NAMED)}")


def as_json(before: Report, after: Report, found: Sequence[ModuleDifference]) -> Json:
    return {
        "version": 1,
        "runs": [report.start.run for report in (before, after)],
        "modules": [
            {
                "module": module.module,
                "in": [report.start.run for report, m in ((before, module.before), (after, module.after)) if m],
                "changes": [_change_json(change) for change in module.changes],
            }
            for module in found
        ],
    }


def _change_json(change: Change) -> Json:
    sides = (("before", change.before), ("after", change.after))
    values = {side: _told_json(told) for side, told in sides if told}
    return {"what": change.what, **({"name": change.name} if change.name else {}), **values}


def _told_json(told: Told) -> Json:
    if told.secret:
        return {"secret": True, **({"reference": told.value} if told.value else {})}
    return {"value": told.value}
