"""What is secret of a run's modules and of those that they need, looked up before any of them runs.

What can't be read is not known: it is said in the module's turn. Nothing is started for it: no engine, no command.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from hybridwrap.domain.inputs import own_secrets, secret_defaults
from hybridwrap.domain.json import Json
from hybridwrap.domain.outputs import Output
from hybridwrap.domain.redaction import Redaction
from hybridwrap.domain.stack import Module, Stack
from hybridwrap.domain.state import EngineState
from hybridwrap.errors import EngineNotUsable, InvalidManifest, LedgerUnreachable, OutcomeUnknown, PreflightRefused
from hybridwrap.run.context import Tools
from hybridwrap.run.knowledge import Knowledge

READ_DIRECTLY = frozenset({"local", "s3"})  # the backends whose states need no engine to be read
READ_AT_ONCE = 4


class KnownSecrets:
    """All that is known to be secret before a run; from now on the run hides it."""

    def __init__(self, tools: Tools, knowledge: Knowledge, names: Iterable[str]) -> None:
        self._host = tools.host
        self._modules = _with_needs(tools.stack, names)
        _hide_outputs(tools, knowledge, self._modules)
        self._values = knowledge.secret_values

    def mask(self, stack: Stack) -> Redaction:
        """With what the modules' own inputs in this stack have of secrets: each may stand in any other's."""
        modules = [stack.modules[name] for name in self._modules]
        own = (value for module in modules for value in own_secrets(module, self._host).values())
        defaults = (value for module in modules for value in secret_defaults(module, self._host))
        return Redaction((*self._values, *own, *defaults))


def _with_needs(stack: Stack, names: Iterable[str]) -> tuple[str, ...]:
    """Name modules, as far as they are declared, and those that they need."""
    there = (name for name in names if name in stack.modules)
    return tuple(dict.fromkeys(each for name in there for each in (name, *stack.modules[name].needs)))


def _hide_outputs(tools: Tools, knowledge: Knowledge, names: Sequence[str]) -> None:
    """Hide from now on the sensitive outputs of modules, and those of other stacks that they use."""
    modules = [tools.stack.modules[name] for name in names]
    sensitive = [m for m in modules if any(o.sensitive for o in knowledge.record(m.name).outputs.values())]
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        states = list(pool.map(lambda module: _state(tools, module), sensitive))
    for module, state in zip(sensitive, states, strict=True):
        knowledge.hide(knowledge.sensitive_outputs(module.name, state).values())
    knowledge.hide(value for module in modules for value in _of_other_stacks(tools, module))


def _state(tools: Tools, module: Module) -> EngineState | None:
    try:
        engine = tools.engines.at(module)
        return engine.state() if engine.place.backend in READ_DIRECTLY else None
    except (PreflightRefused, EngineNotUsable, InvalidManifest, OutcomeUnknown):
        return None


def _of_other_stacks(tools: Tools, module: Module) -> Iterator[Json]:
    for reference in (each for each in module.references if each.stack):
        with suppress(LedgerUnreachable, LookupError):
            found = tools.others.output(reference)
            if isinstance(found, Output) and found.sensitive:
                yield tools.others.secret(reference)
