"""What the ends of a run rest on, as its entries in the ledger say."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hybridwrap.domain.entry import End, Entry, Late, Observe
from hybridwrap.domain.run import Run
from hybridwrap.run.share import share_of

LOOKED = frozenset({"destroyed", "retained", "error"})  # results that somebody may have looked for


def evidence_of(run: Run, history: Callable[[str], tuple[Entry, ...]]) -> Mapping[str, tuple[str, ...]]:
    """By module, in the run's own order; modules without any are left out."""
    ends = run.end.modules if run.end else {}
    names = [name for name in run.start.modules if name in ends and ends[name].result in LOOKED]
    found = {name: _last(share_of(run.start.run, name, history(name)).entries) for name in names}
    return {name: told for name, told in found.items() if told}


def _last(entries: tuple[Entry, ...]) -> tuple[str, ...]:
    bodies = [entry.body.end if isinstance(entry.body, Late) else entry.body for entry in entries]
    return next((b.evidence for b in reversed(bodies) if isinstance(b, End | Observe) and b.evidence), ())
