"""The last lines of a run: what is true now, what is known, what to type next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from hybridwrap.cli.hints import as_typed
from hybridwrap.cli.lines import coloured, duration
from hybridwrap.cli.options import Place
from hybridwrap.domain.drift_checks import LOOKED_AT, NOTHING_THERE
from hybridwrap.domain.outputs import Output, Provenance
from hybridwrap.domain.pending import MAKES_PENDING
from hybridwrap.domain.run import ModuleEnd
from hybridwrap.run.queue import ENDED_WELL

OutputsByModule = Mapping[str, Mapping[str, Output]]
ORDER = (
    "ok",
    "destroyed",
    "retained",
    "unchanged",
    "planned",
    "deferred",
    "error",
    "unknown",
    "unsent",
    "busy",
    "refused",
    "stopped",
)
UNTOUCHED = frozenset({"declined", "pending", "stopped"})  # nothing has to be repaired after these
FINE = ENDED_WELL | {"planned", "deferred", "destroyed", "retained", *LOOKED_AT, NOTHING_THERE}
SHOWN = 6  # names of outputs that fit into a line


def last_lines(
    ends: Mapping[str, ModuleEnd], outputs: OutputsByModule, seconds: float, place: Place, *, command: str = ""
) -> Iterator[str]:
    """Count; after a failure name the outputs that can be used all the same, and the next commands, each once."""
    counts = Counter(end.result for end in ends.values())
    words = [*(word for word in ORDER if word in counts), *sorted(set(counts) - set(ORDER))]
    told = ", ".join(f"{counts[word]} {coloured(word)}" for word in words)
    yield f"{told or 'nothing to do'} in {duration(seconds)}"
    yield from _failed_hooks(ends)
    bad = {end.result for end in ends.values()} - FINE
    if bad:
        yield from _known(ends, outputs)
        hints = dict.fromkeys(as_typed(end.hint, place) for end in ends.values() if end.hint)
        again = as_typed(_again(ends, command, repair=bool(bad - UNTOUCHED)), place)
        first, *others = hints or (again,)
        yield f"next: {first}"
        yield from (f"      {other}" for other in others)


def _failed_hooks(ends: Mapping[str, ModuleEnd]) -> Iterator[str]:
    """Hooks that failed where nothing else did: what is recorded stays as it is."""
    failed = [f"{name}: {run}" for name, end in ends.items() if end.result in FINE for run in end.hooks if run.failed]
    if failed:
        more = f" and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
        yield f"hooks that failed: {'; '.join(failed[:SHOWN])}{more}"


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
        more = f" and {len(names) - SHOWN} more (hybridwrap output)" if len(names) > SHOWN else ""
        yield f"known: {', '.join(names[:SHOWN])}{more}"
