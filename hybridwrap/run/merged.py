"""Which modules of a stack are not as they were last applied: what a CI run that was dropped or failed left over."""

from __future__ import annotations

from collections.abc import Mapping

from hybridwrap.domain.record import Record
from hybridwrap.domain.run import PendingModule
from hybridwrap.domain.unapplied import Unapplied, unapplied
from hybridwrap.run.context import Tools


def unapplied_modules(
    tools: Tools, records: Mapping[str, Record], pending: Mapping[str, PendingModule]
) -> dict[str, tuple[str, ...]]:
    """Say of each such module why it is one; no engine is started."""
    outputs = {name: record.outputs for name, record in records.items()}
    found: dict[str, tuple[str, ...]] = {}
    for name, module in tools.stack.modules.items():
        if not module.source.is_dir():
            continue
        record = records.get(name, Record(name))
        why = unapplied(module, record, tools.sources.fingerprint(module), tools.host, outputs)
        if name in pending:
            why = (f"pending since run {pending[name].run}", *why)
        if why:
            found[name] = why
    return found


def told_of_unapplied(tools: Tools, records: Mapping[str, Record]) -> dict[str, Unapplied]:
    """The same for people who look where things stand: also whether what differs is merged."""
    found = unapplied_modules(tools, records, {})
    return {name: Unapplied(why, merged=tools.sources.merged(tools.stack.modules[name])) for name, why in found.items()}
