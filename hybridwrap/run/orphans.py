"""Modules that the ledger knows and the manifest does not declare any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.declared import module_from
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.families import did_you_mean
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import Stack
from hybridwrap.domain.status import Status
from hybridwrap.errors import PreflightRefused, UsageError

LIST = "hybridwrap orphans"
AT_REST = frozenset({Status.NONE, Status.DESTROYED})


class Orphan(Struct, frozen=True):
    module: str
    status: Status
    since: str
    by: str
    objects: tuple[CloudObject, ...]
    state: str  # its place
    source: str  # where its source can come from, "" when nothing leads to it any more
    needs: tuple[str, ...]


def orphans_of(stack: Stack, records: Mapping[str, Record]) -> tuple[Orphan, ...]:
    """Find them, in alphabetical order; what is confirmed absent is none."""
    return tuple(
        _orphan(stack, record)
        for name, record in sorted(records.items())
        if name not in stack.modules and (record.holder or record.settled not in AT_REST)
    )


def with_orphans(stack: Stack, records: Mapping[str, Record], names: Iterable[str]) -> Stack:
    """Declare orphans again, as they were recorded last.

    Raise UsageError for a name that is none, PreflightRefused for one whose record does not say enough.
    """
    known = {orphan.module for orphan in orphans_of(stack, records)}
    modules = dict(stack.modules)
    names = tuple(names)
    for name in names:
        if name not in records:
            near = did_you_mean(name, {*records, *modules})
            raise UsageError(
                f"neither stack {stack.name} nor its ledger has a module {name}{near}", hint="hybridwrap list"
            )
        if name not in known:
            raise UsageError(f"{name} is no orphan; there are: {', '.join(sorted(known)) or 'none'}", hint=LIST)
        declared = records[name].last_declared
        if declared is None:
            raise PreflightRefused(
                f"{name} was never applied by hybridwrap: the ledger does not know its source",
                hint=f"declare {name} in the manifest again",
            )
        modules[name] = module_from(name, declared, stack)
    return replace(stack, modules=modules, orphans=frozenset(names))


def _orphan(stack: Stack, record: Record) -> Orphan:
    declared = record.last_declared
    return Orphan(
        module=record.module,
        status=record.status,
        since=record.since,
        by=record.by,
        objects=record.objects,
        state=str(record.state.place) if record.state else "",
        source=_source(stack, record),
        needs=declared.needs if declared else (),
    )


def _source(stack: Stack, record: Record) -> str:
    declared = record.last_declared
    if declared and (stack.root / declared.source).is_dir():
        return declared.source
    if record.source and record.source.git:
        return f"commit {record.source.git}"
    return "the copy in the ledger" if record.source and record.source.blob else ""
