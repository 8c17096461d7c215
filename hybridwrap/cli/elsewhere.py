"""The state of a module of another stack, read as that stack's own manifest says, for a secret that it holds."""

from __future__ import annotations

from collections.abc import Mapping

from hybridwrap.adapters.home import HOME_VARIABLE, home_of
from hybridwrap.adapters.manifest import read_stack
from hybridwrap.domain.stack import OtherStack
from hybridwrap.domain.state import EngineState
from hybridwrap.errors import HybridwrapError


def state_elsewhere(other: OtherStack, module: str, environ: Mapping[str, str]) -> EngineState:
    """Read it. Raise LookupError with the reason where that can't be done."""
    told = f"{module} of stack {other.name} has a secret output"
    if other.manifest is None:
        raise LookupError(f"{told}, which is read from its state: declare the stack by its manifest")
    try:
        state = _read(other, module, environ)
    except (HybridwrapError, KeyError) as error:
        why = error.message if isinstance(error, HybridwrapError) else "its manifest has no such module"
        raise LookupError(f"{told}, and its state can't be read: {why}") from error
    if state is None:
        raise LookupError(f"{told}, and there is no state of it")
    return state


def _read(other: OtherStack, module: str, environ: Mapping[str, str]) -> EngineState | None:
    from hybridwrap.adapters.clock import SystemClock
    from hybridwrap.adapters.engine.engines import StackEngines

    if other.manifest is None:
        raise AssertionError("a stack without a manifest")
    theirs = {name: value for name, value in environ.items() if name != HOME_VARIABLE}
    stack, _ = read_stack(other.manifest, environment=other.environment, environ=theirs)
    engines = StackEngines(stack, home_of(stack.root, theirs), SystemClock(), theirs, parallelism=1)
    return engines.at(stack.modules[module]).state()
