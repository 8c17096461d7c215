"""Finish all that killed runs left on this host, and wait for their engines."""

from __future__ import annotations

from collections.abc import Mapping

from hybridwrap.domain.left_behind import Liveness
from hybridwrap.run.context import Context
from hybridwrap.run.here import known_here
from hybridwrap.run.left_behind import finish_left_behind
from hybridwrap.run.turn import wait_for_turn


def sync(context: Context) -> Mapping[str, str]:
    """Return what is still left on this host, by module, and why."""
    finish_left_behind(context)
    for name, record in context.knowledge.records.items():
        orphaned = record.holder and context.tools.folders.look(record.holder.locks) is Liveness.ENGINE
        if orphaned and context.options.patience.for_engine:
            wait_for_turn(context, name)
    return known_here(context.tools, context.knowledge.records)
