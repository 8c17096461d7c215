"""Fetched sources that nobody has used for long: removed by commands that write."""

from __future__ import annotations

from hybridwrap.cli.compose import Workshop
from hybridwrap.counting import count_of
from hybridwrap.run.context import Context


def sweep_fetched(workshop: Workshop, context: Context) -> None:
    """Remove and say so; what the ledger names as the source of a module stays, it may have to be torn down."""
    if not (workshop.home / "remote").is_dir():
        return
    from hybridwrap.adapters.unused_sources import sweep_unused
    from hybridwrap.domain.declared import module_from

    declared = {name: record.last_declared for name, record in context.knowledge.records.items()}
    kept = [module_from(name, each, workshop.stack).source for name, each in declared.items() if each]
    if gone := sweep_unused(workshop.home, workshop.tools.clock.now().timestamp(), kept):
        count = count_of(len(gone), "fetched source")
        context.watch.note(f"removed {count} that nobody has used for 30 days, from {workshop.home / 'remote'}")
