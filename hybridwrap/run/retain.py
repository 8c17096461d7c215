"""Leave modules alive for good: nobody destroys them any more, until they are adopted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridwrap.domain.absence import name_objects
from hybridwrap.domain.entry import Retain
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.domain.status import Status
from hybridwrap.domain.teardown import in_the_way
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.context import Context
from hybridwrap.run.recorded import recorded_run
from hybridwrap.run.turn import wait_for_turn
from hybridwrap.run.walk import Way, walk


def retain(context: Context, modules: Sequence[str], reason: str) -> RunEnd:
    """Retain modules, each with all its objects. Nothing real is touched."""

    def work() -> Mapping[str, ModuleEnd]:
        return walk(context, modules, lambda name: _retain(context, name, reason), Way({}))

    return recorded_run(context, "retain", modules, work)


def _retain(context: Context, name: str, reason: str) -> ModuleEnd:
    record = wait_for_turn(context, name)
    if record.settled is Status.RETAINED:
        return ModuleEnd("unchanged", reason=f"retained already: {record.reason}")
    if not in_the_way(record):
        raise PreflightRefused(f"{name} is {record.settled}: there is nothing to retain")
    record = context.tools.ledger.retain(record, Retain(context.run, reason))
    context.knowledge.learn(record)
    kept = name_objects(record.objects)
    return ModuleEnd("retained", reason=f"{reason}; kept: {kept}" if kept else reason)
