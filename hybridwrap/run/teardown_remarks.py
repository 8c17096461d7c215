"""What readers say besides the stored status: which teardown did not get to a module, and what went with an owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hybridwrap.domain.pending import TEARS_DOWN
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import Run
from hybridwrap.domain.teardown import in_the_way
from hybridwrap.run.owners import gone_with_owner


def teardown_remarks(runs: Sequence[Run], records: Mapping[str, Record]) -> Mapping[str, str]:
    """By module; `runs` newest first."""
    gone = {
        name: f"gone with its owner {owner}; the next writing command records that"
        for name, owner in gone_with_owner(records).items()
    }
    return {**_not_reached(runs, records), **gone}


def _not_reached(runs: Sequence[Run], records: Mapping[str, Record]) -> Mapping[str, str]:
    """Why the newest run that selected a module left it as it is, where that was a teardown."""
    newest: dict[str, Run] = {}
    for run in runs:
        for name in run.start.modules:
            newest.setdefault(name, run)
    kept = {
        name: end
        for name, run in newest.items()
        if run.start.command == TEARS_DOWN
        if (end := run.ends.get(name)) and end.result == "kept"
    }
    return {name: end.reason for name, end in kept.items() if _still(name, records) and _still(end.waits_for, records)}


def _still(name: str, records: Mapping[str, Record]) -> bool:
    """Whether a module is still there; "" stands for one that no other was waited for."""
    return not name or (name in records and in_the_way(records[name]))
