"""What a teardown must not touch: told before anything starts, by manifest, source and record."""

from __future__ import annotations

from collections.abc import Sequence

from hybridwrap.domain.teardown import in_the_way, keeps_in_buckets
from hybridwrap.errors import PreflightRefused
from hybridwrap.run.context import Context


def protected_parts(context: Context, name: str) -> tuple[str, ...]:
    """Say what protects a module that is there: its manifest, `prevent_destroy` in its source, or what lies in it."""
    module, record = context.tools.stack.modules.get(name), context.knowledge.record(name)
    if module is None or not in_the_way(record) or module.on_destroy == "retain":
        return ()
    objects = {o.address.partition("[")[0] for o in record.objects}
    there = tuple(address for address in module.interface.protected if address in objects)
    keeps = keeps_in_buckets(record, context.knowledge.records, context.tools.stack.ledger.bucket)
    return (*(["`protected: true` in the manifest"] if module.protected else []), *there, *keeps)


def refuse_protected(context: Context, modules: Sequence[str]) -> None:
    """Raise PreflightRefused with all that is protected in the modules."""
    found = {name: parts for name in modules if (parts := protected_parts(context, name))}
    if found:
        lines = [f"{name} is protected: {', '.join(parts)}" for name, parts in found.items()]
        raise PreflightRefused(
            "\n".join([*lines, "nothing was started"]),
            hint="the same command with --keep-protected, to tear down all that they do not need",
        )
