"""Where each module stands: a projection of records and runs, for people and machines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.counting import count_of
from hybridwrap.domain.damage import Damage
from hybridwrap.domain.drift import Drift
from hybridwrap.domain.engine_run import Diagnostic, telling
from hybridwrap.domain.entry import CloudObject
from hybridwrap.domain.graph import order
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import PendingModule
from hybridwrap.domain.stack import Module, Stack
from hybridwrap.domain.status import Status
from hybridwrap.domain.unapplied import Unapplied


class Standing(Struct, frozen=True):
    """One module; `was` is the stored status of a pending one."""

    module: str
    status: Status
    was: Status | None = None
    reason: str = ""
    waits_for: str = ""  # of a pending one: a module, or an output of it
    since: str = ""
    by: str = ""
    run: str = ""
    operation: str = ""
    phase: str = ""
    depends_on: tuple[str, ...] = ()
    owner: str = ""
    outputs: Mapping[str, Output] = {}
    known: tuple[CloudObject, ...] = ()
    open: tuple[CloudObject, ...] = ()
    failed_command: tuple[str, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    log: str = ""
    warnings: tuple[str, ...] = ()
    source: str = ""  # the module's folder, as seen from the manifest's; empty when it is not known
    drift: Drift | None = None
    unapplied: Unapplied | None = None
    damage: Damage | None = None  # why no more is known of it


def standings(
    stack: Stack,
    records: Mapping[str, Record],
    pending: Mapping[str, PendingModule],
    modules: Sequence[str] | None = None,
    *,
    here: Mapping[str, str] = MappingProxyType({}),
    moved: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Standing, ...]:
    """Declared modules in graph order, then those that only the ledger knows; all of them when none are named.

    `here` is what this host knows besides the ledger, by module. `moved` says of undeclared modules which
    declared ones they are now, or may be.
    """
    declared = order({name: module.needs for name, module in stack.modules.items()})
    undeclared = sorted(n for n in set(records) - set(declared) if records[n].status is not Status.NONE)
    found = (
        _standing(name, stack, records.get(name, Record(name)), pending.get(name))
        for name in (*declared, *undeclared)
        if modules is None or name in modules
    )
    told = (replace(each, reason=moved[each.module]) if each.module in moved else each for each in found)
    return tuple(_with_remark(standing, here.get(standing.module, "")) for standing in told)


def _with_remark(standing: Standing, remark: str) -> Standing:
    return replace(standing, reason="; ".join(part for part in (standing.reason, remark) if part))


def _standing(name: str, stack: Stack, record: Record, pending: PendingModule | None) -> Standing:
    module = stack.modules.get(name)
    waits = pending if record.status is not Status.RUNNING else None
    return Standing(
        module=name,
        status=Status.PENDING if waits else record.status,
        was=record.status if waits else None,
        reason=waits.reason if waits else _reason(record, declared=module is not None),
        waits_for=waits.waits_for if waits else "",
        since=record.since,
        by=record.by,
        run=record.run,
        operation=record.operation,
        phase=record.holder.command if record.holder else "",
        depends_on=module.needs if module else (),
        owner=module.owner if module else "",
        outputs=record.outputs,
        known=tuple(o for o in record.objects if not o.open),
        open=tuple(o for o in record.objects if o.open),
        failed_command=record.failed_command,
        errors=record.errors,
        log=record.log,
        warnings=(*record.warnings, *_lock_left(record)),
        source=_source(stack, module, record),
        drift=record.drift,
        damage=record.damage,
    )


def _lock_left(record: Record) -> Iterator[str]:
    """Name the engine's lock that a dead operation left, where something has to be done about the module anyway."""
    if record.state_lock and record.status in (Status.ERROR, Status.UNKNOWN):
        yield f"its state lock {record.state_lock} was left behind; the next apply or repair releases it if it is there"


def _source(stack: Stack, module: Module | None, record: Record) -> str:
    if module is None:
        return record.declared.source if record.declared else ""
    return os.path.relpath(module.source, stack.root)


def _reason(record: Record, *, declared: bool) -> str:
    if record.status is Status.RUNNING and record.holder:
        return f"{record.holder.command} by {record.holder.writer.user} on {record.holder.writer.host}"
    if record.damage:
        return record.reason
    errors = telling(record.errors)
    if errors and record.command != "destroy":  # what a teardown left says more
        return summary_of(errors)
    if not declared and record.status not in (Status.DESTROYED, Status.NONE):
        return f"orphan: not in the manifest, {count_of(len(record.objects), 'object')}"
    return record.reason if record.status in (Status.ERROR, Status.UNKNOWN, Status.RETAINED) else ""


def summary_of(errors: Sequence[Diagnostic]) -> str:
    """The first error with its address, and how many more there are."""
    first = errors[0]
    text = f"{first.address}: {first.summary}" if first.address else first.summary
    return f"{text} (and {len(errors) - 1} more)" if len(errors) > 1 else text
