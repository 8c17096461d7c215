"""A stack as its ledger remembers it: for those who look at it without a checkout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from hybridwrap.domain.declared import module_from
from hybridwrap.domain.graph import cycle
from hybridwrap.domain.json import Json
from hybridwrap.domain.pending import pending_of
from hybridwrap.domain.record import Record
from hybridwrap.domain.run import Run
from hybridwrap.domain.stack import LedgerSettings, Module, Stack, StateSettings
from hybridwrap.domain.state import StatePlace
from hybridwrap.domain.status import Status


def recalled(records: Mapping[str, Record], runs: Sequence[Run], bare: Stack) -> dict[str, Module]:
    """Build the modules that a ledger knows, or that a run left pending, for a stack without any; `runs` newest first.

    Each is as it was last declared, which may not be as the manifest has it today; edges of modules that never began
    are those of the newest run that selected them.
    """
    pending = pending_of(runs, records)
    names = sorted({*(n for n, record in records.items() if record.status is not Status.NONE), *pending})
    found = {name: _module(records.get(name, Record(name)), runs, bare) for name in names}
    return _without_circles({name: _among(module, found) for name, module in found.items()})


def _module(record: Record, runs: Sequence[Run], bare: Stack) -> Module:
    place = record.state.place if record.state else None
    if record.declared is None:
        module = Module(record.module, bare.root / record.module, depends_on=_edges(record.module, runs))
    else:
        module = module_from(record.module, record.declared, bare)
    if place is None or place.backend != "s3" or module.state.backend == "s3":
        return module
    return replace(module, state=StateSettings("s3", _settings(place, bare.ledger)), workspace=place.workspace)


def _settings(place: StatePlace, ledger: LedgerSettings) -> Mapping[str, Json]:
    """Settings that mean a recorded place: the backend block that says so is not at hand."""
    before, inside, key = place.path.partition(f"/{place.workspace}/")
    named = {"key": key, "workspace_key_prefix": before} if inside and place.workspace != "default" else {}
    return {
        "bucket": place.bucket,
        "key": place.path,
        **named,
        **(_reach(ledger) if ledger.bucket == place.bucket else {}),
    }


def _reach(ledger: LedgerSettings) -> Mapping[str, Json]:
    """How the ledger's bucket is reached, as the engine's backend says it."""
    said = {name: ledger.settings[name] for name in ("region", "profile", "use_path_style") if name in ledger.settings}
    return said | ({"endpoints": {"s3": ledger.settings["endpoint"]}} if ledger.settings.get("endpoint") else {})


def _edges(module: str, runs: Sequence[Run]) -> tuple[str, ...]:
    return next((tuple(run.start.edges[module]) for run in runs if module in run.start.edges), ())


def _among(module: Module, found: Mapping[str, Module]) -> Module:
    owner = module.owner if module.owner in found else ""
    return replace(module, depends_on=tuple(n for n in module.depends_on if n in found), owner=owner)


def _without_circles(found: dict[str, Module]) -> dict[str, Module]:
    """Edges of different times can make a circle: then those within it say nothing."""
    while circle := cycle({name: module.needs for name, module in found.items()}):
        found |= dict(_freed(found, circle))
    return found


def _freed(found: Mapping[str, Module], circle: Sequence[str]) -> Iterator[tuple[str, Module]]:
    for name in circle:
        module = found[name]
        yield name, replace(module, depends_on=tuple(n for n in module.depends_on if n not in circle), owner="")
