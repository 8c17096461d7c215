"""The last lines of a run: what is true now, what is known, what to type next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import coloured, duration, in_order
from hybridwrap.cli.options import Place
from hybridwrap.counting import first_of
from hybridwrap.domain.drift_checks import LOOKED_AT, NOTHING_THERE
from hybridwrap.domain.hooks import AFTER, HookRun
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.pending import MAKES_PENDING
from hybridwrap.domain.run import ModuleEnd, RunEnd
from hybridwrap.run.queue import ENDED_WELL

OutputsByModule = Mapping[str, Mapping[str, Output]]
UNTOUCHED = frozenset({"declined", "pending", "stopped"})  # nothing has to be repaired after these
FINE = ENDED_WELL | {"planned", "deferred", "destroyed", "retained", *LOOKED_AT, NOTHING_THERE}
SHOWN = 6  # names of outputs that fit into a line


def last_lines(
    end: RunEnd, outputs: OutputsByModule, seconds: float, place: Place, *, command: str = ""
) -> Iterator[str]:
    """Count; after a failure name the outputs that can be used all the same, and the next commands, each once."""
    ends = end.modules
    counts = Counter(end.result for end in ends.values())
    told = ", ".join(f"{counts[word]} {coloured(word)}" for word in in_order(counts))
    yield f"{told or 'nothing to do'} in {duration(seconds)}"
    hooks = tuple(_failed_hooks(end))
    if hooks:
        yield f"hooks that failed: {first_of([f'{whose}: {run}' for whose, run in hooks], SHOWN, '; ')}"
    bad = {end.result for end in ends.values()} - FINE
    if bad:
        yield from _known(ends, outputs)
        hints = dict.fromkeys(as_typed(end.hint, place) for end in ends.values() if end.hint)
        again = as_typed(_again(ends, command, repair=bool(bad - UNTOUCHED)), place)
        yield from _next(tuple(hints) or (again,))
    elif hooks:
        yield from _next(tuple(dict.fromkeys(_by_hand(run) for _, run in hooks[:SHOWN])))


def _next(commands: Sequence[str]) -> Iterator[str]:
    for label, command in zip(("next:", *[""] * len(commands)), commands, strict=False):
        yield f"{label:5} {command}"


def _failed_hooks(end: RunEnd) -> Iterator[tuple[str, HookRun]]:
    """Hooks that failed where nothing else did: what is recorded stays as it is."""
    for name, module_end in end.modules.items():
        if module_end.result in FINE:
            yield from ((name, run) for run in module_end.hooks if run.failed)
    yield from (("the run", run) for run in end.hooks if run.failed and run.when == AFTER)


def _by_hand(run: HookRun) -> str:
    """Nobody else calls it again: there is nothing to be done to the modules."""
    return f"once repaired, by hand: {shlex.join(run.argv)}    no module has to run again"


def _again(ends: Mapping[str, ModuleEnd], command: str, *, repair: bool) -> str:
    if command not in MAKES_PENDING:
        return f"{'once repaired, ' * repair}the same command again"
    waiting = next((name for name, end in ends.items() if end.waits_for), "")
    look = f"hybridwrap why {waiting}    {'or, ' if repair else 'or: '}" if waiting else ""
    return f"{look}{'once repaired: ' * repair}hybridwrap resume"


def _known(ends: Mapping[str, ModuleEnd], outputs: OutputsByModule) -> Iterator[str]:
    names = [
        f"{module}.{name}"
        for module in ends
        for name, output in outputs.get(module, {}).items()
        if output.provenance is Provenance.KNOWN
    ]
    if names:
        yield f"known: {first_of(names, SHOWN)}{' (hybridwrap output)' * (len(names) > SHOWN)}"
