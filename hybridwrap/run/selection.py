"""Which modules of a stack a command is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.families import did_you_mean, instances, several
from hybridwrap.domain.graph import order, reach, reversed_edges
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.status import Status
from hybridwrap.errors import UsageError

StatusOf = Callable[[str], Status]


class Selection(Struct, frozen=True):
    """What the user said; nothing said is the whole stack.

    `folder` is where the command was called: below the manifest's folder, and without names, it selects by place.
    `changed` names a commit, "" the usual one. `only` are the modules that comparisons left over.
    """

    names: tuple[str, ...] = ()
    with_dependencies: bool = False
    with_dependents: bool = False
    exclude: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    statuses: tuple[Status, ...] = ()
    folder: Path | None = None
    changed: str | None = None
    unapplied: bool = False
    only: frozenset[str] | None = None
    families: bool = True  # whether the name of a module with `for_each` stands for all its instances


def select(stack: Stack, selection: Selection, status_of: StatusOf) -> tuple[str, ...]:
    """Name the selected modules in graph order. Raise UsageError for an unknown name or when nothing is left.

    Names or place, then tags and statuses, each narrow the choice; then dependencies and dependents widen it, and
    `exclude` has the last word. A stack without modules gives nothing, which is no error; nor is it one when a
    comparison leaves nothing over: a CI system asks every time, and mostly nothing has changed.
    """
    if selection.families:
        selection = _with_instances(stack, selection)
    refuse_unknown(stack, (*selection.names, *selection.exclude))
    needs = {name: module.needs for name, module in stack.modules.items()}
    fitting = {name for name in _start(stack, selection) if _fits(stack, selection, status_of, name)}
    chosen = fitting if selection.only is None else fitting & selection.only
    widened = set(chosen)
    if selection.with_dependencies:
        widened |= reach(needs, chosen)
    if selection.with_dependents:
        widened |= reach(reversed_edges(needs), chosen)
    widened -= set(selection.exclude)
    if stack.modules and not widened and (selection.only is None or not fitting):
        raise UsageError(f"no module of stack {stack.name} is selected{_why(selection)}", hint="hybridwrap list")
    return tuple(name for name in order(needs) if name in widened)


def _with_instances(stack: Stack, selection: Selection) -> Selection:
    def expanded(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(one for name in names for one in instances(name, stack.modules) or (name,))

    return replace(selection, names=expanded(selection.names), exclude=expanded(selection.exclude))


def _start(stack: Stack, selection: Selection) -> Iterable[str]:
    if selection.names:
        return selection.names
    folder = selection.folder
    if folder is None or folder == stack.root or stack.root not in folder.parents:
        return stack.modules
    return [
        name
        for name, m in stack.modules.items()
        if folder in (m.source, *m.source.parents) or m.source in folder.parents
    ]


def _fits(stack: Stack, selection: Selection, status_of: StatusOf, name: str) -> bool:
    tagged = not selection.tags or bool(set(selection.tags) & set(stack.modules[name].tags))
    return tagged and (not selection.statuses or status_of(name) in selection.statuses)


def refuse_unknown(stack: Stack, names: Iterable[str]) -> None:
    """Raise UsageError for a name that is no module's."""
    for name in names:
        if found := instances(name, stack.modules):
            raise UsageError(several(name, found), hint="hybridwrap list")
        if name not in stack.modules:
            there = did_you_mean(name, stack.modules) or f"; it has: {', '.join(sorted(stack.modules)) or 'none'}"
            raise UsageError(f"stack {stack.name} has no module {name}{there}", hint="hybridwrap list")


def _why(selection: Selection) -> str:
    said = [*selection.names, *(f"tag {tag}" for tag in selection.tags)]
    said += [f"status {status}" for status in selection.statuses] + [f"without {name}" for name in selection.exclude]
    place = f" below {selection.folder}" if selection.folder and not selection.names else ""
    return f"{place} by {', '.join(said)}" if said else place
