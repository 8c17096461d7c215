"""Where the source of a module that is torn down comes from: its folder, its commit, or the copy in the ledger."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from hybridwrap.domain.declared import module_from
from hybridwrap.domain.entry import Source
from hybridwrap.domain.record import Record
from hybridwrap.domain.stack import Module
from hybridwrap.errors import HybridwrapError, PreflightRefused
from hybridwrap.run.context import Context


def with_source(context: Context, name: str, record: Record) -> Module:
    """Return a module with a folder that the engine can work in. Raise PreflightRefused."""
    module = _declared(context, name, record)
    source, wanted = module.source, _shown(context, module.source)
    if not source.is_dir():
        source, origin = _got_back(context, module, record)
        context.watch.warning(name, f"its folder {wanted} is gone; its source comes from {origin}")
    missing = tuple(file for file in module.var_files if not file.is_file())
    if missing:
        names = ", ".join(_shown(context, file) for file in missing)
        context.watch.warning(name, f"without {names}: gone, and what stood in there is in the ledger")
    return replace(
        module,
        source=source,
        interface=context.tools.sources.interface(source, module.engine),
        var_files=tuple(file for file in module.var_files if file not in missing),
    )


def _declared(context: Context, name: str, record: Record) -> Module:
    """The module as the manifest has it, else as it was recorded."""
    stack = context.tools.stack
    if name in stack.modules:
        return stack.modules[name]
    if record.declared is None:
        raise PreflightRefused(f"{name} is not in the manifest, and its declaration is not in the ledger")
    return module_from(name, record.declared, stack)


def _got_back(context: Context, module: Module, record: Record) -> tuple[Path, str]:
    sources, source = context.tools.sources, record.source or Source("")
    why_not: list[str] = []
    if source.git:
        try:
            return sources.check_out(module.source, source.git), f"commit {source.git}"
        except PreflightRefused as error:
            why_not.append(error.message)
    if source.blob:
        try:
            return sources.unpack(context.tools.ledger.get_blob(source.blob), module.source), "the copy in the ledger"
        except HybridwrapError as error:
            why_not.append(error.message)
    raise PreflightRefused(
        f"{module.name} can't be torn down: its folder {_shown(context, module.source)} is gone, and "
        f"{'; '.join(why_not) or 'neither a commit nor a copy of it is in the ledger'}. {_known(record)}",
        hint="put the folder back, then the same command again",
    )


def _known(record: Record) -> str:
    place = record.state.place if record.state else "an unknown place"
    return f"{len(record.objects)} objects are known; its state is at {place}"


def _shown(context: Context, path: Path) -> str:
    return os.path.relpath(path, context.tools.stack.root)
