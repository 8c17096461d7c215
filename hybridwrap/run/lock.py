"""Bring the dependency lock files of modules up to all platforms, one folder after the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hybridwrap.domain.lock_files import LockWish
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.run.context import Context
from hybridwrap.run.initialise import ENDED
from hybridwrap.run.recorded import end_of_run
from hybridwrap.run.walk import forward, walk


def lock(context: Context, modules: Sequence[str], wish: LockWish) -> RunEnd:
    """Lock the providers of each folder once; nothing is recorded, and one that fails keeps no other from it."""
    first: dict[Path, str] = {}
    for name in modules:
        first.setdefault(context.tools.stack.modules[name].source, name)

    def work(name: str) -> ModuleEnd:
        other = first[context.tools.stack.modules[name].source]
        return _lock(context, name, wish) if other == name else ModuleEnd("unchanged", reason=f"shares that of {other}")

    return end_of_run(context, walk(context, modules, work, forward(context, modules, ENDED)))


def _lock(context: Context, name: str, wish: LockWish) -> ModuleEnd:
    tools = context.tools
    began = tools.clock.monotonic()
    context.watch.phase(name, "lock")
    changed = tools.engines.at(tools.stack.modules[name]).lock(wish)
    return ModuleEnd("ok" if changed else "unchanged", seconds=tools.clock.monotonic() - began)
