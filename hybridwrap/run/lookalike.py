"""New modules that may be undeclared ones under another name, by their source.

Keeps: a module that was renamed in the manifest alone is not made a second time without a word.
"""

from __future__ import annotations

from collections.abc import Mapping

from hybridwrap.counting import count_of
from hybridwrap.domain.declared import declared_by
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import Module
from hybridwrap.domain.status import Status
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.context import Context, Tools

ALIVE = frozenset({Status.OK, Status.ERROR, Status.UNKNOWN})


def perhaps_moved(tools: Tools, records: Mapping[str, Record]) -> Mapping[str, str]:
    """By undeclared module that has objects, the declared one of which nothing is known and that has its source."""
    undeclared = _undeclared(tools, records)
    new = [m for m in tools.stack.modules.values() if _is_new(records.get(m.name))] if undeclared else []
    found = ((old.module, _same_source(tools, old, new)) for old in undeclared)
    return {old: name for old, name in found if name}


def told_of_moved(tools: Tools, records: Mapping[str, Record]) -> Mapping[str, str]:
    """Say of each undeclared module that is, or may be, a declared one now which one that is."""
    from hybridwrap.run.rename import moved_to

    state, source = moved_to(tools, records), perhaps_moved(tools, records)
    why = dict.fromkeys(source, "source") | dict.fromkeys(state, "state now")
    new = {**source, **state}
    return {old: f"moved? {new[old]} has its {what}; next: hybridwrap mv {old} {new[old]}" for old, what in why.items()}


def refuse_double(context: Context, name: str) -> None:
    """Stop before a module makes what another name has made already. Raise PreflightRefused."""
    tools, records = context.tools, context.knowledge.records
    if context.options.not_moved or not _is_new(records.get(name)):
        return
    module = tools.stack.modules[name]
    old = next((old for old in _undeclared(tools, records) if _same_source(tools, old, [module])), None)
    if old is None or tools.engines.at(module).state() is not None:
        return
    raise PreflightRefused(
        f"{name} is new and has the source of {old.module}, which the manifest has no more and which has "
        f"{count_of(len(old.objects), 'object')}: if it was renamed, all of it would be made a second time",
        hint=f"hybridwrap mv {old.module} {name}    or, if it is another one: hybridwrap apply {name} --not-moved",
    )


def _is_new(record: Record | None) -> bool:
    return record is None or (record.settled is Status.NONE and record.holder is None)


def _undeclared(tools: Tools, records: Mapping[str, Record]) -> list[Record]:
    found = (
        record
        for name, record in records.items()
        if name not in tools.stack.modules and record.settled in ALIVE and record.objects
    )
    return sorted(found, key=lambda record: record.module)


def _same_source(tools: Tools, old: Record, modules: list[Module]) -> str:
    """The first module with the folder, else with the content, that the old one was applied from."""
    root, digest = tools.stack.root, old.source.digest if old.source else ""
    folder = old.declared.source if old.declared else ""
    same = (m.name for m in modules if folder and declared_by(m, root).source == folder)
    alike = (m.name for m in modules if digest and tools.sources.describe(m).digest == digest)
    return next(same, "") or next(alike, "")
