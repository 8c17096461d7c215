"""Initialise the engine in each module."""

from __future__ import annotations

from collections.abc import Sequence

from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.run.context import Context
from hybridwrap.run.identity import take_identity
from hybridwrap.run.recorded import end_of_run
from hybridwrap.run.walk import forward, walk

ENDED = frozenset({"ok", "unchanged", "error", "refused"})  # one module's init says nothing about another's


def initialise(context: Context, modules: Sequence[str], *, upgrade: bool = False) -> RunEnd:
    """Run init where something that it depends on has changed, or everywhere to upgrade; nothing is recorded."""
    way = forward(context, modules, ENDED)
    return end_of_run(context, walk(context, modules, lambda name: _initialise(context, name, upgrade=upgrade), way))


def _initialise(context: Context, name: str, *, upgrade: bool) -> ModuleEnd:
    tools = context.tools
    module = tools.stack.modules[name]
    engine = tools.engines.at(module)
    take_identity(context, module, engine)
    folder = tools.folders.make(tools.ids.new())
    try:
        began = tools.clock.monotonic()
        context.watch.phase(name, "init")
        ran = engine.init(folder, upgrade=upgrade)
        return ModuleEnd("ok" if ran else "unchanged", seconds=tools.clock.monotonic() - began)
    finally:
        folder.remove()
