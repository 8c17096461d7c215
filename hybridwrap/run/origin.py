"""What an intent says of where a module comes from: its source, its declaration, the life of its owner.

Keeps: as long as objects may be there, the record leads to the source that they were made from.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from hybridwrap.domain.declared import Declared, declared_by
from hybridwrap.domain.entry import Source
from hybridwrap.domain.stack import Module
from hybridwrap.domain.teardown import OUT_OF_THE_WAY
from hybridwrap.run.context import Context
from hybridwrap.run.preparation import Prepared


class Origin(Struct, frozen=True):
    source: Source
    declared: Declared
    owner_incarnation: str


def origin_of(context: Context, prepared: Prepared) -> Origin:
    """Describe it for `begin`; what is torn down comes from where it was applied. Raise LedgerUnreachable."""
    record = prepared.record
    if context.options.plan.destroy and record.declared and record.source:
        return Origin(record.source, record.declared, record.owner_incarnation)
    return Origin(
        source=_kept(context, prepared),
        declared=declared_by(prepared.module, context.tools.stack.root),
        owner_incarnation=_life_of_owner(context, prepared.module),
    )


def _kept(context: Context, prepared: Prepared) -> Source:
    """Keep a copy of a source that no commit leads back to."""
    source, before = prepared.source, prepared.record.source
    if source.git or not context.tools.stack.ledger.keep_source:
        return source
    if before and before.digest == source.digest and before.blob:
        return replace(source, blob=before.blob)
    copy = context.tools.sources.pack(prepared.module.source)
    return source if copy is None else replace(source, blob=context.tools.ledger.put_blob(copy))


def _life_of_owner(context: Context, module: Module) -> str:
    """The incarnation of the owner that the module is going to live with; an owner that is not there yet has none."""
    owner = context.knowledge.record(module.owner) if module.owner else None
    return owner.incarnation if owner and owner.settled not in OUT_OF_THE_WAY else ""
