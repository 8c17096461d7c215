"""Finish all that killed runs left on this host, and wait for their engines."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from hybridwrap.domain.left_behind import Liveness
from hybridwrap.run.context import Context
from hybridwrap.run.here import known_here
from hybridwrap.run.left_behind import finish_left_behind
from hybridwrap.run.turn import wait_for_turn


class Synced(Struct, frozen=True):
    """What is still left on this host, by module, and why; the operations whose plans and inputs were removed."""

    left: Mapping[str, str] = {}
    removed: tuple[str, ...] = ()


def sync(context: Context) -> Synced:
    removed = finish_left_behind(context)
    for name, record in context.knowledge.records.items():
        orphaned = record.holder and context.tools.folders.look(record.holder.locks) is Liveness.ENGINE
        if orphaned and context.options.patience.for_engine:
            wait_for_turn(context, name)
    return Synced(known_here(context.tools, context.knowledge.records), removed)
